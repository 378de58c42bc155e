#include <doctest/doctest.h>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <perp/core/expression/expression.hpp>
#include <perp/core/interval/interval.hpp>

using namespace perp;
using enclosure::Interval;

namespace {

constexpr double huge = std::numeric_limits<double>::max();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double least_positive = std::numeric_limits<double>::denorm_min();
using Traits = ScalarTraits<Interval>;

bool is_none(const Interval& a) { return !a.has_value(); }

/// The value of a text of the model language at an interval x.
Interval value(const char* text, const Interval& x) {
  const Expression expression(text, Scope{{"x"}});
  const std::vector<Interval> inputs{x};
  return expression.evaluate(std::span<const Interval>(inputs));
}

}  // namespace

TEST_SUITE("core/expression/interval") {
  TEST_CASE("exact operations stay points") {
    CHECK(Interval(0.5) + Interval(0.25) == Interval(0.75));
    CHECK(Interval(3) * Interval(-7) == Interval(-21));
    CHECK(Interval(1) / Interval(-8) == Interval(-0.125));
    CHECK(sqrt(Interval(49)) == Interval(7));
    CHECK(square(Interval(-3)) == Interval(9));
    CHECK(pow(Interval(3), Interval(5)) == Interval(243));
    CHECK(pow(Interval(2), Interval(-3)) == Interval(0.125));
    CHECK(exp(Interval(0)) == Interval(1));
    CHECK(log(Interval(1)) == Interval(0));
    CHECK(log10(Interval(1000)) == Interval(3));
    CHECK(cos(Interval(0)) == Interval(1));
    CHECK(atan2(Interval(0), Interval(2)) == Interval(0));
  }

  TEST_CASE("what is not exact lies between two neighbours") {
    const Interval third = Interval(1) / Interval(3);
    CHECK(third.hi == std::nextafter(third.lo, 1));
    const Interval sum = Interval(1) + Interval(0x1p-80);
    CHECK(sum == Interval(1, std::nextafter(1.0, 2.0)));
    const Interval root = sqrt(Interval(2));
    CHECK(root.hi == std::nextafter(root.lo, 2));
    CHECK(Traits::pi().hi == std::nextafter(Traits::pi().lo, 4));
  }

  TEST_CASE("an overflow keeps a finite bound below and none above") {
    CHECK(Interval(huge) + Interval(huge) == Interval(huge, infinite));
    CHECK(-Interval(huge) - Interval(huge) == Interval(-infinite, -huge));
    CHECK(Interval(1e200) * Interval(1e200) == Interval(huge, infinite));
    CHECK(Interval(1e200) * Interval(-1e200) == Interval(-infinite, -huge));
    CHECK(Interval(1e200) / Interval(1e-200) == Interval(huge, infinite));
    CHECK(exp(Interval(1000)) == Interval(huge, infinite));
    CHECK(sinh(Interval(-1000)) == Interval(-infinite, -huge));
    CHECK(is_none(Interval(infinite)));
    CHECK(is_none(Interval(infinite, infinite)));
  }

  TEST_CASE("an underflow does not become 0") {
    CHECK(Interval(1e-200) * Interval(1e-200) == Interval(0, least_positive));
    CHECK(Interval(least_positive) / Interval(2) == Interval(0, least_positive));
    CHECK(exp(Interval(-1000)) == Interval(0, least_positive));
    CHECK(sin(Interval(least_positive)) == Interval(0, least_positive));
    CHECK(square(Interval(least_positive)).hi == least_positive);
  }

  TEST_CASE("unbounded sets keep the bounds that they have") {
    const Interval above(1, infinite);
    CHECK((above + Interval(1)) == Interval(2, infinite));
    CHECK((above * Interval(0)).is_zero());
    CHECK(Interval(1) / above == Interval(0, 1));
    CHECK(above - above == Interval(-infinite, infinite));
    CHECK(sin(above) == Interval(-1, 1));
    CHECK(tanh(above).hi == 1);
    CHECK(exp(-above).lo == 0);
    CHECK(atan(above).contains(1.57));
    CHECK(pow(above, Interval(-1)) == Interval(0, 1));
    CHECK(is_none(tan(above)));
  }

  TEST_CASE("where a member has no value there is none, and it is passed on") {
    const Interval mixed(-1, 1);
    for (const Interval& nothing :
         {Interval(1) / mixed, Interval(1) / Interval(0, 1), log(Interval(0, 1)), log10(mixed),
          sqrt(mixed), asin(Interval(0, 1.5)), acos(Interval(-2, 0)), tan(Interval(1, 2)),
          tan(Interval(-100, 100)), pow(mixed, Interval(0.3)), pow(mixed, Interval(-2)),
          pow(mixed, Interval(1, 2)), atan2(mixed, mixed), atan2(mixed, Interval(-2, -1)),
          Interval(2, 1)}) {
      CHECK(is_none(nothing));
      CHECK(is_none(nothing + Interval(1)));
      CHECK(is_none(Interval(0) * nothing));
      CHECK(is_none(Interval(0) / nothing));
      CHECK(is_none(square(nothing)));
      CHECK(is_none(sin(nothing)));
      CHECK(is_none(cosh(nothing)));
      CHECK(is_none(atan2(nothing, Interval(1))));
      CHECK(is_none(pow(nothing, Interval(2))));
      CHECK(is_none(Traits::abs(nothing)));
      CHECK(is_none(Traits::max(nothing, Interval(1))));
      CHECK(is_none(Traits::sign(nothing)));
      CHECK(is_none(hull(nothing, Interval(1))));
      CHECK_FALSE(intersection(nothing, Interval(1)).has_value());
    }
    CHECK_FALSE(intersection(Interval(0, 1), Interval(2, 3)).has_value());
    CHECK(intersection(Interval(0, 2), Interval(1, 3)) == Interval(1, 2));
  }

  TEST_CASE("sets that hold numbers of both signs") {
    const Interval a(-2, 3), b(-5, 7);
    CHECK(a * b == Interval(-15, 21));
    CHECK(square(a) == Interval(0, 9));
    CHECK(pow(a, Interval(2)) == Interval(0, 9));
    CHECK(pow(a, Interval(3)) == Interval(-8, 27));
    CHECK(pow(a, Interval(4)) == Interval(0, 81));
    CHECK(pow(Interval(-2), Interval(-3)) == Interval(-0.125));
    CHECK(cosh(a).lo == 1);
    CHECK(Traits::abs(a) == Interval(0, 3));
    CHECK(Traits::sign(a) == Interval(-1, 1));
    CHECK(Traits::sign(Interval(0, 2)) == Interval(0, 1));
    CHECK(Traits::min(a, b) == Interval(-5, 3));
    CHECK(Traits::max(a, b) == Interval(-2, 7));
  }

  TEST_CASE("an odd power is that of the ends, be they of one sign or of both") {
    for (const double n : {3.0, 5.0, 17.0})
      for (const Interval& x : {Interval(-1.3, 0.7), Interval(-1.3, -0.7), Interval(0.7, 1.3), Interval(-1.3, 0), Interval(0, 0.7)})
        CHECK(pow(x, Interval(n)) == Interval(pow(Interval(x.lo), Interval(n)).lo, pow(Interval(x.hi), Interval(n)).hi));
  }

  TEST_CASE("products with powers of two are rounded to their side, down to the least numbers") {
    const double below_one = 1 - 0x1p-53;
    CHECK(directed::scale_down(below_one, -1022) < 0x1p-1022);  // between two doubles, next to the least normal one
    CHECK(directed::scale_up(below_one, -1022) >= 0x1p-1022);
    CHECK(directed::scale_down(3, -1075) == least_positive);
    CHECK(directed::scale_up(3, -1075) >= 2 * least_positive);
    CHECK(directed::scale_down(0x1p-1074, 1074) == 1);
    CHECK(directed::scale_down(-1, 1024) == -infinite);
    CHECK(directed::scale_down(1, 1024) == huge);
    for (const int k : {-1100, -1021, -3, 0, 5, 1000, 1023})
      CHECK(directed::scale_down(0.75, k) <= directed::scale_up(0.75, k));
    CHECK(directed::scale_down(0.7, 1023) == 0.7 * 0x1p1023);
  }

  TEST_CASE("sine and cosine take their extremes where they lie inside, and only there") {
    const double right = 0x1.921fb54442d18p+0;  // below π/2
    const double beyond = std::nextafter(right, 2);
    CHECK(sin(Interval(right, beyond)).hi == 1);
    CHECK(sin(Interval(0, beyond)).hi == 1);
    CHECK(sin(Interval(-right, -1)).lo >= -1);
    CHECK(sin(Interval(-beyond, -1)).lo == -1);
    CHECK(cos(Interval(3, 4)).lo == -1);
    CHECK(cos(Interval(3, 4)).hi < -0.6);
    CHECK(cos(Interval(-1, 1)) == Interval(cos(Interval(1)).lo, 1));
    CHECK(sin(Interval(0, 6.2)) == Interval(-1, 1));
    CHECK(cos(Interval(0.1, 6.2)).hi < 1);
    CHECK(sin(Interval(0.1, 6.4)) == Interval(-1, 1));
    CHECK(sin(Interval(1e22, 1e22)).hi < -0.8522);  // sin 10^22 = −0.85220084976713…
    CHECK(sin(Interval(1e22, 1e22)).lo > -0.8523);
  }

  TEST_CASE("the model language runs on intervals") {
    const Interval x(1, 2);
    CHECK(value("x^2 - 2*x + sqrt(x)", x).contains(value("x^2 - 2*x + sqrt(x)", Interval(1.5))));
    CHECK(value("min(x, 1.5) + abs(-x)", x) == Interval(2, 3.5));
    CHECK(value("pi*x/x", Interval(4)).contains(Traits::pi()));
    CHECK(is_none(value("log(x - 2)", x)));
    CHECK(is_none(value("inf*x", x)));
  }

  TEST_CASE("the guard sees another rounding mode and flushed numbers") {
    CHECK_NOTHROW(enclosure::require_directed_arithmetic());
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      std::fesetround(mode);
      bool refused = false;
      try {
        enclosure::require_directed_arithmetic();
      } catch (const std::runtime_error&) {
        refused = true;
      }
      std::fesetround(FE_TONEAREST);
      CHECK(refused);
    }
#if defined(__SSE2__)
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040U);
    bool refused = false;
    try {
      enclosure::require_directed_arithmetic();
    } catch (const std::runtime_error&) {
      refused = true;
    }
    _mm_setcsr(before);
    CHECK(refused);
#endif
  }
}
