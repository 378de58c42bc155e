#include <algorithm>
#include <cmath>

#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

constexpr double least_bound_share = 1e-12;  ///< of the size of a variable: a passage is deeper

}  // namespace

/// The distances to bounds, on the side where the state is.
void LocatedRun::add_bound_gaps() {
  for (int k = 0; k < bounds_.count(); ++k) {
    const BoundWatch::Surface& surface = bounds_.surface(k);
    const bool from_below = surface.upper != surface.is_outside;
    gaps_.push_back({-1, -1, false, surface.bound(), from_below ? -1.0 : 1.0,
                     surface.bounds.variable, k});
  }
}

/// A bound falls in the attempted step of length h. Where the mode ends before the variable is
/// beyond it, it is touched: the end of the mode comes first, and what follows tells.
GapWatch::Fall LocatedRun::pass_or_touch(const GapWatch::Fall& bound, double h) {
  const Eigen::Index others = samples_.rows() - bounds_.count();  // bounds stand last
  const std::optional<GapWatch::Fall> end =
      watch_.first(samples_.topRows(others), depth_.head(others), noise_.head(others), rise_.head(others), inside_);
  if (!end || gap_value(gaps_[static_cast<std::size_t>(bound.gap)], sample(end->s, h)) <
                  -depth_[bound.gap])
    return bound;
  const Vector& points = watch_.points();
  for (Eigen::Index k = 0; k < points.size(); ++k)
    if (points[k] > bound.s && points[k] < end->s &&
        samples_(bound.gap, k) < -depth_[bound.gap])
      return bound;
  return *end;
}

/// What the tolerance of the run refers to in x_j and its bound.
double LocatedRun::bound_size(const BoundWatch::Surface& surface) const {
  const int j = surface.bounds.variable;
  return std::max({scales_.x[j], largest_[j], std::abs(now_.x[j])});
}

/// now_ is the moment at which this gap falls.
void LocatedRun::pass_bound(const Gap& gap) {
  watch_resets();
  Vector dt_dq;
  double condition = 0;
  if (sensitivities_.active()) {
    // dt*/dq = -(∂x_j/∂q) / ẋ_j
    const Jet jet = jets_.solve(now_.mode, now_.t, now_.x, now_.lambda);
    const Sensitivities::GapRate rate = sensitivities_.gap_rate(gap, jet, sensitivities_.dx());
    dt_dq = rate.time();
    condition = 1 / std::abs(rate.by_t);
  }
  if (bounds_.surface(gap.surface).bounds.ends_run) record(true);
  if (result_.status == Status::never_run) log_bound(gap.surface, false, dt_dq, condition);
}

/// Bounds that now_ is beyond although no gap fell: a jump led there, or the run starts there.
void LocatedRun::pass_bounds_by_jump() {
  const double share = std::max(least_bound_share, options_.tol);
  for (int k = 0; k < bounds_.count(); ++k) {
    const BoundWatch::Surface& surface = bounds_.surface(k);
    if (!(surface.rest(now_.x) < -share * bound_size(surface))) continue;
    if (surface.bounds.ends_run && output_.only_times && !is_asked(now_.t)) record(true);
    log_bound(k, steps_ == 0 && now_.t == span_.start, {}, 0);
    if (result_.status != Status::never_run) return;
  }
}

void LocatedRun::log_bound(int surface, bool at_start, const Vector& dt_dq, double condition) {
  Event event = event_at(EventKind::bound, now_.t, now_.x, bounds_.pass(surface, at_start));
  event.dt_dq = dt_dq;
  event.condition = condition;
  result_.events.push_back(event);
  if (!bounds_.surface(surface).bounds.ends_run) {
    make_gaps();
    return;
  }
  finish(Status::interrupted, bounds_.end_message(surface, event));
}

}  // namespace perp
