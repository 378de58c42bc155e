#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/base/error.hpp>
#include <perp/schemes/events/bound_watch.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {
namespace {

constexpr double ulp_of_one = std::numeric_limits<double>::epsilon();
constexpr int most_bound_trials = 60;  ///< steps on the search for the moment of a passage
constexpr int moment = -20;  ///< of the way: a mode that ends within way·2^moment ends now

void check(const VariableBounds& bounds, int n) {
  if (bounds.variable < 0 || bounds.variable >= n)
    throw InvalidInput(fmt::format("bounds: there is no variable {} among {}", bounds.variable, n));
  const Range& range = bounds.range;
  if (!(range.lower < range.upper) || (!std::isfinite(range.lower) && !std::isfinite(range.upper)))
    throw InvalidInput(fmt::format("the bounds of variable {} are [{}, {}]; expected lower < upper, "
                                   "one of them finite",
                                   bounds.variable, range.lower, range.upper));
}

/// Where a number that is positive at `low` falls to 0.
struct SecantBracket {
  double low, high, low_rest, high_rest = nan;  // NaN: not known

  void narrow(double t, double rest) {
    (rest > 0 ? low : high) = t;
    (rest > 0 ? low_rest : high_rest) = rest;
  }
  [[nodiscard]] double next(bool bisects) const {
    const bool secant = std::isfinite(high_rest) && !bisects;
    return secant ? low + (high - low) * (low_rest / (low_rest - high_rest)) : low + (high - low) / 2;
  }
};

}  // namespace

BoundWatch::BoundWatch(const std::vector<VariableBounds>& bounds, int n) {
  for (const VariableBounds& each : bounds) {
    check(each, n);
    VariableBounds named = each;
    if (named.name.empty()) named.name = fmt::format("x{}", each.variable + 1);
    if (std::isfinite(each.range.lower)) surfaces_.push_back({named, false});
    if (std::isfinite(each.range.upper)) surfaces_.push_back({named, true});
  }
}

std::string BoundWatch::pass(int k, bool at_start) {
  Surface& surface = surfaces_[static_cast<std::size_t>(k)];
  surface.is_outside = !surface.is_outside;
  const bool rises = surface.upper == surface.is_outside;
  return fmt::format("{} {} its bound {}{}", surface.bounds.name,
                     at_start ? (rises ? "starts above" : "starts below")
                              : (rises ? "rises above" : "falls below"),
                     surface.bound(), surface.is_outside ? "" : " again");
}

std::string BoundWatch::end_message(int k, const Event& event) const {
  const Range& range = surface(k).bounds.range;
  return fmt::format("{} (bounds = [{}, {}]) at t = {:.10g}", event.note, range.lower, range.upper,
                     event.t);
}

/// How far x_j may be from the number that the last step determines.
double BoundedWay::rounding(int variable, Scheme& scheme) {
  if (roundings_.size() == 0) roundings_ = scheme.rounding();
  return std::max(roundings_[variable], ulp_of_one * largest_[variable]);
}

/// How far it may be from the number that all steps determine: a law that holds x_j at its bound
/// may do so by variables that are larger, whose rounding is that of x_j then.
double BoundedWay::error(int variable, Scheme& scheme) {
  return static_cast<double>(steps_ + 1) * rounding(variable, scheme);
}

/// Does the state pass surface k on its way to a point at this distance inside? Beyond by rounding, it
/// may be held there by a law: it passes if it moves on outwards from there.
bool BoundedWay::passes(int k, double rest, Scheme& scheme) {
  double& touched = touched_[static_cast<std::size_t>(k)];
  if (rest >= 0) {
    touched = 0;
    return false;
  }
  if (rest < touched && rest < touched - error(watch_.surface(k).bounds.variable, scheme)) {
    touched = 0;
    return true;
  }
  touched = touched == 0 ? rest : std::max(touched, rest);
  return false;
}

/// Is it the rounding of all steps so far that decides whether the mode goes on from the present
/// state, with a law that may hold what is beyond its bound? Each variable is moved by its share.
bool BoundedWay::mode_is_certain(Scheme& scheme, double way) const {
  const Step now = scheme.snapshot();
  const double h = std::ldexp(way, moment);
  bool certain = true;
  const auto keeps = [&](const Step& state) {
    scheme.restore(state);
    const Attempt attempt = scheme.attempt(now.t + h, h);
    return attempt.status == Status::solved && attempt.kept_mode;
  };
  if (now.mode.empty() || !(now.t + h > now.t)) return true;
  for (Eigen::Index j = 0; certain && j < now.x.size(); ++j)
    for (const double side : {-1.0, 1.0}) {
      Step moved = now;
      moved.x[j] += side * static_cast<double>(steps_ + 1) * ulp_of_one * largest_[j];
      certain = certain && keeps(moved);
    }
  scheme.restore(now);
  return certain;
}

std::optional<std::string> BoundedWay::start(Scheme& scheme, std::vector<Event>& events) {
  if (watch_.empty()) return std::nullopt;
  const Vector x = scheme.x();
  largest_ = x.cwiseAbs();
  roundings_.resize(0);
  std::optional<std::string> end;
  for (int k = 0; k < watch_.count(); ++k) {
    const BoundWatch::Surface& surface = watch_.surface(k);
    if (!(surface.margin(x) < -error(surface.bounds.variable, scheme))) continue;
    const Event event = event_at(EventKind::bound, scheme.t(), x, watch_.pass(k, true));
    if (surface.bounds.ends_run && !end) end = watch_.end_message(k, event);
    events.push_back(event);
  }
  return end;
}

/// The corners of the way from `from` to the present state: the events on it; between them every variable moves linearly.
std::vector<BoundedWay::Point> BoundedWay::corners(const Scheme& scheme, const Step& from, std::size_t first_event,
                                                   const std::vector<Event>& events) const {
  std::vector<Point> way{{from.t, from.x}};
  for (std::size_t i = first_event; i < events.size(); ++i) {
    if (events[i].x_before.size() == from.x.size()) way.push_back({events[i].t, events[i].x_before});
    if (events[i].x_after.size() == from.x.size()) way.push_back({events[i].t, events[i].x_after});
  }
  way.push_back({scheme.t(), scheme.x()});
  return way;
}

/// The shares of the way between two corners at which surfaces are passed, increasing, and which these are. `is_last`: the
/// second is the present state, at the end of a step of the length `way`.
std::vector<std::pair<double, int>> BoundedWay::passed_between(const Point& a, const Point& b, bool is_last, double way,
                                                               Scheme& scheme) {
  std::vector<std::pair<double, int>> passed;
  for (int k = 0; k < watch_.count(); ++k) {
    const BoundWatch::Surface& surface = watch_.surface(k);
    const double before = std::max(surface.rest(a.x), 0.0), after = surface.rest(b.x);
    if (!passes(k, after, scheme)) continue;
    if (is_last && !mode_is_certain(scheme, way))
      touched_[static_cast<std::size_t>(k)] = after;  // what follows tells
    else
      passed.emplace_back(before / (before - after), k);
  }
  std::sort(passed.begin(), passed.end());
  return passed;
}

std::optional<std::string> BoundedWay::pass(Scheme& scheme, const Step& from,
                                            std::size_t first_event, long steps,
                                            std::vector<Event>& events) {
  if (watch_.empty()) return std::nullopt;
  roundings_.resize(0);
  steps_ = steps;
  const std::vector<Point> way = corners(scheme, from, first_event, events);
  for (const Point& point : way) largest_ = largest_.cwiseMax(point.x.cwiseAbs());
  for (std::size_t i = 1; i < way.size(); ++i) {
    const Point &a = way[i - 1], &b = way[i];
    for (const auto& [s, k] : passed_between(a, b, i + 1 == way.size(), scheme.t() - from.t, scheme)) {
      Event event = event_at(EventKind::bound, a.t + s * (b.t - a.t), (1 - s) * a.x + s * b.x,
                             watch_.pass(k));
      event.t_before = a.t;
      event.t_after = b.t;
      if (watch_.surface(k).bounds.ends_run)
        return end(scheme, from, a, b, k, std::move(event), events);
      const auto later = std::find_if(
          events.begin() + static_cast<std::ptrdiff_t>(first_event), events.end(),
          [&](const Event& other) { return other.t > event.t; });
      events.insert(later, std::move(event));
    }
  }
  return std::nullopt;
}

/// Ends the run where `surface` is passed between two points of the way: see `pass`.
std::optional<std::string> BoundedWay::end(Scheme& scheme, const Step& from, const Point& before,
                                           const Point& after, int surface, Event event,
                                           std::vector<Event>& events) {
  const bool jumps_there = before.t == after.t;
  const bool is_last = after.t == scheme.t() && after.x == scheme.x();
  if (jumps_there) {
    event.x_before = before.x;
    event.x_after = after.x;
  }
  if (!(jumps_there && is_last)) {  // else the state after the jump is the last one
    const std::optional<Step> on =
        jumps_there ? std::nullopt
                    : state_on(watch_.surface(surface), scheme, from, event.t, after.t);
    scheme.restore(on ? *on : from);
    if (on) {
      event = event_at(EventKind::bound, on->t, on->x, event.note);
    }
  }
  std::erase_if(events, [&](const Event& other) { return other.t > event.t; });
  events.push_back(event);
  return watch_.end_message(surface, event);
}

/// The state at the end of the step from `from` that ends on the surface to rounding, or as near to
/// it on the inner side as steps can; by secants, every third time by bisection. Empty where such
/// a step keeps no mode.
std::optional<Step> BoundedWay::state_on(const BoundWatch::Surface& surface, Scheme& scheme,
                                         const Step& from, double t, double t_after) {
  // pass() has told the watch that the state is beyond the surface: `rest` is positive there.
  SecantBracket bracket{from.t, t_after, -surface.rest(from.x)};
  std::optional<Step> best;
  for (int i = 0; i < most_bound_trials && t > bracket.low && t < bracket.high; ++i) {
    scheme.restore(from);
    const Attempt attempt = scheme.attempt(t, t - from.t);
    if (attempt.status != Status::solved || !attempt.kept_mode) return best;
    scheme.accept();
    const Step state = scheme.snapshot();
    const double rest = -surface.rest(state.x);
    if (rest >= 0) best = state;
    roundings_.resize(0);
    if (std::abs(rest) <= rounding(surface.bounds.variable, scheme)) return state;
    bracket.narrow(t, rest);
    t = bracket.next(i % 3 == 2);
  }
  return best;
}

}  // namespace perp
