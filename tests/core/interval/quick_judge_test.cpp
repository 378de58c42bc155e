// The quick functions judged by MPFR: what they claim of their own error, at the places where they
// change from one formula to another too.
#include <doctest/doctest.h>
#include <mpfr.h>
#include <cmath>
#include <cstdlib>
#include <random>

#include <perp/core/interval/quick.hpp>

using namespace perp;
using enclosure::DoubleWord;
namespace quick = enclosure::quick;

namespace {

/// PERP_JUDGE: how many points per function, for a long run.
int points(int usual) {
  const char* asked = std::getenv("PERP_JUDGE");
  return asked == nullptr ? usual : std::atoi(asked);
}

class Judge {
 public:
  Judge() {
    mpfr_init2(x_, 53);
    mpfr_init2(y_, 400);
  }
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  ~Judge() {
    mpfr_clear(x_);
    mpfr_clear(y_);
  }

  /// The error of found · 2^exponent, as a share of what it claims.
  double share(int (*f)(mpfr_t, const mpfr_t, mpfr_rnd_t), double x, const DoubleWord& found,
               int exponent = 0) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    f(y_, x_, MPFR_RNDN);
    mpfr_mul_2si(y_, y_, -exponent, MPFR_RNDN);
    relative_ = found.error / std::abs(mpfr_get_d(y_, MPFR_RNDN));
    mpfr_sub_d(y_, y_, found.high, MPFR_RNDN);
    mpfr_sub_d(y_, y_, found.low, MPFR_RNDN);
    return std::abs(mpfr_get_d(y_, MPFR_RNDN)) / found.error;
  }
  [[nodiscard]] double relative() const { return relative_; }

 private:
  mpfr_t x_, y_;
  double relative_ = 0;
};

/// Of all sizes, beside multiples of π/2, of 1/64, of 1/128 and of ln 2/64.
double argument(std::mt19937_64& random, int k) {
  const double u = std::uniform_real_distribution<double>(-1, 1)(random);
  const double n = static_cast<double>(random() % 4001) - 2000;
  const double near = 1 + std::ldexp(u, -static_cast<int>(random() % 53));
  switch (k % 6) {
    case 0: return u * 20;
    case 1: return std::ldexp(u, static_cast<int>(random() % 47) - 27);
    case 2: return n * M_PI_2 * near;
    case 3: return n / 128 * near;
    case 4: return n * (M_LN2 / 64) * near;
    default: return u * 700;
  }
}

}  // namespace

TEST_SUITE("core/interval/quick/judge") {
  TEST_CASE("exponential, sine and cosine are right to their own errors, which are small") {
    std::mt19937_64 random(6);
    Judge judge;
    double worst_sine = 0, worst_cosine = 0, worst_exp = 0, least_known = 0;
    int known = 0, turned = 0;
    for (int k = 0; k < points(100'000); ++k) {
      const double x = argument(random, k);
      const quick::Turns turns = quick::quarter_turns(x);
      ++turned;
      if (turns.is_known) {
        ++known;
        worst_sine = std::max(worst_sine, judge.share(mpfr_sin, x, quick::sine(turns)));
        least_known = std::max(least_known, judge.relative());
        worst_cosine = std::max(worst_cosine, judge.share(mpfr_cos, x, quick::cosine(turns)));
        least_known = std::max(least_known, judge.relative());
      }
      if (std::abs(x) > 700) continue;
      const auto power = quick::exp(x);
      worst_exp = std::max(worst_exp, judge.share(mpfr_exp, x, power.mantissa, power.exponent));
    }
    CHECK(worst_sine < 1);
    CHECK(worst_cosine < 1);
    CHECK(worst_exp < 1);
    CHECK(least_known < 0x1p-60);
    CHECK(known > turned / 2);
  }

  TEST_CASE("what is too large, or too near to a multiple of a quarter turn, is left to others") {
    CHECK_FALSE(quick::quarter_turns(2e6).is_known);
    CHECK_FALSE(quick::quarter_turns(-1e300).is_known);
    CHECK_FALSE(quick::quarter_turns(M_PI).is_known);
    CHECK_FALSE(quick::quarter_turns(1e-9).is_known);
    CHECK(quick::quarter_turns(-2).is_known);
    CHECK(quick::quarter_turns(-2).quadrant == 3);  // −2 = −π/2 − 0.43
  }
}
