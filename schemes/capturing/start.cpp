#include <fmt/format.h>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/dcs.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/newton/mode_newton.hpp>
#include <perp/schemes/safeguard.hpp>

namespace perp {
namespace {

constexpr int shortest_probe =
    -70;  ///< h·2^k, over which a rate moves a state by less than its rounding
constexpr long consistency_budget =
    200'000;  ///< nodes spent on the question whether x0 is consistent

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

/// Does the shortest step from x0 move it by no more than its own rounding? Doubles near a curve
/// are hardly ever on it.
bool Capturing::is_consistent_to_rounding(const Vector& x0, double h) {
  if (probe(h, shortest_probe).status != Status::solved) return false;
  const Vector moved = motion(x0, attempted()).cwiseAbs();
  return (moved.array() <= motion_rounding(x0, attempted()).array()).all();
}

/// A step of little cost comes first.
bool Capturing::starts_consistently(const Vector& x0, double t, double h) {
  if (has_one_solution(h) && is_consistent_to_rounding(x0, h)) return true;
  return is_consistent(x0, t) || is_consistent_to_rounding(x0, h);
}

ConstraintsAt Capturing::constraints(const Vector& x, double t) const {
  return [this, x, problem = equations_.consistency(x, t)](const Vector& lambda, Vector& equations,
                                                           Vector& w) {
    const Vector rows = problem.M11 * x + problem.M12 * lambda + problem.q1;
    equations = rows(equations_.algebraic_rows());
    w = problem.M21 * x + problem.M22 * lambda + problem.q2;
  };
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
  int exponent = first_probe;
  Attempt found = probe(h, exponent);
  while (found.status == Status::no_solution && exponent < 0) found = probe(h, exponent += 2);
  for (int k = first_probe - 10; found.status == Status::no_solution && k >= last_probe; k -= 10)
    found = probe(h, exponent = k);
  if (found.status == Status::solved && !give_limit(t, x0, h, exponent, events)) found.status = Status::not_solved;
  start_pending_ = false;
  if (found.status == Status::no_solution) message_ = without_start_text(t, x0);
  return found;
}

/// Why nothing starts at x0.
std::string Capturing::without_start_text(double t, const Vector& x0) const {
  if (is_consistent(x0, t)) return "no solution starts at x0 although it is consistent";
  return fmt::format("x0 violates the constraints, whose residual is {:.6g} there, and no jump leads onto them",
                     violation_of_constraints(equations_.lcs().laws, constraints(x0, t)));
}

/// |A| |x| + |b| over the differential variables: what moves each row of E x in a unit of time, by
/// size. Algebraic variables and multipliers, which may be impulses here, are left out.
Vector Capturing::rate_terms(double t, const Vector& x) const {
  const Lcs& lcs = equations_.lcs();
  Vector terms = lcs.b(t).cwiseAbs();
  for (int j = 0; j < equations_.n(); ++j)
    if (!equations_.given_E().col(j).isZero(0)) terms += lcs.A.col(j).cwiseAbs() * std::abs(x[j]);
  return terms;
}

/// The constraints at t have constant coefficients: what depends on time stands where it is at t.
void Capturing::solve_constraints_at(double t, double h, Vector& x, State& limit) const {
  Lcs frozen = equations_.lcs();
  if (frozen.m() == 0 && equations_.algebraic_rows().empty()) return;
  frozen.b = Signal(frozen.b(t));
  frozen.q = Signal(frozen.q(t));
  ImplicitStep step(as_dcs(frozen));
  step.choose_units(x, t, h);
  ModeNewton newton(step);
  solve_constraints(step, newton, t, *limit.mode, x, limit.lambda, limit.w);
}

/// The changes of two steps tell how it shrinks only where both are in one mode: they are shortened until so.
Capturing::ShortSteps Capturing::shorten(const Vector& x0, double h, int exponent) {
  compute_outputs(trial());
  ShortSteps steps{trial(), {}, motion(x0, attempted())};
  State& limit = steps.limit;
  do {
    const State longer = limit;
    const Mode mode = *longer.mode;
    steps.longer = steps.shorter;
    if (probe(h, exponent -= 2).status != Status::solved) {
      steps.shorter.setZero();
      break;
    }
    steps.shorter = motion(x0, attempted());
    compute_outputs(trial());
    limit = trial();
    steps.agree = *limit.mode == mode;
    if (!steps.agree) continue;
    limit.x = extrapolate(longer.x, limit.x);
    limit.lambda = extrapolate(longer.lambda, limit.lambda);
    limit.w = extrapolate(longer.w, limit.w);
  } while (!steps.agree && exponent > last_probe);
  return steps;
}

/// Makes the limit of short steps from x0 the current state and says how far it is. False: there is none.
bool Capturing::give_limit(double t, const Vector& x0, double h, int exponent,
                           std::vector<Event>& events) {
  ShortSteps steps = shorten(x0, h, exponent);
  State& limit = steps.limit;
  const bool consistent = starts_consistently(x0, t, h);
  start_pending_ = false;

  // Without laws, and with a rate of every variable, a start may be stiff, no more.
  const Matrix& E = equations_.given_E();
  const bool is_smooth = equations_.m() == 0 && (E.array() != 0).colwise().any().all();
  const Vector least = motion_rounding(x0, limit.x).cwiseMax(jump_share * h * rate_terms(t, x0));
  if (!consistent && steps.agree && grows(steps.longer, steps.shorter, least)) {
    message_ = growing_start_text(violation_of_constraints(equations_.lcs().laws, constraints(x0, t)));
    return false;
  }
  const bool jumps = !is_smooth && keeps_its_size(steps.longer, steps.shorter, least);
  // A differential variable starts as given; what x0 leaves open is the limit from the right.
  Vector x = limit.x;
  for (Eigen::Index j = 0; j < x0.size(); ++j)
    if (!equations_.given_E().col(j).isZero(0)) x[j] = x0[j];
  solve_constraints_at(t, h, x, limit);
  if (jumps || !consistent)
    events.push_back(start_event(t, x0, limit.x, consistent, motion(x0, limit.x).norm(),
                                 violation_of_constraints(equations_.lcs().laws, *limit.mode,
                                                          limit.lambda, constraints(x, t))));
  if (first_ && !is_determined_at_once(*limit.mode)) fresh_.add(t, x);
  restore({t, x, limit.lambda, limit.w, *limit.mode});
  return true;
}

}  // namespace perp
