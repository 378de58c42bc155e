#pragma once

#include <mpfr.h>

#include <perp/core/interval/interval.hpp>

namespace perp::test {

/// The two numbers of 53 bits that are next to a value, one where it is one itself, by MPFR: it
/// rounds correctly, so that more bits would tell no more.
class Neighbours {
 public:
  Neighbours() {
    mpfr_init2(x_, 53);
    mpfr_init2(y_, 53);
    mpfr_init2(below.value, 53);
    mpfr_init2(above.value, 53);
  }
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;
  ~Neighbours() {
    mpfr_clear(x_);
    mpfr_clear(y_);
  }

  void judge(int (*f)(mpfr_t, const mpfr_t, mpfr_rnd_t), double x) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    surround(f(below.value, x_, MPFR_RNDD));
  }
  void judge(int (*f)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t), double x, double y) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_set_d(y_, y, MPFR_RNDN);
    surround(f(below.value, x_, y_, MPFR_RNDD));
  }

  /// How many doubles the bounds are beyond the two that are next to the value; −1: it is outside.
  [[nodiscard]] int excess(const enclosure::Interval& found) const {
    if (mpfr_cmp_d(below.value, found.lo) < 0 || mpfr_cmp_d(above.value, found.hi) > 0) return -1;
    double lo = mpfr_get_d(below.value, MPFR_RNDD), hi = mpfr_get_d(above.value, MPFR_RNDU);
    int count = 0;
    for (; lo > found.lo && count < 99; ++count) lo = directed::next_down(lo);
    for (; hi < found.hi && count < 99; ++count) hi = directed::next_up(hi);
    return count;
  }

 private:
  struct Bits53 {
    Bits53() = default;
    Bits53(const Bits53&) = delete;
    Bits53& operator=(const Bits53&) = delete;
    ~Bits53() { mpfr_clear(value); }
    mpfr_t value;
  };
  void surround(int sign_of_error) {
    mpfr_set(above.value, below.value, MPFR_RNDN);
    if (sign_of_error != 0) mpfr_nextabove(above.value);
  }
  mpfr_t x_, y_;
  Bits53 below{}, above{};
};

}  // namespace perp::test
