#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/newton/mode_newton.hpp>
#include <perp/schemes/step/implicit_step.hpp>
#include <perp/schemes/step/step_search.hpp>
#include <perp/schemes/step/step_solutions.hpp>

namespace perp {

StepSolutions solutions(const Dcs& system, const Vector& x, double t, double h) {
  ImplicitStep step(system);
  if (x.size() != step.n())
    throw InvalidInput(fmt::format("x must have {} entries but has {}", step.n(), x.size()));
  if (!x.allFinite()) throw InvalidInput("x must be finite");
  check_h(h);
  ModeNewton newton(step);
  step.choose_units(x, t, h);
  step.set_step(x, t + h, h);
  const Vector still = Vector::Zero(step.n()), free = Vector::Zero(step.m());
  StepSearch search(step, newton);
  FoundSolutions found = search.all({}, still, free);
  if (found.list.empty() && found.all_modes) {  // rates may be far from 0
    search.look_far(true);
    found = search.all({}, still, free);
  }
  StepSolutions result;
  result.all_modes = found.all_modes;
  if (search.has_too_many_modes())
    result.note =
        fmt::format("more than {} modes: only some were searched", StepSearch::most_modes);
  else if (!found.why.empty())
    result.note = "in some modes nothing was decided: " + found.why;
  for (ModeSolution& solution : found.list) {
    const Vector next = x + solution.d;
    result.list.push_back({.x = next,
                           .lambda = std::move(solution.lambda),
                           .w = std::move(solution.w),
                           .x_error = solution.d_error + next.unaryExpr(&half_ulp),
                           .mode = std::move(solution.mode),
                           .also = std::move(solution.also),
                           .norm = solution.norm,
                           .residual = solution.residual,
                           .weak = solution.weak,
                           .isolated = solution.isolated,
                           .simple = solution.simple,
                           .lambda_determined = solution.lambda_determined});
  }
  return result;
}

long StepSolutions::count_different_x() const {
  long count = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].isolated) return -1;
    const auto is_known = [&](const StepSolution& other) {
      return same_point(other.x, list[i].x, other.x_error, list[i].x_error);
    };
    count += std::none_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), is_known);
  }
  return count;
}

}  // namespace perp
