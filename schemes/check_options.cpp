#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/base/error.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {
namespace {

constexpr double most_steps = 1e10;  ///< of a run

}  // namespace

void check_h(double h) {
  if (!(h > 0) || !std::isfinite(h))
    throw InvalidInput(fmt::format("h must be positive but is {}", h));
}

void check_theta(double theta) {
  if (!(theta >= 0.5 && theta <= 1))
    throw InvalidInput(fmt::format("theta must be in [0.5, 1] but is {}", theta));
}

void check_tolerance(double tol) {
  if (!(tol > 0 && tol < 1))
    throw InvalidInput(fmt::format("tol must be in (0, 1) but is {}", tol));
}

void check_refinements(int refinements) {
  if (refinements < 8 || refinements > 45)
    throw InvalidInput(fmt::format("refinements must be in [8, 45] but is {}", refinements));
}

void check_span(Span span, const std::vector<double>& times) {
  if (!std::isfinite(span.start) || !std::isfinite(span.end) || !(span.end > span.start))
    throw InvalidInput(fmt::format("the time span must be finite and increasing but is [{}, {}]",
                                   span.start, span.end));
  double previous = -inf;
  for (const double t : times) {
    if (!(t > previous) || t < span.start || t > span.end)
      throw InvalidInput(fmt::format("times must increase within [{}, {}] but {} follows {}",
                                     span.start, span.end, t, previous));
    previous = t;
  }
}

double smallest_h(Span span) {
  return 4 * std::numeric_limits<double>::epsilon() *
         std::max(std::abs(span.start), std::abs(span.end));
}

void check_steps(Span span, double h, const std::vector<double>& times) {
  check_span(span, times);
  if ((span.end - span.start) / h > most_steps)
    throw InvalidInput(
        fmt::format("h = {} is too small for the span [{}, {}]: it makes {:.3g} steps, expected at "
                    "most {:g}",
                    h, span.start, span.end, (span.end - span.start) / h, most_steps));
  // A step that is a few roundings of t is no step of length h: neighbouring ones end at one time.
  if (h < smallest_h(span))
    throw InvalidInput(
        fmt::format("h = {} is too small for the span [{}, {}]: there t is known to {:.2g} only, "
                    "expected at least {:.2g}; a span that begins near 0 resolves shorter steps",
                    h, span.start, span.end, smallest_h(span) / 4, smallest_h(span)));
}

}  // namespace perp
