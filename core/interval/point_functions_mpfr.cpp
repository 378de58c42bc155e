// Functions at points from MPFR, which rounds every one of them correctly in the direction asked
// for: the build that relies on no property of double words, in place of point_functions.cpp.
#include <mpfr.h>

#include <perp/core/interval/point_functions.hpp>

namespace perp::enclosure::at_point {
namespace {

/// A number of 53 bits.
struct Number {
  Number() { mpfr_init2(value, 53); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value); }
  /// False where the host program leaves MPFR fewer exponents than doubles have.
  bool set(double x) { return mpfr_set_d(value, x, MPFR_RNDN) == 0; }
  mpfr_t value;
};

/// The doubles around the value of which y is the number below, or itself where it is exact.
Interval surrounding(Number& y, bool is_exact) {
  const double lo = mpfr_get_d(y.value, MPFR_RNDD) + 0.0;  // −0 becomes 0
  if (!is_exact) mpfr_nextabove(y.value);
  return {lo, mpfr_get_d(y.value, MPFR_RNDU) + 0.0};
}

Interval value(int (*f)(mpfr_t, const mpfr_t, mpfr_rnd_t), double at) {
  Number x, y;
  if (!x.set(at)) return Interval::none();
  const int error = f(y.value, x.value, MPFR_RNDD);
  return surrounding(y, error == 0);
}

Interval value(int (*f)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t), double a, double b) {
  Number x, y, z;
  if (!x.set(a) || !y.set(b)) return Interval::none();
  const int error = f(z.value, x.value, y.value, MPFR_RNDD);
  return surrounding(z, error == 0);
}

/// By the signs of sine and cosine, of which no double but 0 has a zero; 0 is in the first one.
int quadrant(const Interval& sine, const Interval& cosine) {
  if (sine.lo >= 0) return cosine.lo >= 0 ? 0 : 1;
  return cosine.lo >= 0 ? 3 : 2;
}

}  // namespace

Interval exp(double x) { return value(mpfr_exp, x); }
Interval log(double x) { return value(mpfr_log, x); }
Interval log10(double x) { return value(mpfr_log10, x); }
Interval tan(double x) { return value(mpfr_tan, x); }
Interval asin(double x) { return value(mpfr_asin, x); }
Interval acos(double x) { return value(mpfr_acos, x); }
Interval atan(double x) { return value(mpfr_atan, x); }
Interval sinh(double x) { return value(mpfr_sinh, x); }
Interval cosh(double x) { return value(mpfr_cosh, x); }
Interval tanh(double x) { return value(mpfr_tanh, x); }
Interval atan2(double y, double x) { return value(mpfr_atan2, y, x); }
Interval pow(double x, double y) { return value(mpfr_pow, x, y); }

Turned sin(double x) {
  const Interval sine = value(mpfr_sin, x);
  return {sine, quadrant(sine, value(mpfr_cos, x))};
}
Turned cos(double x) {
  const Interval cosine = value(mpfr_cos, x);
  return {cosine, quadrant(value(mpfr_sin, x), cosine)};
}

}  // namespace perp::enclosure::at_point
