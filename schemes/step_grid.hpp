#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <perp/core/trajectory.hpp>

namespace perp {

/// Steps of one length h on a grid, step k to from + k h: first, first + 1, ..., last.
struct UniformSteps {
  double from, h;
  long first, last;

  [[nodiscard]] double end(long k) const { return from + static_cast<double>(k) * h; }
};

/// Steps of length h through the span, shorter only to land on a requested time or the end: calls
/// go(t_next, length, is_asked) for each until one returns false. Before each, leap(steps) may take
/// some of those at once that no one asks for, and returns how many it took.
template <class Leap, class Go>
void for_each_step(Span span, double h, const std::vector<double>& times, const Leap& leap,
                   const Go& go) {
  std::vector<double> targets;
  for (const double t : times)
    if (t > span.start && t < span.end) targets.push_back(t);
  targets.push_back(span.end);
  double from = span.start;
  for (const double to : targets) {
    const double exact = (to - from) / h;
    const auto count = std::max(1L, static_cast<long>(std::ceil(exact * (1 - 1e-14) - 1e-9)));
    for (long k = 1; k <= count; ++k) {
      k += leap(UniformSteps{from, h, k, count - 1});
      const bool last = k == count;
      const double t_next = last ? to : from + static_cast<double>(k) * h;
      const double rest = to - (from + static_cast<double>(count - 1) * h);
      // Rounding of t makes no new step length: the last step is h where it is h up to that.
      const bool whole = std::abs(rest - h) <= 16 * std::numeric_limits<double>::epsilon() *
                                                   (std::abs(from) + std::abs(to));
      if (!go(t_next, last && !whole ? rest : h, last)) return;
    }
    from = to;
  }
}

}  // namespace perp
