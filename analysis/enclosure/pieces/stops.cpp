// How far a step goes before an event; called by the pieces of enclosures.
#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/analysis/enclosure/pieces/stops.hpp>

namespace perp::enclosure {
namespace {

constexpr int slices = 8;        ///< of a step, for the signs of gaps
constexpr int shortenings = 20;  ///< of a step whose first slice is undecided, by 8

/// The end of slice k of a step, on the grid.
double slice_end(double t, double length, int k, double grid) {
  return t + grid * std::floor(length * k / slices / grid);
}

/// Where the gap of the centre reaches 0 within these times; `to` where it has not by then.
double crossing(const TaylorStep& step, const Monitor& monitor, double t, double from, double to) {
  const auto value = [&](double time) {
    return monitor.side * middle(step.center_output(monitor.gap, 0, Interval(time) - Interval(t)));
  };
  if (value(from) <= 0) return from;
  for (int k = 0; k < 80; ++k) {
    const double half = from + (to - from) / 2;
    if (half <= from || half >= to) break;
    (value(half) > 0 ? from : to) = half;
  }
  return to;
}

/// The first event of the centre between `done` and `next`, of any monitor.
std::optional<Stop> event_of_center(const TaylorStep& step, double t, double done, double next,
                                    double grid, const std::vector<Monitor>& monitors) {
  std::optional<Stop> first;
  double earliest = next;
  for (int m = 0; m < static_cast<int>(monitors.size()); ++m) {
    const Monitor& monitor = monitors[static_cast<std::size_t>(m)];
    if (monitor.trend != Trend::falling) continue;
    const double at = crossing(step, monitor, t, done, next);
    const Interval last = step.center_output(monitor.gap, 0, Interval(next) - Interval(t));
    if (!(at < next) && !(middle(last) * monitor.side <= 0)) continue;
    if (first && !(at < earliest)) continue;
    earliest = at;
    const double rounded = t + grid * std::round((at - t) / grid);
    first = Stop{.t = std::clamp(rounded, done, next), .reached = m};
  }
  return first;
}

}  // namespace

Stop next_stop(const TaylorStep& step, const Doubleton& set, double t, double grid,
               std::vector<Monitor>& monitors, ProofLog& proof) {
  double length = step.end() - t;
  Stop stop{.t = t};
  for (int trial = 0; trial < shortenings; ++trial, length /= slices) {
    for (int k = 1; k <= slices; ++k) {
      const double next = trial == 0 && k == slices ? step.end() : slice_end(t, length, k, grid);
      if (!(next > stop.t)) continue;
      std::vector<Monitor> after = monitors;
      const Interval tau = Interval(stop.t, next) - Interval(t);
      stop.undecided = watch(step, set, tau, after);
      if (stop.undecided >= 0) break;
      proof.note_slice(tau, monitors, after);
      monitors = after;
      if (const auto event = event_of_center(step, t, stop.t, next, grid, monitors)) return *event;
      stop.t = next;
    }
    if (stop.t > t || length < 2 * slices * grid) return stop;
    stop.shortened_by = stop.undecided;
  }
  return stop;
}

}  // namespace perp::enclosure
