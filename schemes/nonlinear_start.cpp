#include <fmt/format.h>
#include <cmath>

#include <perp/core/error.hpp>
#include <perp/schemes/nonlinear_capturing.hpp>

namespace perp {
namespace {

constexpr double consistent_to = 1e-9;  ///< relative

}  // namespace

Attempt NonlinearCapturing::probe(double h, int exponent) {
  const double step = std::ldexp(h, exponent);
  return attempt(current().t + step, step);
}

bool NonlinearCapturing::is_consistent(const Vector& x0, double t) {
  step_.set_consistency(x0, t);
  const FoundSolutions found =
      search_.all({}, Vector::Zero(step_.n()), Vector::Zero(step_.m()), consistent_to);
  return !found.list.empty() || !found.all_modes;
}

ConstraintsAt NonlinearCapturing::constraints(const Vector& x, double t) {
  return [this, x, t](const Vector& lambda, Vector& equations, Vector& w) {
    step_.constraints(t, x, lambda, equations, w);
  };
}

// The rule of Capturing::start: the short step of least norm goes to a nearby state if a continuous
// solution starts at x0, and keeps its size where x0 must jump ([RAB] Propositions 5 and 6).
Attempt NonlinearCapturing::start(double t, const Vector& x0, double h,
                                  std::vector<Event>& events) {
  if (x0.size() != step_.n())
    throw InvalidInput(fmt::format("x0 must have {} entries but has {}", step_.n(), x0.size()));
  if (!x0.allFinite()) throw InvalidInput("x0 must be finite");
  start_pending_ = true;
  restore({t, x0, Vector::Zero(step_.m()), Vector::Zero(step_.m()), {}});
  const auto failed = [](const Attempt& attempt) { return attempt.status != Status::solved; };
  int exponent = first_probe;
  Attempt found = probe(h, exponent);
  while (failed(found) && exponent < 0) found = probe(h, exponent += 2);
  for (int k = first_probe - 10; failed(found) && k >= last_probe; k -= 10)
    found = probe(h, exponent = k);
  if (failed(found)) {
    start_pending_ = false;
    const bool consistent = is_consistent(x0, t);
    const double violation = violation_of_constraints(step_.laws(), constraints(x0, t));
    if (found.status == Status::no_solution)
      message_ = consistent ? "no solution starts at x0 although it is consistent"
                            : fmt::format(
                                  "x0 violates the constraints, whose residual is {:.6g} there, "
                                  "and no jump leads onto them",
                                  violation);
    else if (!consistent)
      message_ += fmt::format("; the residual of the constraints at x0 is {:.6g}", violation);
    return found;
  }
  give_limit(t, x0, h, exponent, events);
  start_pending_ = false;
  resets_.start(t, current().x, current().lambda);
  return found;
}

/// Makes the limit of short steps from x0 the current state and says how far it is. The norms of
/// two steps tell how it shrinks only where both are in one mode: they are shortened until so.
void NonlinearCapturing::give_limit(double t, const Vector& x0, double h, int exponent,
                                    std::vector<Event>& events) {
  double norm = 0, shorter_norm = attempted_norm();
  State limit = trial();
  bool agree = false;
  do {
    const State longer = limit;
    norm = shorter_norm;
    if (probe(h, exponent -= 2).status != Status::solved) {
      shorter_norm = 0;
      break;
    }
    shorter_norm = attempted_norm();
    limit = trial();
    agree = limit.mode == longer.mode;
    if (!agree) continue;
    limit.x = extrapolate(longer.x, limit.x);
    limit.lambda = extrapolate(longer.lambda, limit.lambda);
    limit.w = extrapolate(longer.w, limit.w);
  } while (!agree && exponent > last_probe);
  linearise_trial();
  const double size = step_.norm(x0);
  const double distance = step_.norm(limit.x - x0);
  const bool jumps = norm > 1e-12 * size && shorter_norm > 0.5 * norm;
  const bool consistent = is_consistent(x0, t);
  // A differential variable starts as given; what x0 leaves open is the limit from the right.
  Vector x = limit.x;
  for (Eigen::Index j = 0; j < x0.size(); ++j)
    if (differential_[static_cast<std::size_t>(j)] != 0) x[j] = x0[j];
  if (jumps || !consistent) {
    const double violation =
        violation_of_constraints(step_.laws(), *limit.mode, limit.lambda, constraints(x, t));
    events.push_back(start_event(t, x0, limit.x, consistent, distance, violation));
  }
  restore({t, x, limit.lambda, limit.w, *limit.mode});
}

}  // namespace perp
