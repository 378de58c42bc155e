#include <fmt/format.h>
#include <cmath>
#include <utility>

#include <perp/core/error.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/implicit_step.hpp>
#include <perp/schemes/mode_newton.hpp>
#include <perp/schemes/step_search.hpp>
#include <perp/schemes/step_solutions.hpp>

namespace perp {

StepSolutions solutions(const Dcs& system, const Vector& x, double t, double h, double tol) {
  ImplicitStep step(system);
  if (x.size() != step.n())
    throw InvalidInput(fmt::format("x must have {} entries but has {}", step.n(), x.size()));
  if (!x.allFinite()) throw InvalidInput("x must be finite");
  check_h(h);
  if (!(tol > 0 && tol < 1))
    throw InvalidInput(fmt::format("tol must be in (0, 1) but is {}", tol));
  ModeNewton newton(step, tol);
  step.set_step(x, t + h, h);
  const Vector still = Vector::Zero(step.n()), free = Vector::Zero(step.m());
  FoundSolutions found = StepSearch(step, newton).all({}, still, free, tol);
  StepSolutions result;
  result.all_modes = found.all_modes;
  if (!found.all_modes)
    result.note =
        fmt::format("more than {} modes: only some were searched", StepSearch::most_modes);
  else if (!found.decided)
    result.note = "in some modes nothing was decided: " + found.why;
  for (ModeSolution& solution : found.list)
    result.list.push_back({.x = x + solution.d,
                           .lambda = std::move(solution.lambda),
                           .w = std::move(solution.w),
                           .mode = std::move(solution.mode),
                           .also = std::move(solution.also),
                           .norm = solution.norm,
                           .residual = solution.residual,
                           .isolated = solution.isolated,
                           .lambda_determined = solution.lambda_determined});
  return result;
}

}  // namespace perp
