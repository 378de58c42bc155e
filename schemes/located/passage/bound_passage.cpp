// Passages of bounds: called by the run where a bound falls, and before each step.
#include <algorithm>
#include <cmath>

#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/passage/bound_passage.hpp>

namespace perp {
namespace {

constexpr double least_bound_share = 1e-12;  ///< of the size of a variable: a passage is deeper

}  // namespace

void BoundPassage::pass(const Gap& gap) {
  run_.watch_resets();
  Vector dt_dq;
  double condition = 0;
  if (run_.sensitivity.active()) {
    // dt*/dq = -(∂x_j/∂q) / ẋ_j
    const Sensitivities::GapRate rate = run_.sensitivity.rate_now(gap);
    dt_dq = rate.time();
    condition = 1 / std::abs(rate.by_t);
  }
  if (run_.locator.bounds().surface(gap.surface).bounds.ends_run) run_.record.row(run_.at.now, true);
  if (run_.record.is_open()) log(gap.surface, false, dt_dq, condition);
}

void BoundPassage::pass_by_jump() {
  const Step& now = run_.at.now;
  const double share = std::max(least_bound_share, run_.at.options.tol);
  BoundWatch& bounds = run_.locator.bounds();
  for (int k = 0; k < bounds.count() && run_.record.is_open(); ++k) {
    const BoundWatch::Surface& surface = bounds.surface(k);
    if (!(surface.rest(now.x) < -share * run_.locator.size(surface))) continue;
    if (surface.bounds.ends_run && run_.record.output().only_times && !run_.record.is_asked(now.t))
      run_.record.row(now, true);
    log(k, run_.record.steps == 0 && now.t == run_.at.span.start, {}, 0);
  }
}

void BoundPassage::log(int surface, bool at_start, const Vector& dt_dq, double condition) {
  BoundWatch& bounds = run_.locator.bounds();
  Event event = event_at(EventKind::bound, run_.at.now.t, run_.at.now.x, bounds.pass(surface, at_start));
  event.dt_dq = dt_dq;
  event.condition = condition;
  run_.record.events().push_back(event);
  if (bounds.surface(surface).bounds.ends_run)
    run_.record.finish(Status::interrupted, bounds.end_message(surface, event));
  else
    run_.locator.watch_mode();
}

}  // namespace perp
