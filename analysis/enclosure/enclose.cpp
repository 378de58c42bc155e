// The loop of enclosures: proved steps, rows at the times asked for.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/analysis/enclosure/times.hpp>
#include <perp/core/base/error.hpp>

namespace perp::enclosure {
namespace {

void check(const Flow& flow, const Box& start, const EncloseOptions& options) {
  if (static_cast<int>(start.size()) != flow.states() || start.empty())
    throw InvalidInput(fmt::format("the start has {} intervals; expected one for each of {} states",
                                   start.size(), flow.states()));
  for (std::size_t i = 0; i < start.size(); ++i)
    if (!start[i].is_bounded())
      throw InvalidInput(fmt::format("interval {} of the start is not bounded", i + 1));
  check_order(options);
}

EnclosureRow row(double t, const Box& box) {
  EnclosureRow made;
  made.t = t;
  made.box = box;
  return made;
}

/// The rows at the times asked for, one after the other.
class Rows {
 public:
  Rows(std::vector<double> times, std::vector<EnclosureRow>& rows)
      : times_(std::move(times)), next_(times_.begin()), rows_(rows) {}

  [[nodiscard]] bool are_complete() const { return next_ == times_.end(); }
  /// Where a step begins or ends.
  void add_at(double t, const Doubleton& set) {
    for (; !are_complete() && *next_ == t; ++next_) rows_.push_back(row(t, set.box()));
  }
  /// Within a step, whose start the set is.
  void add_within(TaylorStep& step, const Doubleton& set) {
    for (; !are_complete() && *next_ < step.end(); ++next_)
      rows_.push_back(row(*next_, step.image_at(set, *next_).states));
  }

 private:
  std::vector<double> times_;
  std::vector<double>::const_iterator next_;
  std::vector<EnclosureRow>& rows_;
};

/// Which states have a rate that is a number?
std::vector<bool> constant_rates(const Flow& flow) {
  std::vector<bool> constant;
  for (const int rate : flow.rates)
    constant.push_back(flow.tape[rate].operation == Operation::constant);
  return constant;
}

}  // namespace

const char* to_string(Flag flag) { return flag == Flag::unique ? "unique" : "all"; }

const char* to_string(How how) {
  switch (how) {
    case How::inclusion: return "inclusion";
    case How::contraction: return "contraction";
    default: return "modes";
  }
}

Enclosure enclose(const Flow& flow, const Box& start, const Span& span,
                  const EncloseOptions& options) {
  require_directed_arithmetic();
  check(flow, start, options);
  Enclosure result;
  Rows rows(times_of_rows(span, options), result.rows);
  const double grid = time_grid(span);
  TaylorStep step(flow, options.step);
  Doubleton set(start, constant_rates(flow));
  double t = span.start;
  rows.add_at(t, set);
  while (t < span.end && (!rows.are_complete() || options.tube)) {
    if (result.steps == options.most_steps || !step.prepare(set, t, span.end, grid)) {
      const bool budget = result.steps == options.most_steps;
      result.lost =
          Lost{Interval(t), budget ? "the number of steps has reached its limit" : step.reason()};
      return result;
    }
    ++result.steps;
    rows.add_within(step, set);
    if (options.tube)
      result.tube.push_back({t, step.end(), 0, Flag::unique, step.between(t, step.end())});
    step.move(set);
    t = step.end();
    rows.add_at(t, set);
  }
  return result;
}

}  // namespace perp::enclosure
