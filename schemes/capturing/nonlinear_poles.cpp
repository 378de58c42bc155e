// Poles of algebraic variables that a step of NonlinearCapturing passes: what no equation at its end sees.
#include <algorithm>
#include <cmath>

#include <perp/schemes/capturing/nonlinear_capturing.hpp>

namespace perp {
namespace {

constexpr double small = 0x1p-20;        ///< of the unit of a variable: what may be called rounding
constexpr int most_pole_bisections = 8;  ///< of a step, to tell a zero from a pole

bool have_opposite_signs(double a, double b) { return (a < 0 && b > 0) || (a > 0 && b < 0); }

}  // namespace

/// Does the attempted step, in the present mode, carry an algebraic variable through a pole to the
/// other sign?
bool NonlinearCapturing::passes_pole(double h) {
  const State& now = current();
  State& next = trial();
  if (now.fresh || now.entered) return false;
  for (int j = 0; j < step_.n(); ++j) {
    if (!have_opposite_signs(now.x[j], now.x[j] + next.d[j]) || differential_[static_cast<std::size_t>(j)] != 0) continue;
    const Vector d = next.d, lambda = next.lambda;
    const bool passes = has_pole(j, d, lambda, h);
    next.d = d;
    next.lambda = lambda;
    set_step(next.t, h);
    if (passes) return true;
  }
  return false;
}

/// Is the variable at the solution of the attempted step, just found, no more than its rounding? At a pole that is larger
/// than its unit.
bool NonlinearCapturing::is_rounding(int variable) {
  const std::optional<Vector> errors = errors_of(trial());
  if (!errors) return false;
  const double error = (*errors)[variable];
  return std::abs(step_.variable(variable)) <= error && error <= std::ldexp(small, step_.units()[variable]);
}

/// The change of sign is enclosed by shorter steps: where it is a zero, the variable becomes smaller
/// at the ends that enclose it, at a pole both ends grow, and what they are apart. A variable that turns back behind a zero
/// is larger within the step than at its end, but no farther apart at both sides. A shorter step that is not solved tells
/// neither. What is 0 up to rounding at the end of the whole step has the rounding of ever shorter ones.
bool NonlinearCapturing::has_pole(int variable, const Vector& d, const Vector& lambda, double h) {
  const State& now = current();
  State& next = trial();
  double low = 0, high = 1, at_low = now.x[variable], at_high = at_low + d[variable];
  const double least = std::min(std::abs(at_low), std::abs(at_high)), apart = std::abs(at_high - at_low);
  double smaller = least;
  if (is_rounding(variable)) return false;
  for (int k = 0; k < most_pole_bisections; ++k) {
    const double share = low + (high - low) / 2;
    next.d = share * d;
    next.lambda = lambda;
    set_step(now.t + share * h, share * h);
    if (newton_.run(next.d, next.lambda) != NewtonEnd::converged) return false;
    const double value = now.x[variable] + next.d[variable];
    const bool is_before = (value > 0) == (at_low > 0);
    (is_before ? low : high) = share;
    (is_before ? at_low : at_high) = value;
    smaller = std::min(std::abs(at_low), std::abs(at_high));
    const double gap = std::abs(at_high - at_low);
    if (smaller > 2 * least && gap > 2 * apart) return true;
    if (smaller < least / 2 || gap < apart / 2) return false;
  }
  return smaller > 2 * least;
}

}  // namespace perp
