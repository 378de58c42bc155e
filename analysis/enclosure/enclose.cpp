// The loop of enclosures: proved steps, rows at the times asked for.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

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
  const std::vector<double> times = times_of_rows(span, options);
  const double grid = time_grid(span);
  Enclosure result;
  TaylorStep step(flow, options.step);
  std::vector<bool> constant;
  for (const int rate : flow.rates)
    constant.push_back(flow.tape[rate].operation == Operation::constant);
  Doubleton set(start, constant);
  double t = span.start;
  auto next = times.begin();
  for (; next != times.end() && *next == t; ++next) result.rows.push_back(row(t, set.box()));
  while (t < span.end && (next != times.end() || options.tube)) {
    if (result.steps == options.most_steps || !step.prepare(set, t, span.end, grid)) {
      const bool budget = result.steps == options.most_steps;
      result.lost =
          Lost{Interval(t), budget ? "the number of steps has reached its limit" : step.reason()};
      return result;
    }
    ++result.steps;
    for (; next != times.end() && *next < step.end(); ++next)
      result.rows.push_back(row(*next, step.image_at(set, *next).states));
    if (options.tube)
      result.tube.push_back({t, step.end(), 0, Flag::unique, step.between(t, step.end())});
    step.move(set);
    t = step.end();
    for (; next != times.end() && *next == t; ++next) result.rows.push_back(row(t, set.box()));
  }
  return result;
}

}  // namespace perp::enclosure
