#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/dcs.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/structure/balanced_blocks.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/newton/mode_newton.hpp>
#include <perp/schemes/safeguard.hpp>

namespace perp {
namespace {

constexpr long consistency_budget =
    200'000;  ///< nodes spent on the question whether x0 is consistent
constexpr double known_share = 0x1p-20;  ///< of a variable without a rate: its rounding where a step of length 0 tells it
constexpr int most_full_start = 512;  ///< unknowns of a problem with full matrices at the start

/// The problem of a consistent state at t by its independent blocks: E x = E x0, the equations without rates, the laws.
class Consistency {
 public:
  Consistency(const StepEquations& equations, const Vector& x0, double t)
      : equations_(equations), lcs_(equations.system()), b_(lcs_.b(t)), q_(lcs_.q(t)), Ex0_(lcs_.E.times(x0)) {}

  /// Does this hold of the solutions of every part? `of_large`: of those that are too large to be enumerated.
  template <class Holds>
  [[nodiscard]] bool holds_of_parts(bool of_large, const Holds& holds) const {
    EnumerateOptions limits;
    limits.max_nodes = consistency_budget;
    return std::ranges::all_of(blocks(), [&](const Block& block) {
      if (block.u.size() + block.lambda.size() > at(most_full_start)) return of_large;
      const Mlcp part = of(block);
      return holds(part, enumerate(part, limits));
    });
  }

 private:
  [[nodiscard]] std::vector<Block> blocks() const {
    const int n = lcs_.n(), m = lcs_.m();
    linear::DisjointSets sets(2 * n + m);  // variables, laws, equations
    const auto join = [&](const linear::SparseMatrix& entries, int row, int node, int first) {
      for (const auto& [column, value] : entries.row(row)) sets.join(node, first + column);
    };
    for (int i = 0; i < n; ++i) {
      join(rows_of(i), i, n + m + i, 0);
      if (equations_.is_algebraic_row(i)) join(lcs_.B, i, n + m + i, n);
    }
    for (int i = 0; i < m; ++i) {
      join(lcs_.C, i, n + i, 0);
      join(lcs_.D, i, n + i, n);
    }
    join_functions_of_time(sets, n, m);
    return balanced_blocks(std::move(sets), n, m);
  }

  [[nodiscard]] Mlcp of(const Block& block) const {
    Mlcp problem;
    const auto rows = static_cast<Eigen::Index>(block.equations.size());
    problem.M11 = Matrix::Zero(rows, static_cast<Eigen::Index>(block.u.size()));
    problem.M12 = Matrix::Zero(rows, static_cast<Eigen::Index>(block.lambda.size()));
    problem.q1 = Vector::Zero(rows);
    for (Eigen::Index k = 0; k < rows; ++k) {
      const int i = block.equations[at(k)];
      const bool has_rates = !equations_.is_algebraic_row(i);
      problem.M11.row(k) = rows_of(i).part({i}, block.u).dense();
      if (!has_rates) problem.M12.row(k) = lcs_.B.part({i}, block.lambda).dense();
      problem.q1[k] = has_rates ? -Ex0_[i] : b_[i];
    }
    problem.M21 = lcs_.C.part(block.lambda, block.u).dense();
    problem.M22 = lcs_.D.part(block.lambda, block.lambda).dense();
    problem.q2 = q_(block.lambda);
    for (const int i : block.lambda) problem.laws.push_back(lcs_.laws[at(i)]);
    return problem;
  }

  [[nodiscard]] const linear::SparseMatrix& rows_of(int i) const {
    return equations_.is_algebraic_row(i) ? lcs_.A : lcs_.E;
  }

  const StepEquations& equations_;
  const SparseLcs& lcs_;
  Vector b_, q_, Ex0_;
};

/// A sum with the size of its terms, or what that makes of its rounding.
struct SizedValue {
  double value = 0, size = 0;
  void add(double term) {
    value += term;
    size += std::abs(term);
  }
  /// Is it in the range, but for its rounding?
  [[nodiscard]] bool holds(const Range& range) const { return value >= range.lower - size && value <= range.upper + size; }
};

/// Do these values hold a w + b λ = c and the ranges of the branch, but for their rounding and `each` of a term?
bool holds_branch(const Branch& branch, const SizedValue& w, const SizedValue& lambda, double each) {
  const SizedValue left{branch.a * w.value + branch.b * lambda.value - branch.c,
                        std::abs(branch.a) * w.size + std::abs(branch.b) * lambda.size + each * std::abs(branch.c)};
  return left.holds({0, 0}) && w.holds(branch.w) && lambda.holds(branch.lambda);
}

/// Is a value with terms of this size in the range, away from its ends by more than rounding?
bool is_inside(const Range& range, double value, double size) {
  constexpr double rounding = 16 * unit_roundoff;
  const auto is_far = [&](double end) { return std::isinf(end) || std::abs(value - end) > rounding * (size + std::abs(end)); };
  return value > range.lower && value < range.upper && is_far(range.lower) && is_far(range.upper);
}

/// Is a point of solutions inside of the ranges of the branches of a mode by more than the rounding of its numbers?
bool is_inside(const Mlcp& problem, const Mode& mode, const Vector& point) {
  const Vector u = point.head(problem.p()), lambda = point.tail(problem.m());
  const Vector w = problem.M21 * u + problem.M22 * lambda + problem.q2;
  const Vector terms = problem.M21.cwiseAbs() * u.cwiseAbs() + problem.M22.cwiseAbs() * lambda.cwiseAbs() + problem.q2.cwiseAbs();
  for (int i = 0; i < problem.m(); ++i) {
    const Branch& branch = problem.laws[at(i)].branches[at(mode[at(i)])];
    if (branch.b != 0 && !is_inside(branch.w, w[i], terms[i])) return false;
    if (branch.a != 0 && !is_inside(branch.lambda, lambda[i], std::abs(lambda[i]))) return false;
  }
  return true;
}

}  // namespace

Attempt Capturing::probe(double h, int exponent) {
  const double step = std::ldexp(h, exponent);
  return attempt(current().t + step, step);
}

/// The laws, the equations without rates and E x = E x0, part by part: is there a solution, as far as an enumeration tells?
bool Capturing::is_consistent(const Vector& x0, double t) const {
  return Consistency(equations_, x0, t).holds_of_parts(true, [](const Mlcp&, const SolutionSet& set) {
    return !set.complete || multiplicity(set) != Multiplicity::none;
  });
}

/// Does a continuous solution start at x0: is there a consistent state in one mode, inside of its branches, which
/// determines it? The mode has an index of at most 1 then, and its equations go on.
bool Capturing::starts_inside(const Vector& x0, double t) const {
  return Consistency(equations_, x0, t).holds_of_parts(false, [](const Mlcp& part, const SolutionSet& set) {
    // One part of the structure may fall apart by its numbers.
    return std::ranges::all_of(set.blocks, [&](const Block& own) {
      const Mlcp own_part = subproblem(part, own);
      return std::ranges::any_of(own.pieces, [&](const Piece& piece) {
        return piece.dimension == 0 && piece.modes.size() == 1 && is_inside(own_part, piece.modes[0], piece.vertices.col(0));
      });
    });
  });
}

/// Does the shortest step from x0 move it by no more than its own rounding? Doubles near a curve
/// are hardly ever on it.
bool Capturing::is_consistent_to_rounding(const Vector& x0, double h) {
  if (probe(h, least_motion_probe).status != Status::solved) return false;
  const Vector moved = motion(x0, attempted()).cwiseAbs();
  return (moved.array() <= motion_rounding(x0, attempted()).array()).all();
}

/// x0, with variables that have no rate from elsewhere.
Vector Capturing::with_rates_of(const Vector& x0, const Vector& other) const {
  Vector x = other;
  for (int j = 0; j < equations_.n(); ++j)
    if (!is_algebraic(j)) x[j] = x0[j];
  return x;
}

/// Are x and the multipliers of `limit` a consistent state as they are: do they hold each equation of its mode to the
/// rounding of its terms, and the ranges of its branches? `is_exact`: without a rounding.
bool Capturing::is_consistent_in(const State& limit, const Vector& x, double t, bool is_exact) const {
  const SparseLcs& lcs = equations_.system();
  const Vector b = lcs.b(t), q = lcs.q(t);
  const double each = is_exact ? 0 : 4 * (equations_.n() + equations_.m() + 4) * unit_roundoff;
  const auto value_of = [&](const linear::SparseMatrix& of_x, const linear::SparseMatrix& of_lambda, int row, double constant) {
    SizedValue sum{constant, std::abs(constant)};
    for (const auto& [column, entry] : of_x.row(row)) sum.add(entry * x[column]);
    for (const auto& [column, entry] : of_lambda.row(row)) sum.add(entry * limit.lambda[column]);
    sum.size *= each;
    return sum;
  };
  for (const int i : equations_.algebraic_rows())
    if (!value_of(lcs.A, lcs.B, i, b[i]).holds({0, 0})) return false;
  for (int i = 0; i < equations_.m(); ++i) {
    const Branch& branch = lcs.laws[at(i)].branches[at((*limit.mode)[at(i)])];
    const SizedValue w = value_of(lcs.C, lcs.D, i, q[i]), lambda{limit.lambda[i], each * std::abs(limit.lambda[i])};
    if (!holds_branch(branch, w, lambda, each)) return false;
  }
  return true;
}

/// What costs little comes first: the limit of short steps as it is, and the step of length 0 in its mode.
bool Capturing::starts_consistently(const State& limit, const Vector& x0, double t, double h) {
  Vector x = with_rates_of(x0, limit.x);
  if (is_consistent_in(limit, x, t, false)) return true;
  State there = limit;
  if (solve_constraints_at_point(t, x, there) && is_consistent_in(there, with_rates_of(x0, x), t, false)) return true;
  const bool is_cheap = has_one_solution(h) || is_large();
  if (is_cheap && is_consistent_to_rounding(x0, h)) return true;
  return is_consistent(x0, t) || (!is_cheap && is_consistent_to_rounding(x0, h));
}

ConstraintsAt Capturing::constraints(const Vector& x, double t) const {
  return [this, x, b = equations_.system().b(t), q = equations_.system().q(t)](const Vector& lambda, Vector& equations,
                                                                              Vector& w) {
    const SparseLcs& lcs = equations_.system();
    equations = Vector(lcs.A.times(x) + lcs.B.times(lambda) + b)(equations_.algebraic_rows());
    w = lcs.C.times(x) + lcs.D.times(lambda) + q;
  };
}

/// The first step of h·2^exponent that is not without a solution: of short ones, longer ones up to h, ever shorter ones.
Attempt Capturing::first_probe_possible(double h, int& exponent) {
  exponent = first_probe;
  Attempt found = probe(h, exponent);
  while (found.status == Status::no_solution && exponent < 0) found = probe(h, exponent += 2);
  for (int k = first_probe - 10; found.status == Status::no_solution && k >= last_probe; k -= 10)
    found = probe(h, exponent = k);
  return found;
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
  int exponent = 0;
  Attempt found = first_probe_possible(h, exponent);
  if (found.status == Status::solved && !give_limit(t, x0, h, exponent, events)) found.status = Status::not_solved;
  start_pending_ = false;
  if (found.status == Status::no_solution) found.status = judge_missing_start(t, x0, h);
  return found;
}

/// What is said where no step from x0 has a solution, with its message. Where a continuous solution starts it ends, or
/// goes on in another mode, sooner than the shortest step: that there is none is not shown.
Status Capturing::judge_missing_start(double t, const Vector& x0, double h) {
  if (!starts_inside(x0, t)) {
    message_ = without_start_text(t, x0);
    return Status::no_solution;
  }
  message_ = fmt::format("a continuous solution starts at x0, but no step of {:g} to {:g} has a solution; choose a shorter h", h,
                         std::ldexp(h, last_probe));
  return Status::not_solved;
}

/// Why nothing starts at x0.
std::string Capturing::without_start_text(double t, const Vector& x0) const {
  if (is_consistent(x0, t)) return "no solution starts at x0 although it is consistent";
  return fmt::format("x0 violates the constraints, whose residual is {:.6g} there, and no jump leads onto them",
                     violation_of_constraints(equations_.laws(), constraints(x0, t)));
}

/// A state without what may be an impulse.
Step Capturing::without_impulses(Step state) const {
  for (int j = 0; j < equations_.n(); ++j)
    if (is_algebraic(j)) state.x[j] = 0;
  for (int i = 0; i < equations_.m(); ++i)
    if (!is_bounded(equations_.system().laws[at(i)])) state.lambda[i] = 0;
  return state;
}

/// |A| |x| + |b| + |B| |λ| over the differential variables and the bounded multipliers.
Vector Capturing::rate_terms(const Step& state) const { return terms_of_rates(without_impulses(state)); }

/// The same of a state without what may be an impulse.
Vector Capturing::terms_of_rates(const Step& part) const {
  const SparseLcs& lcs = equations_.system();
  return lcs.b(part.t).cwiseAbs() + lcs.A.sizes_times(part.x.cwiseAbs()) + lcs.B.sizes_times(part.lambda.cwiseAbs());
}

/// The rate r = A x + b + B λ changes from a to b by no more than |A| |Δx| + |B| |Δλ|: far from the origin, where the terms of
/// r cancel, that is less than they are.
Vector Capturing::rate_terms_between(const Step& a, const Step& b) const {
  const Step from = without_impulses(a), to = without_impulses(b);
  const SparseLcs& lcs = equations_.system();
  const auto rate = [&](const Step& state) -> Vector {
    return (lcs.A.times(state.x) + lcs.B.times(state.lambda) + lcs.b(state.t)).cwiseAbs();
  };
  const Vector change =
      lcs.A.sizes_times((to.x - from.x).cwiseAbs()) + lcs.B.sizes_times((to.lambda - from.lambda).cwiseAbs());
  return terms_of_rates(from).cwiseMax(terms_of_rates(to)).cwiseMin(change + rate(from).cwiseMax(rate(to)));
}

/// The constraints at t have constant coefficients: what depends on time stands where it is at t.
void Capturing::solve_constraints_at(double t, double h, Vector& x, State& limit) {
  if (equations_.m() == 0 && equations_.algebraic_rows().empty()) return;
  if (is_consistent_in(limit, x, t, true)) {  // nothing is left to solve
    const SparseLcs& lcs = equations_.system();
    limit.w = lcs.C.times(x) + lcs.D.times(limit.lambda) + lcs.q(t);
    return;
  }
  if (solve_constraints_at_point(t, x, limit) || equations_.n() + equations_.m() > most_full_start) return;
  Lcs frozen = equations_.lcs();
  frozen.b = Signal(frozen.b(t));
  frozen.q = Signal(frozen.q(t));
  ImplicitStep step(as_dcs(frozen));
  step.choose_units(x, t, h);
  ModeNewton newton(step);
  solve_constraints(step, newton, t, *limit.mode, x, limit.lambda, limit.w);
}

/// Is the rounding of each variable without a rate a small share of it?
bool Capturing::knows_algebraic(const PointStep& step) const {
  for (int j = 0; j < equations_.n(); ++j)
    if (is_algebraic(j) && !(step.rounding()[j] <= known_share * std::abs(step.x()[j]))) return false;
  return true;
}

/// The same by a step of length 0, whose rows are E x⁺ = E x and the constraints; false: it tells nothing.
bool Capturing::solve_constraints_at_point(double t, Vector& x, State& limit) {
  StepEquations& own = first_ ? *first_ : equations_;
  if (!once(own).is_usable()) return false;
  PointStep& step = *once(own).step;
  std::vector<double> parameter(at(own.parameters()));
  own.parameter(x, t, t, parameter.data());
  step.set(0, parameter.data());
  if (step.solve(*limit.mode) != PointStep::Verdict::inside) return false;
  if (!is_large() && !knows_algebraic(step)) return false;  // that is for Newton's method to tell
  take_constraints(step, x, limit);
  return true;
}

/// x, as far as it is not given, λ and w of a step of length 0.
void Capturing::take_constraints(const PointStep& step, Vector& x, State& limit) const {
  // As many rows with rates as variables determine these: they are x.
  const auto with_rates = std::count(has_rate_.begin(), has_rate_.end(), 1);
  const bool keeps_x = with_rates + static_cast<std::ptrdiff_t>(equations_.algebraic_rows().size()) == equations_.n();
  for (int j = 0; j < equations_.n(); ++j)
    if (!keeps_x || is_algebraic(j)) x[j] = step.x()[j];
  limit.lambda = step.lambda();
  limit.w = step.w();
}

/// The state that the step of h·2^exponent from x0 leads to, and its motion E (x⁺ − x0).
std::optional<std::pair<Capturing::State, Vector>> Capturing::short_step(const Vector& x0, double h, int exponent) {
  if (probe(h, exponent).status != Status::solved) return std::nullopt;
  compute_outputs(trial());
  return std::pair(trial(), motion(x0, attempted()));
}

/// Without laws, and with a rate of every variable, a start may be stiff, no more.
bool Capturing::is_smooth() const {
  return equations_.m() == 0 && std::ranges::all_of(has_rate_, [](char has) { return has != 0; });
}

/// Makes the limit of short steps from x0 the current state and says how far it is. False: there is none.
bool Capturing::give_limit(double t, const Vector& x0, double h, int exponent,
                           std::vector<Event>& events) {
  compute_outputs(trial());
  const auto step = [&](int k) { return short_step(x0, h, k); };
  ShortSteps<State> steps{trial(), {}, motion(x0, attempted()), false, exponent};
  shorten(steps, step);
  shorten_into_possible_mode(x0, t, h, steps);
  State& limit = steps.limit;
  const bool consistent = starts_consistently(limit, x0, t, h);
  start_pending_ = false;

  const Vector rates = rate_terms({t, x0, limit.lambda, limit.w, *limit.mode});
  const Vector least = motion_rounding(x0, limit.x).cwiseMax(jump_share * h * rates);
  if (!consistent && keep_growing(steps, motion_rounding(x0, limit.x), step)) {
    message_ = growing_start_text(violation_of_constraints(equations_.laws(), *limit.mode, limit.lambda, constraints(x0, t)));
    return false;
  }
  // Rates as large as those of a fine grid move a state by more than its rounding in whatever steps: a certificate tells more.
  const bool jumps = !is_smooth() && keeps_its_size(steps, least, h * rates, step) && !(consistent && moves_with_length(h));
  // A differential variable starts as given; what x0 leaves open is the limit from the right.
  Vector x = with_rates_of(x0, limit.x);
  solve_constraints_at(t, h, x, limit);
  if (jumps || !consistent)
    events.push_back(start_event(t, x0, limit.x, consistent, motion(x0, limit.x).norm(),
                                 violation_of_constraints(equations_.laws(), *limit.mode,
                                                          limit.lambda, constraints(x, t))));
  if (first_ && !is_determined_at_once(*limit.mode)) fresh_.add(x);
  restore({t, x, limit.lambda, limit.w, *limit.mode});
  return true;
}

}  // namespace perp
