#include <fmt/format.h>

#include <perp/core/base/error.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/step/step_equations.hpp>
#include <perp/schemes/step_mlcp.hpp>

namespace perp {

Mlcp step_problem(const Lcs& lcs, const Vector& x, double t, double h) {
  StepEquations equations(lcs, 1);
  if (x.size() != equations.n())
    throw InvalidInput(fmt::format("x must have {} entries but has {}", equations.n(), x.size()));
  check_h(h);
  const ParametricMlcp family = equations.family(h);
  std::vector<double> parameter(static_cast<std::size_t>(equations.parameters()));
  equations.parameter(x, t, t + h, parameter.data());
  Mlcp problem = family.base;
  instantiate(family, parameter.data(), problem);
  return problem;
}

Norm step_norm(const Lcs& lcs, const Vector& x) {
  return StepEquations(lcs, 1).norm(x);
}

}  // namespace perp
