// Steps of Capturing that keep their mode, made at once. What a step moves and which branches end on its way: what the
// safeguard of a change of mode asks.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {
namespace {

const std::vector<PointStep::Margin> none;

/// Distance of (w, λ) from the end of the branch that a margin watches.
double slack(const ModeMap::Margin& margin, const Branch& branch, double w, double lambda) {
  const double value = margin.of_lambda ? lambda : w;
  const Range range = margin.of_lambda ? branch.lambda : w_range(branch);
  return margin.upper ? range.upper - value : value - range.lower;
}

/// The first departure of each law, in the order in which they are met.
class FirstDepartures {
 public:
  explicit FirstDepartures(std::size_t laws) : place_(laws, -1) {}

  void add(int law, double s) {
    int& place = place_[at(law)];
    if (place < 0) {
      place = static_cast<int>(list_.size());
      list_.push_back({law, s});
    }
    list_[at(place)].s = std::min(list_[at(place)].s, s);
  }
  /// Where a margin that gets smaller from `start` on would be 0.
  void approach(int law, double start, double end) {
    if (start > 0 && end < start) add(law, start / (start - end));
  }
  [[nodiscard]] std::vector<Scheme::Departure> take() { return std::move(list_); }

 private:
  std::vector<int> place_;  // in the list, of each law; -1: none
  std::vector<Scheme::Departure> list_;
};

/// Need steps with these options no look at all modes as long as the present one goes on?
bool may_stay(Selector selector, bool has_many_modes) {
  return selector == Selector::keep_mode || (selector == Selector::minimal_norm && !has_many_modes);
}

/// Does the present mode go on with this parameter, beyond doubt and, where it may have rivals, as the nearest? Such are
/// counted.
bool goes_on(ModeCache& maps, int present, const double* parameter, bool may_have_rivals, Stay& stay) {
  const ModeMap& map = maps.map(present);
  if (!map.admissible(parameter) || !map.is_finite(parameter)) return false;
  if (!may_have_rivals) return true;
  const ModeCache::Choice nearest = maps.nearest_from(present, parameter);
  if (nearest.status != Status::solved || nearest.map != present) return false;
  stay.several += nearest.solutions > 1;
  stay.ties += nearest.ties > 0;
  return true;
}

}  // namespace

/// The steps from number k on as one of the numbers that the next one reads, all but the last two of which no state is left:
/// how many. The rest of a state is that of the mode.
long Capturing::repeat(const ModeMap& map, const UniformSteps& steps, long k) {
  const std::vector<int>& state = equations_.state();
  if (equations_.parameters() != static_cast<int>(state.size())) return 0;
  std::vector<double>& ring = ring_;
  const std::size_t size = state.size();
  ring.resize(4 * size);
  for (std::size_t j = 0; j < size; ++j) ring[j] = current().x[state[j]];
  const long made = map.repeat(state, steps.last - k + 1, ring.data()) - kept_of_repeated;
  if (made < 1) return 0;
  const auto of_step = [&](long i) { return ring.data() + static_cast<std::size_t>(i & 3) * size; };
  end_repeated({steps.from, steps.h, k, steps.last}, made, of_step(made - 1), of_step(made));
  return made;
}

void Capturing::end_repeated(const UniformSteps& steps, long made, const double* before, const double* after) {
  const std::vector<int>& state = equations_.state();
  State& now = current();
  std::copy_n(before, state.size(), now.parameter.begin());
  for (std::size_t j = 0; j < state.size(); ++j) now.x[state[j]] = after[j];
  now.t = steps.end(steps.first + made - 1);
  now.outputs_known = now.x_known = now.is_point = false;
}

std::optional<Capturing::Repeated> Capturing::repeated(double h) {
  ModeCache* const maps = maps_to_stay(h);
  if (maps == nullptr || equations_.parameters() != static_cast<int>(equations_.state().size())) return std::nullopt;
  const bool may_have_rivals = options_.selector != Selector::keep_mode && !has_one_solution(h);
  if (may_have_rivals && !maps->is_known_alone(current().map)) return std::nullopt;
  return Repeated{&maps->map(current().map), &equations_.state()};
}

/// The maps of steps from the present state, which is of one of them, that may be made at once; null: they may not.
ModeCache* Capturing::maps_to_stay(double h) {
  if (current().is_fresh || is_large() || !may_stay(options_.selector, has_many_modes_)) return nullptr;
  active_ = &equations_;
  ModeCache& maps = cache(h);
  return current().cache == &maps && current().map >= 0 ? &maps : nullptr;
}

/// One step to t_next if the present mode goes on, and its state as the next of `states`, unless that is null; false: it is
/// not taken.
bool Capturing::stay_once(ModeCache& maps, double t_next, bool may_have_rivals, Stay& made, IntegrateOptions::StepsInMode* states) {
  State& next = trial();
  const int present = current().map;
  next.t = t_next;
  equations_.parameter(current().x, current().t, next.t, next.parameter.data());
  if (!goes_on(maps, present, next.parameter.data(), may_have_rivals, made)) return false;
  put_in_mode(maps, present, states != nullptr);
  if (states != nullptr) put_state(maps.map(present), made.steps, *states);
  accept();
  return true;
}

// What is close to a margin, not finite, or a step of another length is left to `attempt`.
Stay Capturing::stay(const UniformSteps& steps, IntegrateOptions::StepsInMode* states) {
  Stay made;
  ModeCache* const maps = maps_to_stay(steps.h);
  if (maps == nullptr) return made;
  const bool may_have_rivals = options_.selector != Selector::keep_mode && !has_one_solution(steps.h);
  const auto make_room = [&](long count) {
    if (states != nullptr) states->resize(at(count), equations_.n(), equations_.m());
  };
  make_room(steps.last - steps.first + 1);
  bool may_repeat = states == nullptr;
  for (long k = steps.first; k <= steps.last; ++k, ++made.steps) {
    const int present = current().map;
    if (may_repeat && (!may_have_rivals || maps->is_known_alone(present))) {
      may_repeat = false;
      const long repeated = repeat(maps->map(present), steps, k);
      k += repeated, made.steps += repeated;
    }
    if (!stay_once(*maps, steps.end(k), may_have_rivals, made, states)) break;
  }
  make_room(made.steps);
  return made;
}

/// The step that is tried ends in the present mode, by this map of it, with all of its variables or those that steps read.
void Capturing::put_in_mode(ModeCache& maps, int present, bool is_whole) {
  State& next = trial();
  const double* parameter = next.parameter.data();
  if (is_whole)
    maps.map(present).u(parameter, next.x.data());
  else
    maps.map(present).u(equations_.state(), parameter, next.x.data());
  next.mode = current().mode;
  next.cache = &maps;
  next.map = present;
  next.x_known = is_whole;
  next.outputs_known = next.is_fresh = next.is_point = false;
}

/// The state at the end of that step is the k-th of these.
void Capturing::put_state(const ModeMap& map, long k, IntegrateOptions::StepsInMode& states) const {
  const State& next = trial();
  const double* parameter = next.parameter.data();
  states.times[at(k)] = next.t;
  std::copy(next.x.begin(), next.x.end(), states.x.begin() + k * equations_.n());
  map.lambda(parameter, states.lambda.data() + k * equations_.m());
  map.w(parameter, states.w.data() + k * equations_.m());
}

double Capturing::attempted_norm() const { return motion(x(), attempted()).norm(); }

Vector Capturing::motion(const Vector& a, const Vector& b) const {
  return equations_.given_E().times_difference(a, b);
}

Vector Capturing::motion_terms(const Vector& a, const Vector& b) const {
  return equations_.given_E().sizes_times(a.cwiseAbs() + b.cwiseAbs());
}

// Every x is an ulp or two from the solution of its step; the sums of n terms add theirs.
Vector Capturing::motion_rounding(const Vector& a, const Vector& b) const {
  const double each = (equations_.n() + 4) * std::numeric_limits<double>::epsilon();
  return each * motion_terms(a, b);
}

// A variable that is small beside those it depends on has their rounding: the bound of its map.
Vector Capturing::drift(const Vector& sizes, long steps) const {
  const linear::SparseMatrix& E = equations_.given_E();
  Vector each = (equations_.n() + 4) * std::numeric_limits<double>::epsilon() * E.sizes_times(sizes);
  Vector of_map(equations_.n());
  for (const State& state : states_) {
    if (state.is_point) each = each.cwiseMax(E.sizes_times(state.rounding));
    if (state.map < 0 || state.cache == nullptr) continue;
    const ModeMap& map = state.cache->map(state.map);
    for (int j = 0; j < equations_.n(); ++j)
      of_map[j] = map.u_rounding(j, state.parameter.data());
    each = each.cwiseMax(E.sizes_times(of_map));
  }
  each *= static_cast<double>(std::max(steps, 1L));
  return each;
}

/// That of the mode's map at the parameters of the step.
Vector Capturing::rounding() {
  const State& now = current();
  if (now.is_point) return now.rounding;
  if (now.cache == nullptr || now.map < 0) return Scheme::rounding();
  const ModeMap& map = now.cache->map(now.map);
  Vector bounds(equations_.n());
  for (int j = 0; j < equations_.n(); ++j) bounds[j] = map.u_rounding(j, now.parameter.data());
  return bounds;
}

/// Along the last accepted step a margin of a mode goes from its value at the last state, which it
/// returns, to the one at the end.
double Capturing::margin_before(const ModeMap& map, int i) {
  State& before = states_[static_cast<std::size_t>(previous_)];
  const State& now = current();
  const ModeMap::Margin& margin = map.margins()[static_cast<std::size_t>(i)];
  const auto law = static_cast<std::size_t>(margin.law);
  double start = 0;
  if (before.cache == now.cache && before.map >= 0 && &now.cache->map(before.map) == &map) {
    start = map.margin(i, before.parameter.data());
  } else if (!margin.combined) {
    return std::max(0.0, slack_before(margin, map.modes().front()[law]));
  }
  return std::max(0.0, start);
}

double Capturing::slack_before(const ModeMap::Margin& margin, int branch) {
  const State& before = states_[static_cast<std::size_t>(previous_)];
  compute_outputs(states_[static_cast<std::size_t>(previous_)]);
  const Law& law = equations_.laws()[static_cast<std::size_t>(margin.law)];
  return slack(margin, law.branches[static_cast<std::size_t>(branch)], before.w[margin.law], before.lambda[margin.law]);
}

/// Of a step at a point in this mode.
double Capturing::margin_before(const PointStep::Margin& margin, const Mode& mode) {
  const auto slack_of = [&](const ModeMap::Margin& end) {
    return slack_before(end, mode[static_cast<std::size_t>(end.law)]);
  };
  const double with = margin.share_with == 0 ? 0 : margin.share_with * slack_of(margin.with);
  return std::max(0.0, margin.share * slack_of(margin.end) + with);
}

std::vector<Scheme::Departure> Capturing::departures() {
  State& before = states_[static_cast<std::size_t>(previous_)];
  const State& now = current();
  FirstDepartures list(equations_.laws().size());
  for (const PointStep::Margin& margin : now.is_point ? now.ends : none)
    if (margin.is_beyond) {
      const double start = margin_before(margin, *before.mode);
      list.add(margin.end.law, start / (start - margin.value));
    }
  if (now.cache == nullptr) return list.take();
  compute_outputs(before);
  const int old = now.cache->find(*before.mode);
  if (old < 0) return list.take();
  const ModeMap& map = now.cache->map(old);
  for (int i = 0; i < static_cast<int>(map.margins().size()); ++i) {
    if (map.verdict(i, now.parameter.data()) != ModeMap::Verdict::negative) continue;
    const double start = margin_before(map, i), end = map.margin(i, now.parameter.data());
    list.add(map.margins()[static_cast<std::size_t>(i)].law, start / (start - end));
  }
  return list.take();
}

bool Capturing::leaves_at_end() {
  const State& now = current();
  const int old = now.cache == nullptr ? -1 : now.cache->find(*states_[static_cast<std::size_t>(previous_)].mode);
  if (old < 0) return false;
  std::vector<int> beyond;
  add_laws_beyond_end(now.cache->map(old), beyond);
  return !beyond.empty();
}

/// The laws one of whose margins in this map is below 0 at the current state.
void Capturing::add_laws_beyond_end(const ModeMap& map, std::vector<int>& list) const {
  for (int i = 0; i < static_cast<int>(map.margins().size()); ++i)
    if (map.margin(i, current().parameter.data()) < 0) list.push_back(map.margins()[at(i)].law);
}

bool Capturing::argument_jumps(int i) const {
  const SparseLcs& lcs = equations_.system();
  return !lcs.D.row(i).empty() ||
         std::ranges::any_of(lcs.C.row(i), [this](const auto& entry) { return is_algebraic(entry.column); });
}

std::vector<Scheme::Departure> Capturing::approaches() {
  const State& now = current();
  FirstDepartures list(equations_.laws().size());
  for (const PointStep::Margin& margin : now.is_point ? now.ends : none)
    list.approach(margin.end.law, margin_before(margin, *now.mode), margin.value);
  if (now.cache == nullptr || now.map < 0) return list.take();
  const ModeMap& map = now.cache->map(now.map);
  for (int i = 0; i < static_cast<int>(map.margins().size()); ++i) {
    const double start = margin_before(map, i);
    const double end = map.margin(i, now.parameter.data());
    list.approach(map.margins()[static_cast<std::size_t>(i)].law, start, end);
  }
  return list.take();
}

void Capturing::interpolate(double s, Vector& x) const {
  x = (1 - s) * completed(states_[static_cast<std::size_t>(previous_)]).x + s * this->x();
}

std::vector<std::pair<Mode, double>> Capturing::violations(double h) {
  if (is_too_large()) return {};
  active_ = first_ ? &*first_ : &equations_;
  ModeCache& maps = cache(h);
  active_->parameter(current().x, current().t, current().t + h, trial().parameter.data());
  return maps.violations(trial().parameter.data());
}

std::vector<int> Capturing::laws_beyond_end() {
  const State& now = current();
  std::vector<int> list;
  for (const PointStep::Margin& margin : now.is_point ? now.ends : none)
    if (margin.value < 0) list.push_back(margin.end.law);
  if (now.cache != nullptr && now.map >= 0) add_laws_beyond_end(now.cache->map(now.map), list);
  return list;
}

}  // namespace perp
