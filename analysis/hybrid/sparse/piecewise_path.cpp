// Where binaries change within a step: lines between the changes, and only what follows from a change again.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <perp/analysis/hybrid/sparse/piecewise_path.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>

namespace perp {
namespace {

constexpr double surface_in_errors =
    0x1p14;  ///< constraints that are 0 up to this many errors are on their surface
constexpr int most_secants = 80;
constexpr double one_share = 0x1p-40;  ///< of a step: moments that are no further apart are one

}  // namespace

PiecewisePath::PiecewisePath(const HybridModel& model, const HybridStructure& structure, ConeTape rows,
                             const std::vector<char>& needs_more)
    : model_(model),
      structure_(structure),
      rates_(model, structure, std::move(rows)),
      n_(model.n()),
      equations_(static_cast<int>(model.f.size())),
      constraints_(static_cast<int>(model.g.size())),
      watches_(needs_more.size()),
      point_(at(model.parameter_input(0)), 0),
      written_(point_.size()),
      places_(at(model.n())),
      has_flipped_(at(model.q()), 0),
      used_(at(model.n() + model.q()), -1),
      choice_(model, structure, rates_) {
  for (int l = 0; l < constraints_; ++l) {
    watches_[at(l)].block = structure.block_of_row[at(equations_ + l)];
    watches_[at(l)].needs_more = needs_more[at(l)] != 0;
  }
}

void PiecewisePath::begin(double t, double h, const Vector& x, const std::vector<int>& z, const Vector& constraints) {
  t_ = t;
  h_ = h;
  x_ = x.data();
  z_before_ = z.data();
  slides_ = false;
  start_ = constraints.size() > 0 ? constraints.data() : nullptr;
  for (const int i : flipped_) has_flipped_[at(i)] = 0;
  flipped_.clear();
  if (z_ != z) {  // where the last path has ended they stand in the point
    z_ = z;
    for (int i = 0; i < model_.q(); ++i) point_[at(model_.binary_input(i))] = z[at(i)];
  }
  keep_room(changes_);
  keep_room(before_);
}

/// Of changes that are over.
void PiecewisePath::keep_room(std::vector<PathChange>& changes) {
  std::move(changes.begin(), changes.end(), std::back_inserter(room_));
  changes.clear();
}

double PiecewisePath::position(int state, double s) const {
  const Place& place = places_[at(state)];
  return place.is_known ? place.x + (s - place.s) * rate(state) : x_[state] + s * rate(state);
}

double PiecewisePath::constraint(int l, double s) {
  const int row = equations_ + l;
  point_[0] = t_ + s;
  for (const int state : rates_.states_of_row(row)) point_[at(model_.variable_input(state))] = position(state, s);
  return rates_.row(row, point_);
}

double PiecewisePath::surface(int l) const { return surface_in_errors * errors_[l]; }

bool PiecewisePath::follow(const End& end) {
  rewind(end);
  if (!turn_back()) return false;
  find_crossings();
  while (!queue_.empty() && !is_open_) {
    const Crossing first = queue_.top();
    queue_.pop();
    if (first.version != watches_[at(first.constraint)].version) continue;
    watches_[at(first.constraint)].pending = inf;
    check_interruption();
    if (!pass(first)) return false;
  }
  return !is_open_;
}

/// Inputs at the end: of large models only those that differ from the path before.
void PiecewisePath::take_end(const End& end) {
  if (end.changed == nullptr) {
    now_ = end.point;
  } else {
    for (const int k : written_.numbers()) now_[at(k)] = end.point[at(k)];
    for (const int k : end.changed->numbers()) now_[at(k)] = end.point[at(k)];
  }
  written_.clear();
}

void PiecewisePath::set_binary(int i, int z) {
  const int input = model_.binary_input(i);
  now_[at(input)] = point_[at(input)] = z_[at(i)] = z;
  written_.add(input);
}

/// Of the sub-problems that follow from a change.
template <class Visit>
void PiecewisePath::for_unknowns(const Visit& visit) const {
  for (const int block : blocks_)
    for (const int unknown : rates_.unknowns_of(block)) visit(unknown);
}

/// Solves these.
bool PiecewisePath::solve_followers() {
  for_unknowns([&](int unknown) { written_.add(static_cast<int>(rates_.input_of(unknown))); });
  return rates_.solve(blocks_, now_);
}

void PiecewisePath::rewind(const End& end) {
  take_end(end);
  errors_ = end.errors;
  at_end_ = end.constraints;
  for (const int state : moved_) places_[at(state)] = {};
  moved_.clear();
  for (const int l : touched_) watches_[at(l)].is_touched = false;
  touched_.clear();
  is_open_ = slides_ = false;
  for (; !queue_.empty(); queue_.pop()) watches_[at(queue_.top().constraint)].pending = inf;
  std::swap(before_, changes_);
  const auto is_earlier = [](const PathChange& a, const PathChange& b) { return a.share < b.share; };
  if (!std::is_sorted(before_.begin(), before_.end(), is_earlier))  // `retime` lets them pass each other
    std::stable_sort(before_.begin(), before_.end(), is_earlier);
  keep_room(changes_);
  courses_.clear();
  jumps_.clear();
  changed_blocks_.clear();
}

/// The rates in the values before the step, at the state at its end.
bool PiecewisePath::turn_back() {
  const std::vector<int> flipped = std::exchange(flipped_, {});
  for (const int i : flipped) {
    has_flipped_[at(i)] = 0;
    set_binary(i, z_before_[i]);
  }
  if (flipped.empty()) return true;
  if (!rates_.follow(flipped, blocks_) || !solve_followers()) return false;
  changed_.clear();
  for (const int i : flipped) add(rates_.constraints_of_binary(i));
  for_unknowns([&](int unknown) {
    add(rates_.constraints_of_unknown(unknown));
    if (structure_.is_state[at(unknown)] == 0) return;
    add(rates_.constraints_of_state(unknown));
    stand(unknown, 0, x_[unknown]);
  });
  for (const int l : changed_) mark(l);
  return true;
}

void PiecewisePath::mark(int l) {
  if (!std::exchange(watches_[at(l)].is_touched, true)) touched_.push_back(l);
}

void PiecewisePath::stand(int state, double s, double x) {
  Place& place = places_[at(state)];
  if (!place.is_known) moved_.push_back(state);
  place = {s, x, true};
}

void PiecewisePath::find_crossings() {
  for (const int l : touched_) watch(l, 0);
  const double *const g = at_end_, *const errors = errors_;
  for (int l = 0, count = constraints_; l < count; ++l)
    if (g[l] > errors[l] && !watches_[at(l)].is_touched) watch(l, 0);
}

void PiecewisePath::watch(int l, double s) {
  Watch& course = watches_[at(l)];
  ++course.version;
  course.pending = inf;
  const std::optional<double> place = crossing(l, s);
  if (!place) return;
  course.pending = *place;
  queue_.push({*place, l, static_cast<int>(changes_.size()) - 1, course.version});
}

/// Does the constraint become positive at s, too, where another sub-problem changes its course?
/// Then the rule has to look at both.
bool PiecewisePath::meets(int l, double s, int block) const {
  const Watch& course = watches_[at(l)];
  return course.block != block && std::abs(course.pending - s) <= one_share * h_;
}

/// Where the constraint becomes positive behind s, if it is at the end or already there.
std::optional<double> PiecewisePath::crossing(int l, double s) {
  const Watch& course = watches_[at(l)];
  if (course.needs_more) {
    if (course.is_touched) {  // its course is no line
      is_open_ = is_open_ || rates_.row(equations_ + l, now_) > errors_[l];
      return std::nullopt;
    }
    const double from = start_ != nullptr ? std::min(start_[l], 0.0) : 0;
    return from < 0 ? h_ * (from / (from - at_end_[l])) : 0;
  }
  const double g = constraint(l, s);
  return place_between(l, {s, g}, course.is_touched ? constraint(l, h_) : at_end_[l]);
}

/// The same on a line with this value at the end of the step.
std::optional<double> PiecewisePath::place_between(int l, Value from, double g_end) {
  if (from.g > surface(l)) return from.s;
  if (!(g_end > errors_[l])) return std::nullopt;
  return from.g >= -surface(l) ? from.s : zero_between(l, from, {h_, g_end});
}

/// Regula falsi (Illinois) between a negative and a positive value.
double PiecewisePath::zero_between(int l, Value a, Value b) {
  int kept = 0;
  for (int k = 0; k < most_secants; ++k) {
    double s = a.s + (b.s - a.s) * (a.g / (a.g - b.g));
    if (!is_between(s, a, b)) s = a.s + (b.s - a.s) / 2;
    if (!is_between(s, a, b)) break;
    const double g = constraint(l, s);
    if (std::abs(g) <= errors_[l]) return s;
    if (g > 0) {
      b = {s, g};
      if (std::exchange(kept, -1) == -1) a.g /= 2;
    } else {
      a = {s, g};
      if (std::exchange(kept, 1) == 1) b.g /= 2;
    }
  }
  return b.s;
}

/// Has one of `own_` changed at this very moment?
bool PiecewisePath::turns_at_once(const Crossing& crossing) const {
  return std::any_of(changes_.begin(), changes_.end(), [&](const PathChange& change) {
    return std::abs(crossing.s - change.share * h_) <= one_share * h_ &&
           std::find_first_of(change.binaries.begin(), change.binaries.end(), own_.begin(), own_.end()) !=
               change.binaries.end();
  });
}

/// The sub-problem of a constraint that becomes positive takes other values.
bool PiecewisePath::pass(const Crossing& crossing) {
  const int l = crossing.constraint, block = watches_[at(l)].block;
  const SubProblem& sub = structure_.blocks[at(block)];
  PathChange change;
  if (!room_.empty()) {
    change = std::move(room_.back());
    room_.pop_back();
  }
  change.constraint = l;
  change.share = crossing.s / h_;
  own_.clear();
  for (const int unknown : rates_.unknowns_of(block))
    if (unknown >= n_) own_.push_back(unknown - n_);
  const bool has_changed =
      std::any_of(own_.begin(), own_.end(), [&](int i) { return has_flipped_[at(i)] != 0; });
  slides_ = has_changed && turns_at_once(crossing);
  if (has_changed || own_.empty()) return false;
  const PathChoice::Place place{crossing.s, h_ - crossing.s, t_};
  if (!choice_.choose(sub, own_, place, *this, change)) return false;
  return apply(std::move(change), crossing);
}

bool PiecewisePath::apply(PathChange change, const Crossing& crossing) {
  const double s = crossing.s;
  if (!rates_.follow(change.binaries, blocks_)) return false;
  for (const int i : change.binaries) {
    set_binary(i, 1 - z_[at(i)]);
    has_flipped_[at(i)] = 1;
    flipped_.push_back(i);
  }
  old_.clear();
  for_unknowns([&](int unknown) {
    old_.push_back(now_[rates_.input_of(unknown)]);
    if (structure_.is_state[at(unknown)] != 0) stand(unknown, s, position(unknown, s));
  });
  if (!solve_followers()) return false;
  std::size_t k = 0;
  for_unknowns([&](int unknown) { jumps_.push_back({unknown, now_[rates_.input_of(unknown)] - old_[k++]}); });
  courses_.push_back({crossing.from, jumps_.size()});
  changed_blocks_.insert(changed_blocks_.end(), blocks_.begin(), blocks_.end());
  changes_.push_back(std::move(change));
  watch_followers(changes_.back(), s);
  return true;
}

std::optional<double> PiecewisePath::retime(const End& end) {
  take_end(end);
  for (const PathChange& change : changes_)
    if (watches_[at(change.constraint)].needs_more) return std::nullopt;
  for (const Jump& jump : jumps_) written_.add(static_cast<int>(rates_.input_of(jump.unknown)));
  if (!rates_.solve(changed_blocks_, now_)) return std::nullopt;
  go_back();
  double largest = 0;
  for (std::size_t k = 0; k < changes_.size(); ++k) {
    const double share = changes_[k].share;
    if (!repeat(k)) return std::nullopt;
    largest = std::max(largest, std::abs(changes_[k].share - share));
  }
  return largest;
}

/// From the rates in the last values to those before the step, at its start.
void PiecewisePath::go_back() {
  for (const int i : flipped_) set_binary(i, z_before_[i]);
  for (const Jump& jump : jumps_) now_[rates_.input_of(jump.unknown)] -= jump.size;
  for (const int state : moved_) places_[at(state)] = {0, x_[state], true};
  for (const int unknown : met_) used_[at(unknown)] = -1;
  met_.clear();
}

/// Notes that a change at s looks at an unknown or changes it. False: one that was repeated before does so later.
bool PiecewisePath::use(int unknown, double s) {
  double& last = used_[at(unknown)];
  if (last > s) return false;
  if (last < 0) met_.push_back(unknown);
  last = s;
  return true;
}

/// Does change k at s share no unknown with one that stands before it and happens later? Then their order is of no account.
bool PiecewisePath::is_in_order(std::size_t k, std::span<const Jump> jumps, double s) {
  const int row = equations_ + changes_[k].constraint;
  const auto serves = [&](int unknown) { return use(unknown, s); };
  const std::span<const int> states = rates_.states_of_row(row), held = rates_.unknowns_of_row(row);
  return std::all_of(states.begin(), states.end(), serves) && std::all_of(held.begin(), held.end(), serves) &&
         std::all_of(jumps.begin(), jumps.end(), [&](const Jump& jump) { return use(jump.unknown, s); }) &&
         std::all_of(changes_[k].binaries.begin(), changes_[k].binaries.end(), [&](int i) { return use(n_ + i, s); });
}

/// Change k once more, where its constraint becomes positive now. False: nowhere, or not in the order of those that it
/// depends on.
bool PiecewisePath::repeat(std::size_t k) {
  PathChange& change = changes_[k];
  const Course& course = courses_[k];
  const double from = course.from < 0 ? 0 : changes_[at(course.from)].share * h_;
  const int l = change.constraint;
  const std::optional<double> s = place_between(l, {from, constraint(l, from)}, constraint(l, h_));
  const std::size_t first = k == 0 ? 0 : courses_[k - 1].jumps_end;
  const auto jumps = std::span<const Jump>(jumps_).subspan(first, course.jumps_end - first);
  if (!s || !is_in_order(k, jumps, *s)) return false;
  change.share = *s / h_;
  for (const int i : change.binaries) set_binary(i, 1 - z_[at(i)]);
  for (const auto& [unknown, size] : jumps) {
    if (structure_.is_state[at(unknown)] != 0) stand(unknown, *s, position(unknown, *s));
    now_[rates_.input_of(unknown)] += size;
  }
  return true;
}

/// The constraints whose course a change at s changes.
void PiecewisePath::watch_followers(const PathChange& change, double s) {
  changed_.clear();
  for (const int i : change.binaries) add(rates_.constraints_of_binary(i));
  std::size_t k = 0;
  for_unknowns([&](int unknown) {
    if (now_[rates_.input_of(unknown)] == old_[k++]) return;
    add(rates_.constraints_of_unknown(unknown));
    if (structure_.is_state[at(unknown)] != 0) add(rates_.constraints_of_state(unknown));
  });
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  const int block = watches_[at(change.constraint)].block;
  for (const int l : changed_) {
    is_open_ = is_open_ || meets(l, s, block);
    mark(l);
    watch(l, s);
  }
}

void PiecewisePath::add(std::span<const int> constraints) {
  changed_.insert(changed_.end(), constraints.begin(), constraints.end());
}

void PiecewisePath::shift(Vector& x) const {
  for (const int state : moved_) x[state] = position(state, h_) - h_ * rate(state);
}

void PiecewisePath::guess(Vector& x) const {
  for (const int state : moved_) x[state] = position(state, h_);
}

bool PiecewisePath::is_settled(double share) const {
  return std::equal(changes_.begin(), changes_.end(), before_.begin(), before_.end(),
                    [&](const PathChange& a, const PathChange& b) {
                      return a.binaries == b.binaries && a.constraint == b.constraint &&
                             std::abs(a.share - b.share) <= share;
                    });
}

}  // namespace perp
