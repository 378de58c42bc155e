// Starts of runs: `run` and `stepwise_run` make them.
#include <perp/schemes/run/consistent_start.hpp>

namespace perp {

Attempt consistent_start(Scheme& scheme, double t, const Vector& x0, double h, std::vector<Event>& events) {
  const std::size_t before = events.size();
  const Attempt found = scheme.start(t, x0, h, events);
  const bool is_led = found.status == Status::solved && events.size() > before &&
                      events.back().kind == EventKind::inconsistent_start && events.back().x_after.size() == x0.size();
  if (!is_led) return found;
  std::vector<Event> none;
  const Attempt again = scheme.start(t, events.back().x_after, h, none);
  if (again.status == Status::solved && none.empty()) {
    events.back().x_after = scheme.x();
    return again;
  }
  return scheme.start(t, x0, h, none);
}

}  // namespace perp
