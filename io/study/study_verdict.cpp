#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/analysis/convergence/verdict.hpp>
#include <perp/io/study/study_verdict.hpp>

namespace perp::io {
namespace {

constexpr std::size_t most_named = 6;  // step lengths in one sentence

/// The rows that are refused for one reason, in words.
struct Group {
  const std::vector<const StudyRow*>& rows;
  std::size_t kind = 0;

  [[nodiscard]] const Measured& error(std::size_t k) const { return rows[k]->errors[kind]; }

  /// "h = 0.1, 0.05"
  [[nodiscard]] std::string steps() const {
    if (rows.size() > most_named)
      return fmt::format("{} rows from h = {:.6g} to {:.6g}", rows.size(), rows.front()->run.h,
                         rows.back()->run.h);
    std::string text;
    for (const StudyRow* row : rows)
      text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", row->run.h);
    return "h = " + text;
  }
};

/// Of runs that end at t_N ≠ T. What the solution does from T to t_N is a part of the error at T;
/// its size over |t_N - T| shows it.
std::string end_time_sentence(const Group& group, const RefusedRows& refused, ErrorKind kind) {
  if (kind != ErrorKind::end)
    return fmt::format("{} end at t_N, not at T, and count for no order", group.steps());
  return fmt::format(
      "{} end at t_N, not at T: the error holds what the solution does from T to t_N (it is "
      "{:.3g}{} times |t_N - T|) and counts for no order",
      group.steps(), refused.low,
      refused.high > refused.low * (1 + 1e-6) ? fmt::format(" to {:.3g}", refused.high)
                                              : std::string());
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

/// "h = 0.1: " before what is said of the first of several rows.
std::string first_of(const Group& group) {
  return group.rows.size() > 1 ? fmt::format("h = {:.6g}: ", group.rows[0]->run.h) : std::string();
}

std::string sentence(const RefusedRows& refused, std::size_t number, ErrorKind kind, double own) {
  const Group group{refused.rows, number};
  switch (refused.refusal) {
    case Refusal::end_time: return end_time_sentence(group, refused, kind);
    case Refusal::rounding:
      return group.steps() + ": at rounding level, so they count for no order";
    case Refusal::reference: return reference_sentence(group, own);
    case Refusal::events:
      return fmt::format(
          "{}: the events are not those of the reference ({}{}), so their times are "
          "not compared",
          group.steps(), first_of(group), group.error(0).detail);
    case Refusal::jumps:
      return fmt::format(
          "{}: the run and the reference do not jump equally often ({}{}), so states "
          "are not compared",
          group.steps(), first_of(group), group.error(0).detail);
    case Refusal::no_events:
      return group.steps() + ": neither the run nor the reference has an event, so there are no times to compare";
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

std::string order_line(const OrderVerdict& found, std::size_t rows, ErrorKind what,
                       const std::string& which) {
  const OrderFit& line = found.line;
  const std::string of = which.empty() ? "" : fmt::format(" ({})", which);
  if (line.has_order()) {
    std::string text =
        fmt::format("fitted order {:.3f} over {} rows{}\n", line.order, line.rows, of);
    if (line.order <= 0)
      text += "  the errors do not fall with h\n";
    else if (!found.follows_line)
      text += fmt::format(
          "  errors are up to {:.3g} times off that line: these rows follow no single order\n",
          line.off);
    return text;
  }
  if (found.is_exact)
    return fmt::format("no order{}: exact{}, every error is at rounding level\n", of,
                       what == ErrorKind::events ? "" : " at the grid points");
  if (line.rows >= 2)
    return fmt::format(
        "no order{}: the step lengths of {} errors that count are less than a "
        "factor of {:g} apart\n",
        of, line.rows, least_ratio);
  return fmt::format("no order{}: {} of {} errors can be compared\n", of, line.rows, rows);
}

}  // namespace

std::string verdict(const ConvergenceStudy& study, const VariantStudy& variant, std::size_t kind,
                    const std::string& which) {
  const OrderVerdict found = verdict_of(study, variant, kind);
  std::string text = order_line(found, variant.rows.size(), study.errors[kind], which);
  const double own = variant.reference.own_errors[static_cast<std::size_t>(study.errors[kind])];
  for (const RefusedRows& refused : found.refused) {
    if (refused.refusal == Refusal::rounding && found.is_exact) continue;
    text += "  " + sentence(refused, kind, study.errors[kind], own) + "\n";
  }
  const int left_out = found.left_out;
  if (left_out > 0)
    text += fmt::format("  {} between a jump of a run and that of the reference {} not compared\n",
                        left_out == 1 ? "1 state" : fmt::format("{} states", left_out),
                        left_out == 1 ? "is" : "are");
  return text;
}

}  // namespace perp::io
