// The errors of products, by fused operations where the processor has them: the program is built for processors that may not.
#include <perp/core/interval/ends.hpp>

#if defined(__SSE2__) && !defined(__FMA__)
#include <immintrin.h>

namespace perp::enclosure {

__attribute__((target("fma"))) Ends product_errors_of_fused(Ends a, Ends b, Ends p) {
  return Ends(_mm_fmsub_pd(a.both_, b.both_, p.both_));
}

namespace {

/// By the functions of the C library, one end after the other.
Ends product_errors_of_any(Ends a, Ends b, Ends p) {
  return {std::fma(a.lower(), b.lower(), -p.lower()), std::fma(a.upper(), b.upper(), -p.upper())};
}

/// Until this is initialized, which needs no order, the general one; both give the same numbers.
Ends (*chosen)(Ends, Ends, Ends) = product_errors_of_any;

const bool is_chosen = [] {
  if (__builtin_cpu_supports("fma") != 0) chosen = product_errors_of_fused;
  return true;
}();

}  // namespace

Ends (*const& product_errors)(Ends a, Ends b, Ends p) = chosen;

}  // namespace perp::enclosure

#endif
