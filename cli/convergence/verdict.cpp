#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/cli/convergence/fit.hpp>
#include <perp/cli/convergence/verdict.hpp>

namespace perp::cli {
namespace {

constexpr std::size_t most_named = 6;  // step lengths in one sentence
constexpr double most_off = 1.5;       // factor by which an error may miss the fitted line

/// The rows whose error of a kind is refused for one reason.
struct Group {
  std::vector<const Row*> rows;
  std::size_t kind = 0;

  [[nodiscard]] const Measured& error(std::size_t k) const { return rows[k]->errors[kind]; }

  /// "h = 0.1, 0.05"
  [[nodiscard]] std::string steps() const {
    if (rows.size() > most_named)
      return fmt::format("{} rows from h = {:.6g} to {:.6g}", rows.size(), rows.front()->run.h,
                         rows.back()->run.h);
    std::string text;
    for (const Row* row : rows)
      text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", row->run.h);
    return "h = " + text;
  }
};

Group group_of(const VariantStudy& variant, std::size_t kind, Refusal refusal) {
  Group group{{}, kind};
  for (const Row& row : variant.rows)
    if (row.errors[kind].refusal == refusal) group.rows.push_back(&row);
  return group;
}

/// Of runs that end at t_N ≠ T. What the solution does from T to t_N is a part of the error at T;
/// its size over |t_N - T| shows it.
std::string end_time_sentence(const Group& group, ErrorKind kind, double end) {
  if (kind != ErrorKind::end)
    return fmt::format("{} end at t_N, not at T, and count for no order", group.steps());
  double low = inf;
  double high = 0;
  for (std::size_t k = 0; k < group.rows.size(); ++k) {
    const double share = group.error(k).value / std::abs(group.rows[k]->run.t - end);
    low = std::min(low, share);
    high = std::max(high, share);
  }
  return fmt::format(
      "{} end at t_N, not at T: the error holds what the solution does from T to t_N (it is "
      "{:.3g}{} times |t_N - T|) and counts for no order",
      group.steps(), low,
      high > low * (1 + 1e-6) ? fmt::format(" to {:.3g}", high) : std::string());
}

std::string reference_sentence(const Group& group, double own) {
  if (std::isnan(own))
    return fmt::format(
        "{}: the reference's own error cannot be told, so the errors count for no order",
        group.steps());
  return fmt::format(
      "{}: less than {:g} times the reference's own error of about {:.1e}, so they count for no "
      "order",
      group.steps(), reference_margin, own);
}

std::string sentence(const Group& group, Refusal refusal, ErrorKind kind, double own, double end) {
  switch (refusal) {
    case Refusal::end_time: return end_time_sentence(group, kind, end);
    case Refusal::rounding:
      return group.steps() + ": at rounding level, so they count for no order";
    case Refusal::reference: return reference_sentence(group, own);
    case Refusal::events:
      return fmt::format(
          "{}: the events are not those of the reference ({}{}), so their times are "
          "not compared",
          group.steps(),
          group.rows.size() > 1 ? fmt::format("h = {:.6g}: ", group.rows[0]->run.h) : std::string(),
          group.error(0).detail);
    case Refusal::jumps:
      return fmt::format(
          "{}: the run and the reference do not jump equally often ({}{}), so states "
          "are not compared",
          group.steps(),
          group.rows.size() > 1 ? fmt::format("h = {:.6g}: ", group.rows[0]->run.h) : std::string(),
          group.error(0).detail);
    case Refusal::times:
      return fmt::format(
          "{}: between start and T the reference has a state {}, so there is "
          "nothing to compare",
          group.steps(), group.error(0).detail);
    case Refusal::none:
    case Refusal::not_solved: break;  // the table says so
  }
  return {};
}

/// Is every error of the runs that were solved at rounding level?
bool is_exact(const VariantStudy& variant, std::size_t kind) {
  const std::size_t solved =
      variant.rows.size() - group_of(variant, kind, Refusal::not_solved).rows.size();
  return solved > 0 && group_of(variant, kind, Refusal::rounding).rows.size() == solved;
}

std::string order_line(const VariantStudy& variant, std::size_t kind, ErrorKind what,
                       const std::string& which) {
  const Fit line = fit(points_that_count(variant, kind));
  const std::string of = which.empty() ? "" : fmt::format(" ({})", which);
  if (line.has_order()) {
    std::string text =
        fmt::format("fitted order {:.3f} over {} rows{}\n", line.order, line.rows, of);
    if (line.order <= 0)
      text += "  the errors do not fall with h\n";
    else if (line.off > most_off)
      text += fmt::format(
          "  errors are up to {:.3g} times off that line: these rows follow no single order\n",
          line.off);
    return text;
  }
  if (is_exact(variant, kind))
    return fmt::format("no order{}: exact{}, every error is at rounding level\n", of,
                       what == ErrorKind::events ? "" : " at the grid points");
  if (line.rows >= 2)
    return fmt::format(
        "no order{}: the step lengths of {} errors that count are less than a "
        "factor of {:g} apart\n",
        of, line.rows, least_ratio);
  return fmt::format("no order{}: {} of {} errors can be compared\n", of, line.rows,
                     variant.rows.size());
}

}  // namespace

std::string verdict(const Study& study, const VariantStudy& variant, std::size_t kind,
                    const std::string& which) {
  std::string text = order_line(variant, kind, study.errors[kind], which);
  const double own = variant.reference.own_errors[static_cast<std::size_t>(study.errors[kind])];
  for (const Refusal refusal : {Refusal::end_time, Refusal::rounding, Refusal::reference,
                                Refusal::events, Refusal::jumps, Refusal::times}) {
    const Group group = group_of(variant, kind, refusal);
    if (group.rows.empty() || (refusal == Refusal::rounding && is_exact(variant, kind))) continue;
    text += "  " + sentence(group, refusal, study.errors[kind], own, study.span.end) + "\n";
  }
  int left_out = 0;
  for (const Row& row : variant.rows) left_out += row.errors[kind].left_out;
  if (left_out > 0)
    text += fmt::format("  {} between a jump of a run and that of the reference {} not compared\n",
                        left_out == 1 ? "1 state" : fmt::format("{} states", left_out),
                        left_out == 1 ? "is" : "are");
  return text;
}

}  // namespace perp::cli
