#include <fmt/format.h>
#include <cmath>

#include <perp/core/error.hpp>
#include <perp/lcp/enumerate.hpp>
#include <perp/schemes/capturing.hpp>

namespace perp {
namespace {

constexpr int probe_exponent =
    -10;  ///< the start is probed by steps of h·2^-10 and a quarter of it
constexpr int last_exponent = -40;  ///< shortest probe before the start is given up
constexpr long consistency_budget =
    200'000;  ///< nodes spent on the question whether x0 is consistent

/// Value at 0 of a quantity that is known at h and h/4 and smooth in h.
Vector extrapolate(const Vector& at_h, const Vector& at_quarter) {
  return (4 * at_quarter - at_h) / 3;
}

}  // namespace

Attempt Capturing::probe(double h, int exponent) {
  const double step = std::ldexp(h, exponent);
  return attempt(current().t + step, step);
}

bool Capturing::is_consistent(const Vector& x0, double t) const {
  EnumerateOptions limits;
  limits.max_nodes = consistency_budget;
  const SolutionSet set = enumerate(equations_.consistency(x0, t), limits);
  return !set.complete || multiplicity(set) != Multiplicity::none;
}

// The small-h backward Euler step of minimal norm is the rule for what happens at the start: it
// goes to a nearby state with h if a continuous solution starts at x0, and keeps its size where x0
// must jump
// ([RAB] Propositions 5 and 6).
Attempt Capturing::start(double t, const Vector& x0, double h, std::vector<Event>& events) {
  if (x0.size() != equations_.n())
    throw InvalidInput(
        fmt::format("x0 must have {} entries but has {}", equations_.n(), x0.size()));
  if (!x0.allFinite()) throw InvalidInput("x0 must be finite");
  start_pending_ = true;
  restore({t, x0, Vector::Zero(equations_.m()), Vector::Zero(equations_.m()), {}});
  int exponent = probe_exponent;
  Attempt found = probe(h, exponent);
  while (found.status == Status::no_solution && exponent < 0) found = probe(h, exponent += 2);
  for (int k = probe_exponent - 10; found.status == Status::no_solution && k >= last_exponent;
       k -= 10)
    found = probe(h, exponent = k);
  if (found.status != Status::solved) {
    start_pending_ = false;
    if (found.status == Status::no_solution)
      message_ = is_consistent(x0, t) ? "no solution starts at x0 although it is consistent"
                                      : "x0 violates the constraints and no jump leads onto them";
    return found;
  }

  const double norm = attempted_norm();
  compute_outputs(trial());
  State first = trial();
  const Mode mode = *first.mode;
  Attempt second = probe(h, exponent - 2);
  double shorter_norm = 0;
  State limit = first;
  if (second.status == Status::solved) {
    shorter_norm = attempted_norm();
    compute_outputs(trial());
    if (*trial().mode == mode) {
      limit.x = extrapolate(first.x, trial().x);
      limit.lambda = extrapolate(first.lambda, trial().lambda);
      limit.w = extrapolate(first.w, trial().w);
    } else {
      limit = trial();
    }
  }
  start_pending_ = false;

  const double size = (equations_.given_E() * x0).norm();
  const bool jumps = norm > 1e-12 * size && shorter_norm > 0.5 * norm;
  const bool consistent = is_consistent(x0, t);
  if (jumps || !consistent) {
    Event event;
    event.kind = consistent ? EventKind::jump : EventKind::inconsistent_start;
    event.t = event.t_before = event.t_after = t;
    event.x_before = x0;
    event.x_after = limit.x;
    event.size = (equations_.given_E() * (limit.x - x0)).norm();
    event.note = consistent ? "no continuous solution starts at x0" : "x0 violates the constraints";
    events.push_back(event);
  }
  // A differential variable starts as given; what x0 leaves open is the limit from the right.
  for (Eigen::Index j = 0; j < x0.size(); ++j)
    if (!equations_.given_E().col(j).isZero(0)) limit.x[j] = x0[j];
  restore({t, limit.x, limit.lambda, limit.w, *limit.mode});
  return found;
}

}  // namespace perp
