#include <cmath>

#include <perp/schemes/safeguard.hpp>

namespace perp {
namespace {

constexpr int most_changes = 32;      ///< changes of mode followed within one step
constexpr double last_moment = 1e-6;  ///< of the step length

/// Advances in the present mode as far as it goes, by bisection. On return the scheme stands at
/// `low`, and no step from there to `high`, at most `floor` away, keeps the mode.
void exhaust_mode(Scheme& scheme, double& low, double& high, double floor) {
  while (high - low > floor) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    const Attempt attempt = scheme.attempt(middle, middle - low);
    if (attempt.status == Status::solved && attempt.kept_mode) {
      scheme.accept();
      low = middle;
    } else {
      high = middle;
    }
  }
}

/// Changes of mode right before the end of a solution are rounding: the solution ends in the mode
/// before.
void forget_last_moment(Scheme& scheme, Refinement& result, double h) {
  while (!result.changes.empty() && scheme.t() - result.changes.back().before.t < last_moment * h) {
    scheme.restore(result.changes.back().before);
    result.changes.pop_back();
  }
}

}  // namespace

Refinement refine(Scheme& scheme, double t_next, double h, int refinements) {
  Refinement result;
  const double floor = std::ldexp(h, -refinements);
  for (int change = 0; change <= most_changes; ++change) {
    double low = scheme.t();
    Attempt attempt = scheme.attempt(t_next, t_next - low);
    const bool done =
        attempt.status == Status::solved && (attempt.kept_mode || change == most_changes);
    if (done) {
      scheme.accept();
      result.status = Status::solved;
      return result;
    }
    double high = t_next;
    exhaust_mode(scheme, low, high, floor);
    // Leave the mode: by the shortest step that has a solution, the longest tried last.
    const Step before = scheme.snapshot();
    attempt = scheme.attempt(high, high - low);
    for (double step = 2 * (high - low); attempt.status != Status::solved && low + step <= t_next;
         step *= 2)
      attempt = scheme.attempt(low + step, step);
    if (attempt.status != Status::solved) attempt = scheme.attempt(t_next, t_next - low);
    if (attempt.status != Status::solved) {
      result.status = attempt.status;
      result.message = scheme.message();
      forget_last_moment(scheme, result, h);
      return result;
    }
    const double norm = scheme.attempted_norm();
    scheme.accept();
    // Changes in one moment are one change: that of the last, from where the first began.
    const bool same_moment =
        !result.changes.empty() && low - result.changes.back().before.t < last_moment * h;
    if (same_moment)
      result.changes.back() = {result.changes.back().before, scheme.snapshot(), norm};
    else
      result.changes.push_back({before, scheme.snapshot(), norm});
    if (scheme.t() >= t_next) {
      result.status = Status::solved;
      return result;
    }
  }
  result.status = Status::not_solved;
  result.message = "too many changes of mode within one step";
  return result;
}

}  // namespace perp
