#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/linear/rank_elimination.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/safeguard.hpp>

namespace perp {
namespace {

constexpr std::size_t most_rates_told = 200;  ///< variables whose sums of rates are looked at
constexpr double same_sum = 1e-11;  ///< of the terms of a sum of rates: what is left of it is rounding
constexpr int settling_probe = -20;  ///< h·2^k, from which on a jump behind a reset is looked for

/// Are several branches possible for a law whose argument is known?
bool has_several(const std::vector<std::vector<int>>& possible, const std::vector<char>& is_known) {
  for (std::size_t i = 0; i < possible.size(); ++i)
    if (is_known[i] != 0 && possible[i].size() > 1) return true;
  return false;
}

}  // namespace

Attempt NonlinearCapturing::probe(double h, int exponent) {
  const double step = std::ldexp(h, exponent);
  return attempt(current().t + step, step);
}

/// The states with the differential variables of x0 at which the constraints hold, as far as they are found.
FoundSolutions NonlinearCapturing::consistent_states(const Vector& x0, double t) {
  step_.set_consistency(x0, t);
  return search_.all({}, Vector::Zero(step_.n()), Vector::Zero(step_.m()));
}

bool NonlinearCapturing::is_consistent(const Vector& x0, double t) {
  const FoundSolutions found = consistent_states(x0, t);
  return !found.list.empty() || !found.all_modes;
}

ConstraintsAt NonlinearCapturing::constraints(const Vector& x, double t) {
  return [this, x, t](const Vector& lambda, Vector& equations, Vector& w) {
    step_.constraints(t, x, lambda, equations, w);
  };
}

/// The laws whose w is a function of t and of differential variables alone.
std::vector<char> NonlinearCapturing::known_arguments() const {
  const int n = step_.n();
  std::vector<char> is_known(static_cast<std::size_t>(step_.m()), 1);
  for (const DcsEvaluator::Entry& entry : step_.evaluator().entries()) {
    if (entry.row < n || entry.column == 0) continue;
    const int variable = entry.column - 1 - n;
    if (variable < 0 || variable >= n || differential_[static_cast<std::size_t>(variable)] == 0)
      is_known[static_cast<std::size_t>(entry.row - n)] = 0;
  }
  return is_known;
}

/// The branches that are possible at x0 for laws whose w is a function of t and of differential
/// variables: where w is beyond its error in the range of one branch only, the law is decided.
std::vector<std::vector<int>> NonlinearCapturing::possible_branches(const Vector& x0, double t) {
  DcsEvaluator& evaluator = step_.evaluator();
  const int n = step_.n(), m = step_.m();
  const std::vector<char> is_known = known_arguments();
  Vector z = Vector::Zero(evaluator.inputs()), z_error = z, rows(n + m), errors(n + m);
  z[0] = t;
  z.segment(1 + n, n) = x0;
  for (int j = 0; j < n; ++j) z_error[1 + n + j] = half_ulp(x0[j]);
  z_error[0] = start_t_error_;
  if (start_x_error_.size() > 0)
    z_error.segment(1 + n, n) = z_error.segment(1 + n, n).cwiseMax(start_x_error_);
  evaluator.evaluate_bounded(z.data(), z_error.data(), rows.data(), errors.data());
  std::vector<std::vector<int>> possible;
  for (int i = 0; i < m; ++i) {
    const auto law = static_cast<std::size_t>(i);
    possible.push_back(branches_at(step_.laws()[law], rows[n + i], is_known[law] != 0 ? errors[n + i] : inf));
  }
  return possible;
}

/// A continuous solution begins in a mode that is possible at x0; only where none does, every mode
/// is asked.
Attempt NonlinearCapturing::start(double t, const Vector& x0, double h,
                                  std::vector<Event>& events) {
  if (x0.size() != step_.n())
    throw InvalidInput(fmt::format("x0 must have {} entries but has {}", step_.n(), x0.size()));
  if (!x0.allFinite()) throw InvalidInput("x0 must be finite");
  if (!step_.has_units()) step_.choose_units(x0, t, h);
  // What was computed before is no work of this start, nor is its own one of the first step.
  const auto start_anew = [&] {
    renew_allowance();
    search_.look_for_start(true);
    const Attempt found = start_among_allowed(t, x0, h, events);
    search_.look_for_start(false);
    renew_allowance();
    return found;
  };
  const std::size_t before = events.size();
  search_.allow(possible_branches(x0, t));
  const Attempt found = start_anew();
  search_.allow({});
  if (found.status == Status::solved && events.size() == before) return found;
  events.resize(before);
  return start_anew();
}

/// The equations and the arguments of the laws at a state with rates of 0.
std::vector<double> NonlinearCapturing::rows_at(double t, const Vector& x, const Vector& lambda) {
  std::vector<double> z(static_cast<std::size_t>(step_.evaluator().inputs()));
  std::vector<double> rows(static_cast<std::size_t>(step_.n() + step_.m()));
  z[0] = t;
  std::copy(x.begin(), x.end(), z.begin() + 1 + step_.n());
  std::copy(lambda.begin(), lambda.end(), z.begin() + 1 + 2 * step_.n());
  step_.evaluator().evaluate(z.data(), rows.data());
  return rows;
}

/// Which equation has no value at x0, as of a root or a logarithm outside of its domain, or an infinite one; empty: none.
std::string NonlinearCapturing::without_value(const Vector& x0, double t) {
  const std::vector<double> rows = rows_at(t, x0, Vector::Zero(step_.m()));
  auto row = std::ranges::find_if(rows, [](double value) { return std::isnan(value); });
  const bool is_infinite = row == rows.end();
  if (is_infinite) row = std::ranges::find_if(rows, [](double value) { return std::isinf(value); });
  if (row == rows.end()) return {};
  const auto k = row - rows.begin();
  const std::string which = fmt::format("; {} {}", k < step_.n() ? "equation" : "the argument of law",
                                        k < step_.n() ? k + 1 : k - step_.n() + 1);
  if (is_infinite) return which + " is infinite at x0, beyond the range of doubles";
  return which + " has no value at x0: all terms of the equations need one there, those of both sides of an if too";
}

/// Why no step from x0 is solved.
std::string NonlinearCapturing::nothing_starts(const Vector& x0, double t) {
  const FoundSolutions found = is_smooth() ? FoundSolutions{} : consistent_states(x0, t);
  if (!found.list.empty()) return "no solution from x0 was found although it is consistent: " + message_;
  if (is_smooth() || !found.all_modes) return "no solution from x0 was found: " + message_ + without_value(x0, t);
  const double violation = violation_of_constraints(step_.laws(), constraints(x0, t));
  return fmt::format("x0 violates the constraints{}, and no jump onto them was found: {}{}",
                     violation > 0 ? fmt::format(", whose residual is {:.6g} there", violation) : "", message_,
                     without_value(x0, t));
}

/// Where rows have no values at x0, as where exponentials of a guess of algebraic variables overflow: x0 with such
/// variables that the constraints hold there, if any are found.
Vector NonlinearCapturing::with_values(const Vector& x0, double t) {
  if (std::ranges::all_of(rows_at(t, x0, Vector::Zero(step_.m())), [](double row) { return std::isfinite(row); })) return x0;
  search_.look_far(true);
  const FoundSolutions found = consistent_states(x0, t);
  search_.look_far(false);
  return found.list.empty() ? x0 : with_algebraic(x0, x0 + found.list.front().d);
}

// The rule of Capturing::start: the short step of least norm goes to a nearby state if a continuous
// solution starts at x0, and keeps its size where x0 must jump ([RAB] Propositions 5 and 6).
Attempt NonlinearCapturing::start_among_allowed(double t, const Vector& given, double h,
                                                std::vector<Event>& events) {
  start_pending_ = true;
  const Vector x0 = with_values(given, t);
  restore({t, x0, multipliers_at(step_.laws(), constraints(x0, t)), Vector::Zero(step_.m()), {}});
  begin_here();
  const auto failed = [](const Attempt& attempt) { return attempt.status != Status::solved; };
  int exponent = first_probe;
  Attempt found = probe(h, exponent);
  while (failed(found) && exponent < 0) found = probe(h, exponent += 2);
  for (int k = first_probe - 10; failed(found) && k >= shortest_probe(); k -= 10)
    found = probe(h, exponent = k);
  if (failed(found)) {  // rates may be far from 0
    search_.look_far(true);
    found = probe(h, exponent = first_probe);
    search_.look_far(false);
  }
  if (failed(found)) {
    start_pending_ = false;
    message_ = nothing_starts(x0, t);
    return found;
  }
  const bool has_limit = give_limit(t, x0, h, exponent, events);
  start_pending_ = false;
  if (!has_limit) {
    found.status = Status::not_solved;
    return found;
  }
  start_resets();
  return found;
}

/// Algebraic variables and multipliers may make a term of another size where they are 0: the smaller of the two.
Vector NonlinearCapturing::rate_terms(const Step& state) const {
  Vector x = state.x, lambda = state.lambda;
  for (Eigen::Index j = 0; j < x.size(); ++j)
    if (differential_[static_cast<std::size_t>(j)] == 0) x[j] = 0;
  for (int i = 0; i < step_.m(); ++i)
    if (!is_bounded(step_.laws()[static_cast<std::size_t>(i)])) lambda[i] = 0;
  const Vector without = step_.rate_terms(state.t, x, lambda);
  return step_.rate_terms(state.t, state.x, state.lambda).cwiseMin(without);
}

/// The state that the step of h·2^exponent from x0 leads to, and its motion E (x⁺ − x0).
std::optional<std::pair<NonlinearCapturing::State, Vector>> NonlinearCapturing::short_step(const Vector& x0, double h, int exponent) {
  if (probe(h, exponent).status != Status::solved) return std::nullopt;
  return std::pair(trial(), motion(x0, trial().x));
}

/// The motions that rates explain at the start; where x0 is known up to an error no shorter step tells of them: 0.
Vector NonlinearCapturing::explaining(const Vector& motions) const {
  return start_x_error_.size() > 0 ? Vector(Vector::Zero(motions.size())) : motions;
}

/// x0 with the algebraic variables of another state.
Vector NonlinearCapturing::with_algebraic(Vector x0, const Vector& x) const {
  for (int j = 0; j < step_.n(); ++j)
    if (is_algebraic(j)) x0[j] = x[j];
  return x0;
}

/// The columns of ∂F/∂ẋ of these variables, in this state.
Matrix NonlinearCapturing::factors_of_rates(const std::vector<int>& variables, const Vector& x) const {
  const Vector rate = last_rate_.size() > 0 ? last_rate_ : Vector(Vector::Zero(step_.n()));  // squares of rates have none at 0
  Matrix E(step_.n(), static_cast<Eigen::Index>(variables.size()));
  for (std::size_t k = 0; k < variables.size(); ++k) {
    Vector moved = Vector::Zero(step_.n());
    moved[variables[k]] = 1;
    E.col(static_cast<Eigen::Index>(k)) = step_.motion(trial().t, rate, x, current().lambda, moved);
  }
  return E;
}

/// The state that x0 gives, with the rest as in x: variables with rates are those of x0, but where rates stand in fewer
/// independent sums than there are of them (the voltage of a floating capacitor), E x0 is given and no more.
Vector NonlinearCapturing::with_given(const Vector& x0, const Vector& x) const {
  const Vector start = with_algebraic(x0, x);
  std::vector<int> rates;
  for (int j = 0; j < step_.n(); ++j)
    if (!is_algebraic(j)) rates.push_back(j);
  if (rates.size() < 2 || rates.size() > most_rates_told || !start.allFinite()) return start;
  Vector sizes = start.cwiseAbs().cwiseMax(x.cwiseAbs())(rates);
  const double largest = sizes.maxCoeff();
  if (!(largest > 0)) return start;
  sizes = (sizes.array() > 0).select(sizes, largest);
  const Matrix E = factors_of_rates(rates, start);
  RankElimination elimination;
  elimination.factorise(E, sizes, E.cwiseAbs() * sizes, same_sum);
  if (elimination.rank() == elimination.columns()) return start;
  Vector change(E.cols()), result = start;
  elimination.solve_least_norm(E * (x0 - x)(rates), change);
  result(rates) = x(rates) + change;
  return result;
}

/// A state at x0 from which a continuous solution starts: the equations have values there, its mode determines the
/// algebraic variables and the multipliers as functions of the others, and every law is inside of its branch. Of
/// several the one in the mode of `limit`, where short steps led to, else the first found. Nothing: none is known.
std::optional<NonlinearCapturing::State> NonlinearCapturing::continuous_start(const Vector& x0, double t,
                                                                              const State& limit) {
  if (!step_.laws_of_rates().empty()) return std::nullopt;  // their arguments are not known at a state
  const Vector x = with_values(with_algebraic(x0, limit.x), t);
  // At the end of a branch, or as near to it as x0 is known, no law is inside: a ball on the floor that falls has met it.
  if (has_several(possible_branches(x0, t), known_arguments())) return std::nullopt;
  step_.set_consistency(x, t);
  search_.begin_at({});  // no step leads there
  FoundSolutions found = search_.all(*limit.mode, Vector::Zero(step_.n()), limit.lambda);
  std::erase_if(found.list, [&](const ModeSolution& solution) {
    const bool is_determined = solution.simple && solution.isolated && solution.lambda_determined;
    const bool is_inside = !solution.weak && solution.also.empty();
    return !is_determined || !is_inside ||
           !std::ranges::all_of(rows_at(t, x + solution.d, solution.lambda), [](double row) { return std::isfinite(row); });
  });
  if (found.list.empty()) return std::nullopt;
  std::stable_partition(found.list.begin(), found.list.end(), [&](const ModeSolution& solution) { return solution.mode == *limit.mode; });
  const ModeSolution& best = found.list.front();
  State state = limit;
  state.x = x + best.d;
  state.lambda = best.lambda;
  state.w = best.w;
  state.mode = &*modes_.insert(best.mode).first;
  return state;
}

/// What every rate determines and no law switches is smooth: such a state may be stiff, no more.
bool NonlinearCapturing::is_smooth() const {
  return step_.m() == 0 && std::ranges::all_of(differential_, [](char has_rate) { return has_rate != 0; });
}

/// Do short steps from x0 keep a motion that is more than its rounding, and than rates explain: does the state jump?
bool NonlinearCapturing::keeps_jump(double t, const Vector& x0, double h, const Vector& rounding,
                                    const ShortSteps<State>& steps) {
  if (is_smooth()) return false;
  const State& limit = steps.limit;
  // An exponential may be far larger at x0 than behind the motion that it drives.
  const auto rates_at = [&](const Vector& x) { return rate_terms({t, x, limit.lambda, limit.w, *limit.mode}); };
  const Vector rates = h * rates_at(limit.x).cwiseMax(rates_at(with_algebraic(x0, limit.x)));
  const auto step = [&](int k) { return short_step(x0, h, k); };
  return keeps_its_size(steps, rounding.cwiseMax(jump_share * rates), explaining(rates), step);
}

/// What short steps from x0 and the constraints say of it. Where a continuous solution starts although no step is short
/// enough to show it, or the guess of algebraic variables hides it, `steps.limit` becomes its state.
NonlinearCapturing::StartVerdict NonlinearCapturing::judge_start(double t, const Vector& x0, double h, const Vector& rounding,
                                                                 ShortSteps<State>& steps) {
  State& limit = steps.limit;
  const bool jumps = keeps_jump(t, x0, h, rounding, steps);
  // Doubles near a curve are hardly ever on it: the shortest step may move x0 by its rounding.
  const auto moves_by_rounding = [&] {
    return probe(h, least_motion_probe).status == Status::solved &&
           (motion(x0, trial().x).array().abs() <= rounding.array()).all();
  };
  const bool consistent = is_consistent(x0, t) || moves_by_rounding();
  if (consistent && !jumps) return {false, true};
  if (std::optional<State> begins = continuous_start(x0, t, limit)) {
    limit = *std::move(begins);
    return {false, true};
  }
  return {jumps, consistent};
}

/// Where no continuous solution goes on from the current state, which resets wrote, as beside a constraint that holds its
/// variables with rates: the state that short steps jump to. Nothing: one goes on, or no short step is solved.
std::optional<Vector> NonlinearCapturing::jump_from_here() {
  const Vector x0 = x();
  if (is_smooth()) return std::nullopt;
  const auto step = [&](int k) { return short_step(x0, options_.h, k); };
  auto first = step(settling_probe);
  if (!first) return std::nullopt;
  ShortSteps<State> steps{std::move(first->first), {}, std::move(first->second), false, settling_probe};
  shorten(steps, step);
  const Vector rounding = gate * unit_roundoff * motion_terms(x0, steps.limit.x);
  if (!keeps_jump(t(), x0, options_.h, rounding, steps)) return std::nullopt;
  return steps.limit.x;
}

/// Makes the limit of short steps from x0 the current state and says how far it is. False: there is none.
bool NonlinearCapturing::give_limit(double t, const Vector& x0, double h, int exponent,
                                    std::vector<Event>& events) {
  const auto step = [&](int k) { return short_step(x0, h, k); };
  ShortSteps<State> steps{trial(), {}, motion(x0, trial().x), false, exponent};
  shorten(steps, step);
  State& limit = steps.limit;
  keep_rate(limit);
  linearise_trial();
  const double distance = step_.norm(limit.x - x0);
  const Vector rounding = gate * unit_roundoff * motion_terms(x0, limit.x);
  const auto [jumps, consistent] = judge_start(t, x0, h, rounding, steps);
  if ((jumps || !consistent) && keep_growing(steps, rounding, step)) {
    message_ = growing_start_text(violation_of_constraints(step_.laws(), *limit.mode, limit.lambda, constraints(x0, t)));
    return false;
  }
  // A differential variable starts as given; what x0 leaves open is the limit from the right.
  Vector x = with_given(x0, limit.x);
  const bool is_whole = x == with_algebraic(x0, limit.x);
  if (Vector own = x0; !solve_constraints(step_, newton_, t, *limit.mode, x, limit.lambda, limit.w) && is_whole &&
                       solve_constraints(step_, newton_, t, *limit.mode, own, limit.lambda, limit.w))
    x = own;
  if (jumps || !consistent) {
    const double violation =
        violation_of_constraints(step_.laws(), *limit.mode, limit.lambda, constraints(x, t));
    events.push_back(start_event(t, x0, limit.x, consistent, distance, violation));
  }
  restore({t, x, limit.lambda, limit.w, *limit.mode});
  begin_here();
  return true;
}

/// Where no step led to the present state a rate of 0 was the guess: the last one is another, where that has led
/// nowhere.
void NonlinearCapturing::search_from_last_rate(double h, const Mode& present, const ModeSolution* own,
                                               FoundSolutions& found) {
  if (!found.list.empty() || current().h > 0 || last_rate_.size() == 0) return;
  found = search_.all(present, h * last_rate_, current().lambda);
  keep_own_branch(own, found);
}

/// Algebraic variables and multipliers that are small beside what they depend on have the rounding of their equations.
void NonlinearCapturing::add_errors_of_constraints(ResetWatch::Errors& errors) {
  Step state = snapshot();
  if (!solve_constraints(step_, newton_, state.t, state.mode, state.x, state.lambda, state.w)) return;
  Vector of_x = Vector::Zero(step_.n()), of_lambda = Vector::Zero(step_.m());
  newton_.errors(of_x, of_lambda);
  const auto add = [](double error, double& to) {
    if (std::isfinite(error)) to = std::max(to, gate * error);
  };
  for (int j = 0; j < step_.n(); ++j)
    if (is_algebraic(j)) add(of_x[j], errors.x[j]);
  for (int i = 0; i < step_.m(); ++i) add(of_lambda[i], errors.lambda[i]);
}

}  // namespace perp
