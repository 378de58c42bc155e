// The signs of gaps over slices of a step; called by the pieces of enclosures.
#include <perp/analysis/enclosure/modes/monitor.hpp>

namespace perp::enclosure {

Interval gap_range(const TaylorStep& step, const Monitor& monitor, int order, const Interval& tau,
                   const Doubleton& set) {
  const Interval value = step.output(monitor.gap, order, tau, set);
  return monitor.side > 0 ? value : -value;
}

namespace {

/// The sign of a derivative of m; the mean value form where plain evaluation does not tell.
int sign_over(const TaylorStep& step, const Monitor& monitor, int order, const Interval& tau,
              const Doubleton& set) {
  const int plain = certain_sign(step.output(monitor.gap, order, tau));
  if (plain != 0) return plain * monitor.side;
  return certain_sign(gap_range(step, monitor, order, tau, set));
}

/// Of a gap that bends: does it still, or does it rise now?
bool advance_bending(const TaylorStep& step, Monitor& monitor, const Interval& tau,
                     const Doubleton& set) {
  if (sign_over(step, monitor, 2, tau, set) > 0) return true;
  if (!(sign_over(step, monitor, 1, tau, set) > 0)) return false;
  monitor.trend = Trend::rising;
  return true;
}

bool advance(const TaylorStep& step, Monitor& monitor, const Interval& tau, const Doubleton& set) {
  const auto sign = [&](int order) { return sign_over(step, monitor, order, tau, set); };
  if (monitor.trend == Trend::bending && advance_bending(step, monitor, tau, set)) return true;
  if (sign(0) > 0) {
    monitor.trend = Trend::positive;
    return true;
  }
  const int slope = monitor.trend == Trend::bending ? 0 : sign(1);
  switch (monitor.trend) {
    case Trend::positive:
      if (slope < 0) monitor.trend = Trend::falling;
      return slope != 0;
    case Trend::falling: return slope < 0;
    case Trend::rising: return slope > 0;
    default: return false;
  }
}

}  // namespace

int watch(const TaylorStep& step, const Doubleton& set, const Interval& tau,
          std::vector<Monitor>& monitors) {
  for (std::size_t k = 0; k < monitors.size(); ++k)
    if (!advance(step, monitors[k], tau, set)) return static_cast<int>(k);
  return -1;
}

}  // namespace perp::enclosure
