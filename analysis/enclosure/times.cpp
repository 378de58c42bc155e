// Times of rows and steps; called by enclosures of flows and of systems.
#include <fmt/format.h>
#include <cmath>

#include <perp/analysis/enclosure/times.hpp>
#include <perp/core/base/error.hpp>

namespace perp::enclosure {

std::vector<double> times_of_rows(const Span& span, const EncloseOptions& options) {
  if (!std::isfinite(span.start) || !std::isfinite(span.end) || !(span.start < span.end))
    throw InvalidInput(
        fmt::format("the span is [{}, {}]; expected a start before the end", span.start, span.end));
  if (options.times.empty()) return {span.start, span.end};
  double before = span.start;
  for (const double t : options.times) {
    if (!(before <= t && t <= span.end))
      throw InvalidInput(fmt::format("time {} is out of order or outside of the span [{}, {}]", t,
                                     span.start, span.end));
    before = t;
  }
  return options.times;
}

double time_grid(const Span& span) {
  const double size = std::max(std::abs(span.start), std::abs(span.end));
  return std::ldexp(1.0, std::ilogb(size) - 50);
}

void check_order(const EncloseOptions& options) {
  if (options.step.order < 1 || options.step.order > 60)
    throw InvalidInput(fmt::format("the order is {}; expected 1 to 60", options.step.order));
}

}  // namespace perp::enclosure
