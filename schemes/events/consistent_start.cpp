// Starts of runs: `run` and `stepwise_run` make them.
#include <algorithm>

#include <perp/schemes/events/consistent_start.hpp>

namespace perp {

namespace {

/// Is what a start at x, where the way from x0 led, says of x nothing but the rounding of that way?
bool is_rounding(const Scheme& scheme, const Vector& x0, const Vector& x, const std::vector<Event>& events) {
  return std::ranges::all_of(events, [&](const Event& event) {
    return event.kind == EventKind::inconsistent_start && event.x_after.size() == x.size() &&
           (scheme.motion(x, event.x_after).array().abs() <= scheme.motion_rounding(x0, x).array()).all();
  });
}

}  // namespace

Attempt consistent_start(Scheme& scheme, double t, const Vector& x0, double h, std::vector<Event>& events) {
  const std::size_t before = events.size();
  const Attempt found = scheme.start(t, x0, h, events);
  const auto leads = [](EventKind kind) { return kind == EventKind::inconsistent_start || kind == EventKind::jump; };
  const bool is_led = found.status == Status::solved && events.size() > before && leads(events.back().kind) &&
                      events.back().x_after.size() == x0.size();
  if (!is_led) return found;
  std::vector<Event> said;
  const Vector led = events.back().x_after;
  const Attempt again = scheme.start(t, led, h, said);
  if (again.status == Status::solved && is_rounding(scheme, x0, led, said)) {
    events.back().x_after = scheme.x();
    return again;
  }
  return scheme.start(t, x0, h, said);
}

}  // namespace perp
