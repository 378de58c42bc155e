#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/memory.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {
namespace {

constexpr std::size_t kept_caches = 8;       ///< step lengths whose maps are kept
constexpr const char* default_solver = "lemke";
constexpr const char* newton_min = "newton_min";  ///< where solutions are unique: from the present mode

void check(const Theta& options) {
  check_h(options.h);
  check_theta(options.theta);
  check_tolerance(options.tol);
  check_refinements(options.refinements);
}

}  // namespace

Capturing::Capturing(const Lcs& lcs, const Theta& options) : Capturing(sparse(lcs), options) {}

Capturing::Capturing(SparseLcs lcs, const Theta& options)
    : equations_(lcs, options.theta),
      has_rate_(at(lcs.n()), 0),
      options_(options),
      memory_(memory_at_start(lcs.laws)),
      solver_(options.solver.empty() ? default_solver : options.solver) {
  check(options);
  active_ = &equations_;
  has_many_modes_ = ModeCache::has_many_modes(equations_.laws());
  for (int i = 0; i < lcs.n(); ++i)
    for (const auto& [column, entry] : lcs.E.row(i)) has_rate_[at(column)] = 1;
  if (options.theta < 1) first_.emplace(std::move(lcs), 1);
  for (const int j : equations_.state()) reads_algebraic_ = reads_algebraic_ || is_algebraic(j);
  solver(solver_);  // throws for an unknown name now, not in the middle of a run
  for (State& state : states_) {
    state.mode = &*modes_.insert(Mode{}).first;
    state.x = Vector::Zero(equations_.n());
    state.lambda = Vector::Zero(equations_.m());
    state.w = Vector::Zero(equations_.m());
    state.parameter.assign(static_cast<std::size_t>(equations_.parameters()), 0.0);
  }
}

/// Of another length, or anew where those of the last one have become too many.
ModeCache& Capturing::other_cache(double h) {
  if (h == h_ && cache_equations_ == active_) retire(caches_.begin());
  const auto known = std::find_if(caches_.begin(), caches_.end(), [&](const Entry& e) {
    return e.h == h && e.equations == active_;
  });
  if (known != caches_.end())
    caches_.splice(caches_.begin(), caches_, known);
  else
    new_cache(h);
  h_ = h;
  cache_equations_ = active_;
  cache_ = caches_.front().cache.get();
  return *cache_;
}

void Capturing::retire(std::list<Entry>::iterator entry) {
  for (State& state : states_)
    if (state.cache == entry->cache.get()) detach(state);
  retired_factorisations_ += entry->cache->factorisations();
  retired_exact_signs_ += entry->cache->exact_signs();
  caches_.erase(entry);
}

ModeCache& Capturing::new_cache(double h) {
  if (caches_.size() == kept_caches) retire(std::prev(caches_.end()));
  caches_.push_front({h, active_, std::make_unique<ModeCache>(active_->family(h))});
  return *caches_.front().cache;
}

/// The state with all of its x: variables that the next step does not read are computed when they
/// are asked for.
const Capturing::State& Capturing::completed(const State& state) const {
  if (!state.x_known) state.cache->map(state.map).u(state.parameter.data(), state.x.data());
  state.x_known = true;
  return state;
}

void Capturing::compute_outputs(State& state) const {
  completed(state);
  if (state.outputs_known) return;
  const ModeMap& map = state.cache->map(state.map);
  map.lambda(state.parameter.data(), state.lambda.data());
  map.w(state.parameter.data(), state.w.data());
  state.outputs_known = true;
}

void Capturing::detach(State& state) const {
  if (state.map >= 0) compute_outputs(state);
  state.map = -1;
  state.cache = nullptr;
}

const Vector& Capturing::lambda() {
  compute_outputs(current());
  return current().lambda;
}

const Vector& Capturing::w() {
  compute_outputs(current());
  return current().w;
}

Attempt Capturing::attempt_by_maps(double h, bool was_asked_once) {
  ModeCache& maps = cache(h);
  if (options_.selector == Selector::first && !start_pending_) return attempt_first(maps);
  const int present = present_map(maps);
  maps.prepare(present);
  const bool stays = stays_in(maps, present);
  if (stays && options_.selector == Selector::keep_mode) return keep(maps, present);
  if (has_one_solution(h))
    if (const std::optional<Attempt> attempt = attempt_at_one(maps, present, stays, was_asked_once)) return *attempt;
  return attempt_by_choice(maps, present, stays);
}

/// Where a step has one solution the present mode has no rivals, and another one is asked for at the point first.
std::optional<Attempt> Capturing::attempt_at_one(ModeCache& maps, int present, bool stays, bool was_asked_once) {
  if (stays) return take(maps, {Status::solved, present, nan, 1, 0});
  return was_asked_once ? std::nullopt : attempt_once(h_);
}

/// What the solver finds first. It knows nothing of memory: where a law with memory has left its branch, all
/// solutions are asked for and those count that keep the most of these branches.
Attempt Capturing::attempt_first(ModeCache& maps) {
  const Attempt attempt = attempt_by_solver(maps, solver_.c_str());
  if (attempt.status != Status::solved || memory_.empty() ||
      memory_changes(equations_.laws(), *trial().mode, mode()) == 0)
    return attempt;
  return attempt_by_enumeration(maps);
}

/// -1: none. At the start no mode is present, but laws with memory have branches to start in.
int Capturing::present_map(ModeCache& maps) {
  if (start_pending_) return memory_.empty() ? -1 : maps.find(memory_);
  const State& now = current();
  return now.cache == &maps && now.map >= 0 ? now.map : maps.find(*now.mode, was_met_often(h_));
}

/// Does the step that is tried have a solution in the mode of this map, which is present?
bool Capturing::stays_in(ModeCache& maps, int present) {
  return !start_pending_ && present >= 0 && maps.admissible(present, trial().parameter.data());
}

/// The solution that is nearest, of all modes where the present one does not stay.
Attempt Capturing::attempt_by_choice(ModeCache& maps, int present, bool stays) {
  const double* parameter = trial().parameter.data();
  const ModeCache::Choice choice =
      stays ? maps.nearest_from(present, parameter, modes_left(maps)) : nearest_of_all(maps, present);
  if (choice.status == Status::solved) return take(maps, choice);
  if (choice.status == Status::no_solution)
    return unsolved(choice.status, "no mode has a solution");
  // Too many modes for a table, or a continuum is possible. Which certificate tells of one solution does not matter.
  if (maps.is_unique()) return attempt_unique(maps, present);
  if (has_one_solution(h_))
    if (const Attempt attempt = attempt_unique(maps, present); attempt.status == Status::solved) return attempt;
  return attempt_by_enumeration(maps);
}

/// The only solution there may be, from the present mode on: of large systems, whose modes have no maps in time, at the point;
/// of others by maps first. If these do not find it, by full matrices.
Attempt Capturing::attempt_unique(ModeCache& maps, int present) {
  const int found = is_large() ? -1 : maps.exchange(trial().parameter.data(), present);
  if (found >= 0) return take(maps, {Status::solved, found, nan, 1, 0});
  if (once().is_usable())
    if (const std::optional<Attempt> attempt = solve_once(h_, true, true)) return *attempt;
  return attempt_by_solver(maps, newton_min);
}

Attempt Capturing::attempt_in(const Mode& mode, const Vector& /*x*/, const Vector& /*lambda*/,
                              double t_next, double h) {
  const bool changes = mode != this->mode();
  const bool is_first = first_ && (current().is_fresh || (changes && begins_anew(mode)));
  active_ = is_first ? &*first_ : &equations_;
  ModeCache& maps = cache(h);
  State& next = trial();
  active_->parameter(current().x, current().t, t_next, next.parameter.data());
  next.t = t_next;
  next.is_point = false;
  next.is_fresh = is_first && is_fresh_behind(mode, changes);
  const int map = maps.find(mode);
  if (map < 0 || !maps.admissible(map, next.parameter.data()))
    return unsolved(Status::not_solved, "the mode has no solution");
  return take(maps, {Status::solved, map, nan, 0, 0});
}

// Several modes may describe the same solutions: the one that changes the fewest laws names them.
const Mode* Capturing::closest(const std::vector<Mode>& modes, const Mode& to) {
  const auto changes = [&](const Mode& mode) {
    int sum = 0;
    for (std::size_t i = 0; i < mode.size() && i < to.size(); ++i) sum += mode[i] != to[i];
    return sum;
  };
  const Mode* best = &modes.front();
  for (const Mode& mode : modes)
    if (std::pair(changes(mode), mode) < std::pair(changes(*best), *best)) best = &mode;
  return &*modes_.insert(*best).first;
}

Attempt Capturing::unsolved(Status status, std::string why) {
  message_ = std::move(why);
  return {status, false, 0, 0};
}

Attempt Capturing::keep(ModeCache& maps, int map) {
  State& next = trial();
  next.mode = current().mode;
  next.cache = &maps;
  next.map = map;
  next.outputs_known = false;
  const ModeMap& solved = maps.map(map);
  const double* parameter = next.parameter.data();
  next.x_known = !solved.is_finite(parameter);  // what can overflow is looked at as a whole
  if (next.x_known) {
    solved.u(parameter, next.x.data());
    if (!next.x.allFinite()) return unsolved(Status::not_solved, "the state is not finite");
  } else {
    solved.u(equations_.state(), parameter, next.x.data());
  }
  return {Status::solved, true, 0, 0};
}

Attempt Capturing::take(ModeCache& maps, const ModeCache::Choice& choice) {
  const State& now = current();
  Attempt attempt = keep(maps, choice.map);
  attempt.solutions = choice.solutions;
  attempt.ties = choice.ties;
  const bool known = now.cache == &maps && now.map >= 0;
  const int present = known || start_pending_ ? now.map : maps.find(*now.mode);
  attempt.kept_mode = !start_pending_ && present == choice.map;
  if (!attempt.kept_mode) trial().mode = closest(maps.map(choice.map).modes(), *now.mode);
  return attempt;
}

// What a solver found in a regular mode is computed again from the mode's map; of other modes the
// point itself must satisfy its equations and laws.
Attempt Capturing::take(ModeCache& maps, Solution solution, int solutions, int ties) {
  State& next = trial();
  const int map = maps.find(solution.mode);
  if (map >= 0 && maps.admissible(map, next.parameter.data()))
    return take(maps, {Status::solved, map, nan, solutions, ties});
  const double residual =
      residual_in_roundings(maps.family(), next.parameter.data(), solution);
  if (!(residual <= most_rounding))
    return unsolved(Status::not_solved,
                    fmt::format("the point that was found misses its equations by {:.3g} times "
                                "their rounding",
                                residual));
  next.x = solution.u;
  next.x_known = true;
  next.lambda = solution.lambda;
  next.w = solution.w;
  next.outputs_known = true;
  next.cache = &maps;
  next.map = -1;
  const bool kept = !start_pending_ && mode() == solution.mode;
  next.mode = kept ? current().mode : &*modes_.insert(solution.mode).first;
  return {Status::solved, kept, solutions, ties};
}

Attempt Capturing::attempt_by_enumeration(ModeCache& maps) {
  ++enumerated_;
  const State& now = current();
  problem_ = active_->problem(x(), now.t, trial().t, h_);
  SolutionSet set = enumerate(problem_, {.max_nodes = account_.nodes()});
  if (!set.complete) {
    account_.take();
    if (!is_too_large())  // of those it was asked for before
      if (const std::optional<Attempt> found = attempt_one_found(h_)) return *found;
    ++not_enumerated_;
    const Attempt attempt = attempt_by_solver(maps, solver_.c_str());
    message_ += " (" + set.certificate + ")";
    return attempt;
  }
  const int solutions =
      multiplicity_of_u(set) == Multiplicity::continuum
          ? -1
          : static_cast<int>(std::min<long>(count_of_u(set), std::numeric_limits<int>::max()));
  const Mode present = start_pending_ ? memory_ : mode();
  respect_memory(set, equations_.laws(), present);
  const Norm norm = equations_.norm(x(), problem_.p());
  const Nearest choice = nearest(problem_, set, norm, present.empty() ? nullptr : &present);
  if (choice.status == Status::no_solution)
    return unsolved(choice.status, "the step has no solution");
  if (choice.status != Status::solved) return unsolved(choice.status, choice.message);
  return take(maps, of_state(choice.minimisers.front(), equations_.n()), solutions,
              static_cast<int>(choice.minimisers.size()) - 1);
}

Attempt Capturing::attempt_by_solver(ModeCache& maps, const char* name) {
  ++solver_calls_;
  problem_ = maps.family().base;
  instantiate(maps.family(), trial().parameter.data(), problem_);
  SolveOptions solve_options;
  solve_options.tol = options_.tol;
  if (!mode().empty()) solve_options.present = &mode();
  SolveResult result = solve(solver(name), problem_, solve_options);
  if (result.status == Status::not_solved && name != solver_)
    result = solve(solver(solver_), problem_, solve_options);
  if (result.status != Status::solved)
    return unsolved(result.status, fmt::format("solver {}: {}", name, result.message));
  return take(maps, result.solution, 0, 0);
}

/// Of systems with many laws: modes that no state refers to any more.
void Capturing::forget_modes() {
  constexpr std::size_t most_modes = 16;
  if (!is_large() || modes_.size() <= most_modes) return;
  std::set<const Mode*> used;
  for (const State& state : states_) used.insert(state.mode);
  for (const Answer& answer : answers_) used.insert({answer.present, answer.state.mode});
  std::erase_if(modes_, [&](const Mode& mode) { return !used.contains(&mode); });
}

void Capturing::accept() {
  forget_modes();
  account_.add_step();
  const int oldest = previous_;
  previous_ = now_;
  now_ = trial_;
  trial_ = oldest;
  if (!current().is_fresh) return;
  fresh_.add(x());
  const State& before = states_[static_cast<std::size_t>(previous_)];
  if (std::isnan(first_order_.since) && before.mode == current().mode && exceeds_index(mode()))
    first_order_ = first_order_since(before.t, equations_.laws(), mode(), *index(mode()));
}

void Capturing::restore(const Step& state) {
  State& now = current();
  now.t = state.t;
  now.x = state.x;
  now.x_known = true;
  now.lambda = state.lambda;
  now.w = state.w;
  const auto known = std::ranges::find_if(states_, [&](const State& other) { return *other.mode == state.mode; });
  now.mode = known != states_.end() ? known->mode : &*modes_.insert(state.mode).first;
  now.map = -1;
  now.cache = nullptr;
  now.outputs_known = true;
  now.is_point = false;
  now.is_fresh = first_ && (fresh_.contains(state.x) || exceeds_index(state.mode));
}

void Capturing::count(Counts& counts) const {
  long factorisations = retired_factorisations_, exact_signs = retired_exact_signs_;
  for (const Entry& entry : caches_) {
    factorisations += entry.cache->factorisations();
    exact_signs += entry.cache->exact_signs();
  }
  for (const Once& own : once_) {
    if (own.step) factorisations += own.step->factorisations();
    if (own.grid) own.grid->add_to(counts);
    if (own.line && *own.line) (*own.line)->add_to(counts);
  }
  counts["factorisations"] += factorisations;
  counts["enumerated_steps"] += enumerated_;
  counts["solver_calls"] += solver_calls_;
  if (beside_grid_ > 0) counts["beside_grid"] += beside_grid_;
  if (not_enumerated_ > 0) counts["not_enumerated"] += not_enumerated_;
  if (exact_signs > 0) counts["resolved_exactly"] += exact_signs;
}

/// A step to a state that no double holds has none.
Attempt Capturing::if_finite(const Attempt& attempt) {
  const bool is_held = attempt.status != Status::solved || !trial().is_point || trial().x.allFinite();
  return is_held ? attempt : unsolved(Status::not_solved, "the state is not finite");
}

/// Of a system that is too large for all methods but the active set.
std::string Capturing::why_no_method() {
  constexpr double gibibytes = sizeof(double) / double(1 << 30);
  const int unknowns = equations_.n() + equations_.m();
  const double numbers = once().step ? once().step->numbers() : 0;  // of a grid there are none
  if (numbers <= PointStep::most_numbers)
    return fmt::format("the active set method found no solution, and systems of {} unknowns have no other method", unknowns);
  return fmt::format("the factors of a step of {} unknowns would fill {:.3g} GiB, of which at most {:.3g} are kept; expected fewer "
                     "unknowns or fewer couplings between distant ones, as a chain, a tree or a plane grid has",
                     unknowns, numbers * gibibytes, PointStep::most_numbers * gibibytes);
}

}  // namespace perp
