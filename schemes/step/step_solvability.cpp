#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/pencil/finite_eigenvalues.hpp>
#include <perp/core/pencil/pencil.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/step/step_equations.hpp>
#include <perp/schemes/step/step_poles.hpp>
#include <perp/schemes/step/step_solvability.hpp>

namespace perp {
namespace {

constexpr double real_to = 1e-6;  ///< share of an imaginary part that is rounding

/// The largest positive real eigenvalue of a mode's flow, else 0; 0 too where the pencil is
/// singular and every step matrix with it. NaN where the eigenvalues are lost in rounding.
double fastest_growth(const Lcs& lcs, const Mode& mode) {
  const ModeDae dae = mode_dae(lcs, mode);
  const auto eigenvalues = finite_eigenvalues(dae.E, dae.A);
  if (!eigenvalues) return index_of(dae.E, dae.A) ? nan : 0;
  double largest = 0;
  for (const std::complex<double>& s : *eigenvalues)
    if (std::abs(s.imag()) <= real_to * std::abs(s)) largest = std::max(largest, s.real());
  return largest;
}

}  // namespace

double mode_count(const std::vector<Law>& laws) {
  double count = 1;
  for (const Law& law : laws) count *= static_cast<double>(law.branches.size());
  return count;
}

StepSolvability step_solvability(const Lcs& lcs, double theta, double h, long max_modes) {
  check_theta(theta);
  check_h(h);
  if (mode_count(lcs.laws) > static_cast<double>(max_modes))
    throw InvalidInput(fmt::format("laws must have at most {} modes but have {:.6g}", max_modes,
                                   mode_count(lcs.laws)));
  StepEquations equations(lcs, theta);
  const Lcs scaled = stepped(equations);
  StepSolvability result;
  double growth = 0;
  bool lost = false;
  Mode mode(lcs.laws.size(), 0);
  do {
    const double here = fastest_growth(scaled, mode);
    lost = lost || std::isnan(here);
    if (!(here > growth)) continue;
    growth = here;
    result.mode = mode;
  } while (next_mode(mode, lcs.laws));
  if (growth > 0) result.below = 1 / (theta * growth);
  const Vector x = Vector::Zero(lcs.n());  // every right-hand side is looked at
  const auto at_h = [&](double step) {
    return unique_solvability(equations.problem(x, 0, step, step));
  };
  result.at_h = at_h(h);
  if (lost) {
    result.below = nan;
    result.mode.clear();
    return result;
  }
  result.shorter =
      h < result.below ? result.at_h : at_h(result.below / 2);
  return result;
}

}  // namespace perp
