// Unknowns of equations that no formula solves, followed along the path of a step by Newton's operator:
// called by PoleWatch.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/sign_of_formula.hpp>
#include <perp/schemes/poles/followed_unknowns.hpp>
#include <perp/schemes/poles/lines.hpp>

namespace perp {
namespace {

using enclosure::Interval;
using enclosure::SeriesInput;

constexpr double unbounded = std::numeric_limits<double>::infinity();
/// By how much z at an end of the path may differ from the root there, of itself: rates of a chord do.
constexpr double same_root = 0x1p-4;
constexpr double most_ahead = 1024;    ///< lengths of a path that are proved at once
constexpr double shortest = 0x1p-44;   ///< piece of a path
constexpr int most_pieces = 1600;       ///< that are tried on one path
constexpr double most_hop = 0x1p-3;    ///< of an unknown, what it moves on a piece of which only the ends are known
/// Of the distances from where following ends, between which a pole of this order or more shows.
constexpr double nearer_and_nearer[] = {0x1p8, 0x1p4, 1, 0x1p-8, 0x1p-16};
constexpr double least_order = 0.75;
constexpr double of_curve = 0.25;  ///< by how much a curve may leave the box of three of its points

bool has_table(const Tape& tape, const std::vector<int>& lines) {
  const std::vector<bool> needed = needed_lines(tape, lines);
  for (int k = 0; k < tape.size(); ++k)
    if (needed[static_cast<std::size_t>(k)] && tape[k].operation == Operation::table) return true;
  return false;
}

/// h(t, x, z) as the equations of implicit unknowns; x: all other inputs that it depends on.
enclosure::Flow flow_of(const Tape& tape, const ExplicitForm::Implicit& group, const std::vector<int>& given,
                        int inputs) {
  enclosure::Flow flow;
  flow.tape = tape;
  flow.inputs.resize(static_cast<std::size_t>(inputs));
  flow.inputs[static_cast<std::size_t>(Dcs::time_input())].kind = SeriesInput::Kind::time;
  const auto set = [&](const std::vector<int>& numbers, SeriesInput::Kind kind) {
    for (std::size_t k = 0; k < numbers.size(); ++k)
      flow.inputs[static_cast<std::size_t>(numbers[k])] = {kind, static_cast<int>(k), {}};
  };
  set(given, SeriesInput::Kind::state);
  set(group.unknowns, SeriesInput::Kind::implicit);
  flow.rates.assign(given.size(), flow.tape.constant(0));
  flow.implicit.inputs = group.unknowns;
  flow.implicit.equations = group.equations;
  flow.implicit.known = std::make_shared<enclosure::KnownRoot>();
  return flow;
}

/// The inputs that the equations need besides t and their unknowns.
std::vector<int> given_inputs(const Tape& tape, const ExplicitForm::Implicit& group) {
  std::vector<int> given = inputs_of(tape, group.equations);
  std::erase_if(given, [&](int input) {
    return input == Dcs::time_input() ||
           std::ranges::find(group.unknowns, input) != group.unknowns.end();
  });
  return given;
}

std::vector<double> middles(const std::vector<Interval>& z) {
  std::vector<double> m;
  for (const Interval& value : z) m.push_back(middle(value));
  return m;
}

}  // namespace

bool FollowedUnknowns::may_have_pole(const Tape& tape, const ExplicitForm::Implicit& group, int inputs) {
  const auto size = group.unknowns.size();
  if (size > largest_followed_group || has_table(tape, group.equations)) return false;
  if (inputs_of(tape, group.equations).size() == size) return false;  // of nothing but themselves: they rest
  Tape lines = tape;
  const std::vector<Derivative> entries = differentiate(lines, group.equations, 0, inputs);
  const auto is_of_unknowns = [&](const Derivative& entry) { return std::ranges::find(group.unknowns, entry.input) != group.unknowns.end(); };
  const bool is_constant = std::ranges::all_of(entries, [&](const Derivative& entry) {
    return !is_of_unknowns(entry) || lines[entry.line].operation == Operation::constant;
  });
  if (is_constant || size > 1) return !is_constant;
  const auto slope_of = std::ranges::find_if(entries, is_of_unknowns);
  if (slope_of != entries.end() && is_sum_of_exponentials(lines, slope_of->line)) return false;
  const std::vector<int> given = given_inputs(tape, group);
  const enclosure::ImplicitFunction function(flow_of(tape, group, given, inputs));
  const Interval all(-unbounded, unbounded);
  const std::vector<Interval> x(given.size(), all);
  const Interval slope = function.jacobian(all, x, std::span(&all, 1)).front();
  return !(slope.has_value() && mignitude(slope) > 0);
}

FollowedUnknowns::FollowedUnknowns(const Tape& tape, const ExplicitForm::Implicit& group, int n, int inputs)
    : n_(n),
      unknowns_(group.unknowns),
      given_(given_inputs(tape, group)),
      flow_(flow_of(tape, group, given_, inputs)),
      function_(flow_) {}

/// ẋ, x or λ at the share s of a path.
double FollowedUnknowns::input(const SolutionPath& path, double s, int number) const {
  if (number <= n_) return path.rate(s)[number - 1];
  if (number > 2 * n_) return path.b.lambda[number - 1 - 2 * n_];
  return (1 - s) * path.a.x[number - 1 - n_] + s * path.b.x[number - 1 - n_];
}

FollowedUnknowns::Point FollowedUnknowns::point(const SolutionPath& path, double s) const {
  Point at{Interval(path.time(s)), {}};
  const Vector x = path.curve ? path.curve(s) : Vector();
  for (const int number : given_) {
    const bool is_state = number > n_ && number <= 2 * n_;
    at.x.emplace_back(is_state && path.curve ? x[number - 1 - n_] : input(path, s, number));
  }
  return at;
}

/// All points of the path from one share to another; of a curve as three points tell.
FollowedUnknowns::Point FollowedUnknowns::between(const SolutionPath& path, double from, double to) const {
  Point box = point(path, from);
  const auto include = [&](const Point& at) {
    box.t = hull(box.t, at.t);
    for (std::size_t k = 0; k < box.x.size(); ++k) box.x[k] = hull(box.x[k], at.x[k]);
  };
  include(point(path, to));
  if (!path.curve) return box;
  include(point(path, from + (to - from) / 2));
  for (Interval& x : box.x) x += enclosure::symmetric(of_curve * radius(x));
  return box;
}

/// z at an end of the path, as far as its states tell.
std::vector<double> FollowedUnknowns::guess(const SolutionPath& path, bool at_end) const {
  const Step& end = at_end || path.a.mode != path.b.mode ? path.b : path.a;
  std::vector<double> z;
  for (const int number : unknowns_)
    z.push_back(number > 2 * n_ ? end.lambda[number - 1 - 2 * n_] : input(path, at_end ? 1 : 0, number));
  return z;
}

bool FollowedUnknowns::covers(const Point& box) const {
  if (!known_ || !known_->over.t.contains(box.t)) return false;
  for (std::size_t k = 0; k < box.x.size(); ++k)
    if (!known_->over.x[k].contains(box.x[k])) return false;
  return true;
}

bool FollowedUnknowns::is_known(const Point& box, const std::vector<double>& z) const {
  if (!covers(box)) return false;
  for (std::size_t k = 0; k < z.size(); ++k)
    if (!known_->z[k].contains(z[k])) return false;
  return true;
}

/// Starts from the root that was followed to here: what lies between the ends of a step need be none.
bool FollowedUnknowns::go_on(const Point& here) {
  if (!covers(here)) return false;
  *flow_.implicit.known = {known_->over.t, known_->over.x, known_->z};
  if (!function_.compute(here.t, here.x)) return false;
  at_start_.clear();
  for (std::size_t k = 0; k < unknowns_.size(); ++k)
    at_start_.push_back(function_.value(static_cast<int>(k)));
  return true;
}

/// Finds the root at an end of the path. False: its state is next to none that is simple.
bool FollowedUnknowns::start(const SolutionPath& path, bool at_end) {
  const Point here = point(path, at_end ? 1 : 0);
  if (path.continues) return !at_end && go_on(here);
  const std::vector<double> z = guess(path, at_end);
  const auto root = function_.around(here.t, here.x, function_.approach(here.t, here.x, z));
  if (!root) return false;
  if (!is_same_root(here, z, middles(*root))) return false;
  at_start_ = *root;
  return true;
}

/// Is the root that Newton's method finds from z the one that z is next to: near as measured by itself, or, as of an unknown that
/// passes 0, one from which rounding does not tell z, with a determinant of one sign between?
bool FollowedUnknowns::is_same_root(const Point& here, const std::vector<double>& z, const std::vector<double>& root) const {
  bool is_near = true;
  for (std::size_t k = 0; k < z.size(); ++k)
    is_near = is_near && std::abs(root[k] - z[k]) <= same_root * std::max(std::abs(z[k]), std::abs(root[k]));
  return is_near || (vanishes(here, z) && keeps_orientation(here, z, root));
}

/// Proves the whole path at once, and as much behind it as may be: where too much was asked for, less.
bool FollowedUnknowns::extend(const SolutionPath& path) {
  growth_.add(path.a.t, middles(at_start_));
  for (double lengths = inf; lengths > 1;) {
    lengths = path.curve ? 1 : ahead_;
    const Point box = between(path, 0, lengths);
    const auto z = function_.around(box.t, box.x, at_start_);
    ahead_ = z ? std::min(2 * ahead_, most_ahead) : std::max(ahead_ / 8, 1.0);
    if (z) known_ = {box, *z};
    if (z) return true;
  }
  return false;
}

/// Intervals may say too much of a difference: where nothing is proved over a piece, z goes to the root at its end
/// that a straight line from the last two places leads next to, if it moves by little on the line. On the line to a
/// pole it moves by more than itself. z is the root at the last place, then at the end.
bool FollowedUnknowns::hops(const Point& end, double length, const std::vector<Place>& places,
                            std::vector<Interval>& z) {
  if (places.size() < 2) return false;
  const Place &last = places.back(), &before = *std::prev(places.end(), 2);
  const double share = length / (last.s - before.s);
  std::vector<double> guess = last.z;
  for (std::size_t k = 0; k < guess.size(); ++k) {
    const double move = share * (last.z[k] - before.z[k]);
    if (!(std::abs(move) <= most_hop * std::abs(last.z[k]))) return false;
    guess[k] += move;
  }
  const auto root = function_.around(end.t, end.x, function_.approach(end.t, end.x, guess));
  if (!root) return false;
  for (std::size_t k = 0; k < guess.size(); ++k)
    if (!(std::abs(middle((*root)[k]) - guess[k]) <= most_hop * std::abs(guess[k]))) return false;
  z = *root;
  known_ = {end, z};
  return true;
}

/// Over one piece of the path, on which `length` is what places tell. z is the root at its start, then at its end.
bool FollowedUnknowns::passes(const SolutionPath& path, double from, double to, double length,
                              const std::vector<Place>& places, std::vector<Interval>& z) {
  const Point box = between(path, from, to), end = point(path, to);
  const auto held = function_.around(box.t, box.x, z);
  if (held) *flow_.implicit.known = {box.t, box.x, *held};
  if (!held || !function_.compute(end.t, end.x)) return hops(end, length, places, z);
  known_ = {box, *held};
  for (std::size_t k = 0; k < z.size(); ++k) z[k] = function_.value(static_cast<int>(k));
  return true;
}

/// Piece by piece from one end of the path.
FollowedUnknowns::End FollowedUnknowns::follow(const SolutionPath& path, bool backward, std::vector<Place>& places) {
  const auto share = [&](double s) { return backward ? 1 - s : s; };
  std::vector<Interval> z = at_start_;
  double s = 0, length = 1;
  places = {{0, middles(z)}};
  for (int pieces = 0; s < 1 && pieces < most_pieces; ++pieces) {
    length = std::min(length, 1 - s);
    if (passes(path, share(s), share(s + length), length, places, z)) {
      s += length;
      places.push_back({s, middles(z)});
      length *= 2;
    } else {
      length /= 2;
      if (length < shortest || path.time(share(s + length)) == path.time(share(s))) return End::not_simple;
    }
  }
  return s >= 1 ? End::of_path : End::of_work;
}

/// Does some z grow by the order 3/4 or more towards where following ends?
bool FollowedUnknowns::grows(const std::vector<Place>& places) {
  using namespace pole_distance;
  const double end = places.back().s;
  const auto from = [&](double distance) {  // the last place that far away
    const auto nearer = std::ranges::find_if(places, [&](const Place& place) { return end - place.s < distance; });
    return nearer == places.begin() ? places.front() : *std::prev(nearer);
  };
  for (const double scale : nearer_and_nearer) {
    if (!(end >= 4 * wide * scale)) continue;
    const Place a = from(far * scale), b = from(wide * scale), c = from(narrow * scale);
    const double growth = std::pow((end - b.s) / (end - c.s), least_order);
    for (std::size_t k = 0; k < a.z.size(); ++k)
      if (std::abs(c.z[k] - b.z[k]) > growth * std::abs(b.z[k] - a.z[k]) && c.s > b.s) return true;
  }
  return false;
}

/// Is the last place, as far as rounding lets follow, next to a pole? A curve loses its order at any. Forward
/// the paths before count too.
bool FollowedUnknowns::leads_to_pole(const SolutionPath& path, bool backward, const std::vector<Place>& places) {
  Growth of_path;
  for (const Place& place : places) {
    if (backward) of_path.add(place.s, place.z);
    else growth_.add(path.time(place.s), place.z);
  }
  return (backward ? of_path : growth_).leads_to_pole(static_cast<bool>(path.curve));
}

bool FollowedUnknowns::leaves(const SolutionPath& path) const {
  if (lacks_values(path) || !covers(point(path, 1))) return false;
  const std::vector<double> z = guess(path, true);
  for (std::size_t k = 0; k < z.size(); ++k) {
    const Interval& held = known_->z[k];
    const double slack = same_root * std::max(magnitude(held), std::abs(z[k]));
    if (z[k] < held.lo - slack || z[k] > held.hi + slack) return true;
  }
  return false;
}

/// Has the state no values for the unknowns, as where its mode has changed and no multipliers are kept?
bool FollowedUnknowns::lacks_values(const SolutionPath& path) const {
  return path.b.lambda.size() == 0 && std::ranges::any_of(unknowns_, [&](int k) { return k > 2 * n_; });
}

/// Nearer to a pole than where it was seen rounding may hide what grows.
bool FollowedUnknowns::was_seen(double t) const { return seen_.since <= t && t <= seen_.until; }

/// Behind a root that was found at an end of the path.
std::optional<double> FollowedUnknowns::pole_from(const SolutionPath& path, bool backward) {
  std::vector<Place> places;
  if (!backward && extend(path)) return std::nullopt;
  const End end = follow(path, backward, places);
  const bool leads_there = leads_to_pole(path, backward, places);
  if (end == End::of_path) return std::nullopt;
  return pole_at_end(path, backward, places, end == End::not_simple, leads_there);
}

/// Where following has ended, at a root that is not simple if it `is_lost`, or by its work.
std::optional<double> FollowedUnknowns::pole_at_end(const SolutionPath& path, bool backward,
                                                   const std::vector<Place>& places, bool is_lost, bool leads_there) {
  const double s = backward ? 1 - places.back().s : places.back().s;
  if (was_seen(path.time(s))) return s;
  if (is_lost && meets_at_once(path, s, places.back().z)) return std::nullopt;
  if (!(is_lost && leads_there) && !grows(places)) return is_lost ? no_pole(path, backward, places, s) : std::nullopt;
  seen_ = {path.time(s), path.time(s - pole_distance::wide), path.b.t};
  return s;
}

/// The same, unless the root has another orientation than the one that led there.
std::optional<double> FollowedUnknowns::follow_from(const SolutionPath& path, bool backward, int before) {
  const int here = orientation(point(path, backward ? 1 : 0), middles(at_start_));
  leave(path, here);
  if (before * here >= 0) return pole_from(path, backward);
  meeting_ = 0;
  return std::nullopt;
}

/// The last pole that was seen, as a share of the path, where that meets the times around it.
std::optional<double> FollowedUnknowns::seen_pole(const SolutionPath& path) const {
  const bool is_there = path.b.t >= seen_.since && path.a.t <= seen_.t + (seen_.t - seen_.since);
  if (!is_there) return std::nullopt;
  return std::clamp((seen_.t - path.a.t) / (path.b.t - path.a.t), 0.0, 1.0);
}

/// Rounding may hide the unknowns too, where a pole was seen.
std::optional<double> FollowedUnknowns::pole(const SolutionPath& path) {
  meeting_.reset();
  if (lacks_values(path)) return std::nullopt;
  if (is_known(between(path, 0, 1), guess(path, false))) {
    leave(path, last_.orientation);
    return std::nullopt;
  }
  const int before = is_left_at(path) ? last_.orientation : 0;
  for (const bool backward : {false, true})
    if (start(path, backward)) return follow_from(path, backward, before);
  leave(path, before);
  if (meets(path, false, before)) meeting_ = 0;
  return seen_pole(path);
}

}  // namespace perp
