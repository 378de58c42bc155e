// Sums of products of intervals judged by MPFR with as many bits as make its sums exact.
#include <doctest/doctest.h>
#include <mpfr.h>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include <perp/core/interval/interval_sum.hpp>

using namespace perp;
using enclosure::Interval;
using enclosure::IntervalSum;

namespace {

/// PERP_JUDGE: how many sums, for a long run.
int sums(int usual) {
  const char* asked = std::getenv("PERP_JUDGE");
  return asked == nullptr ? usual : std::atoi(asked);
}

/// Exact: products of doubles are multiples of 2^−2148 below 2^2048.
class Exact {
 public:
  Exact() { mpfr_init2(value, 4300); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  ~Exact() { mpfr_clear(value); }
  void set_product(double a, double b) {
    mpfr_set_d(value, a, MPFR_RNDN);
    mpfr_mul_d(value, value, b, MPFR_RNDN);
  }
  mpfr_t value;
};

/// The least and the largest sum of a_i b_i, and Σ max |a_i b_i|.
struct Judge {
  Exact lower{}, upper{}, size{};
  std::array<Exact, 4> products{};

  Judge() {
    for (Exact* sum : {&lower, &upper, &size}) mpfr_set_zero(sum->value, 1);
  }
  void add(const Interval& a, const Interval& b) {
    int least = 0, most = 0;
    for (int k = 0; k < 4; ++k) {
      products[static_cast<std::size_t>(k)].set_product(k < 2 ? a.lo : a.hi,
                                                        k % 2 == 0 ? b.lo : b.hi);
      if (mpfr_less_p(at(k), at(least))) least = k;
      if (mpfr_greater_p(at(k), at(most))) most = k;
    }
    mpfr_add(lower.value, lower.value, at(least), MPFR_RNDN);
    mpfr_add(upper.value, upper.value, at(most), MPFR_RNDN);
    mpfr_ptr larger = mpfr_cmpabs(at(least), at(most)) > 0 ? at(least) : at(most);
    mpfr_abs(larger, larger, MPFR_RNDN);
    mpfr_add(size.value, size.value, larger, MPFR_RNDN);
  }
  [[nodiscard]] mpfr_ptr at(int k) { return products[static_cast<std::size_t>(k)].value; }
  [[nodiscard]] bool is_held_by(const Interval& found) const {
    return mpfr_cmp_d(lower.value, found.lo) >= 0 && mpfr_cmp_d(upper.value, found.hi) <= 0;
  }
};

class Numbers {
 public:
  double number(int kind) {
    const double m = std::uniform_real_distribution<double>(-2, 2)(random_);
    switch (kind % 6) {
      case 0: return m;
      case 1: return std::ldexp(m, whole(-1074, 1022));
      case 2: return whole(-9, 9);  // short, and often 0
      case 3: return std::ldexp(m, whole(-540, -480));
      case 4: return std::ldexp(1 + std::ldexp(1.0, -whole(0, 52)), whole(-3, 3));
      default: return std::ldexp(whole(-40'000'000, 40'000'000), whole(-500, 460));
    }
  }
  Interval interval(int kind) {
    const double x = number(kind);
    switch (random_() % 4) {
      case 0: return Interval(x);
      case 1: return {std::min(x, directed::next_up(x)), std::max(x, directed::next_up(x))};
      case 2: return enclosure::hull(Interval(x), Interval(number(kind)));
      default: return enclosure::hull(Interval(x), Interval(x * (1 + 0x1p-20)));
    }
  }
  int whole(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

 private:
  std::mt19937_64 random_{8};
};

}  // namespace

TEST_SUITE("core/interval/interval_sum/judge") {
  TEST_CASE("sums of products contain the exact ones, and are as sharp as one rounding a term") {
    Numbers random;
    long outside = 0, blunt = 0, exact_sums = 0, inexact = 0;
    for (int trial = 0; trial < sums(60'000); ++trial) {
      const int count = random.whole(1, 20), kind = random.whole(0, 11);
      std::vector<Interval> a, b;
      bool are_exact = true;
      for (int i = 0; i < count; ++i) {
        a.push_back(random.interval(kind < 6 ? kind : random.whole(0, 5)));
        b.push_back(random.interval(kind < 6 ? kind : random.whole(0, 5)));
        are_exact = are_exact && is_short(a.back()) && is_short(b.back());
      }
      Judge judge;
      for (int i = 0; i < count; ++i)
        judge.add(a[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(count - 1 - i)]);
      IntervalSum sum;
      sum.add_products(a.data(), &b.back(), count, are_exact);
      const bool twice = trial % 3 == 0;
      if (twice) {
        sum.redouble();
        for (Exact* whole : {&judge.lower, &judge.upper, &judge.size})
          mpfr_mul_2ui(whole->value, whole->value, 1, MPFR_RNDN);
      }
      const Interval found = sum.value();
      if (!judge.is_held_by(found)) ++outside;
      if (!found.is_bounded()) continue;
      // one rounding of the product and one of the sum a term, counted to both sides
      const double most = (2.0 * count + 2) * 0x1p-52 * mpfr_get_d(judge.size.value, MPFR_RNDU);
      const Interval lower(mpfr_get_d(judge.lower.value, MPFR_RNDD)),
          upper(mpfr_get_d(judge.upper.value, MPFR_RNDU));
      if ((lower - Interval(found.lo)).hi > most + count * 0x1p-1070 ||
          (Interval(found.hi) - upper).hi > most + count * 0x1p-1070)
        ++blunt;
      if (!are_exact || kind != 2) continue;  // small whole numbers
      const bool is_exact = mpfr_cmp_d(judge.lower.value, found.lo) == 0 &&
                            mpfr_cmp_d(judge.upper.value, found.hi) == 0;
      ++(is_exact ? exact_sums : inexact);
    }
    CHECK(outside == 0);
    CHECK(blunt == 0);
    CHECK(exact_sums > 0);
    CHECK(inexact == 0);
  }

  TEST_CASE("a product of two short numbers is a double") {
    Numbers random;
    int count = 0;
    for (int trial = 0; trial < 200'000; ++trial) {
      const double x = random.number(trial % 6), y = random.number(trial / 6 % 6);
      if (!enclosure::is_short(x) || !enclosure::is_short(y)) continue;
      ++count;
      CHECK(directed::multiply_down(x, y) == directed::multiply_up(x, y));
    }
    CHECK(count > 10'000);
    CHECK_FALSE(enclosure::is_short(1 + 0x1p-26));
    CHECK(enclosure::is_short(1 + 0x1p-25));
    CHECK_FALSE(enclosure::is_short(0x1p-481));
    CHECK(enclosure::is_short(-0x1p-480));
    CHECK_FALSE(enclosure::is_short(0x1p481));
    CHECK(enclosure::is_short(0.0));
  }

  TEST_CASE("terms that overflow leave a sum without bounds, not a wrong one") {
    const std::vector<Interval> large{Interval(1e200), Interval(1), Interval(-1e200)};
    IntervalSum sum;
    sum.add_products(large.data(), &large.back(), 3, false);  // −10^400 + 1 − 10^400
    CHECK_FALSE(sum.value().is_bounded());
    CHECK(sum.value().has_value());
    IntervalSum twice(Interval(1.7e308));
    twice.redouble();
    CHECK(twice.value().hi == directed::infinity);
  }
}
