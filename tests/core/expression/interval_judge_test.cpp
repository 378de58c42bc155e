// Intervals judged by MPFR, where CMake found it: points over all binades first, whose bounds hide
// no error, then members of wide sets.
#include <doctest/doctest.h>
#include <mpfr.h>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <perp/core/interval/elementary.hpp>
#include <perp/core/interval/interval.hpp>
#include <perp/tests/core/interval/neighbours.hpp>

using namespace perp;
using enclosure::Interval;
using test::Neighbours;

namespace {

/// A number of 400 bits.
class Exact {
 public:
  Exact() { mpfr_init2(value, 400); }
  explicit Exact(double x) : Exact() { mpfr_set_d(value, x, MPFR_RNDN); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  ~Exact() { mpfr_clear(value); }
  mpfr_t value;
};

/// PERP_JUDGE: how many points per function, for a long run; operations without a series take 20
/// times as many.
int points(int usual) {
  const char* asked = std::getenv("PERP_JUDGE");
  return asked == nullptr ? usual : std::atoi(asked);
}

class Points {
 public:
  explicit Points(unsigned seed) : random_(seed) {}

  /// A finite double whose exponent is between the two.
  double any(int least = -1074, int most = 1023) {
    const double m = std::uniform_real_distribution<double>(1, 2)(random_);
    const int e = std::uniform_int_distribution<int>(least, most)(random_);
    return sign() * std::ldexp(few_bits() ? std::floor(8 * m) / 8 : m, e);
  }
  double sign() { return random_() % 2 == 0 ? 1 : -1; }
  bool few_bits() { return random_() % 8 == 0; }
  double between(double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random_);
  }
  /// Near a number that is special to somebody.
  double special() {
    static const std::vector<double> list{0,
                                          0.5,
                                          1,
                                          2,
                                          10,
                                          M_PI,
                                          M_PI / 2,
                                          M_PI / 4,
                                          3 * M_PI,
                                          0.0625,
                                          0.375,
                                          0.78,
                                          40,
                                          709.78,
                                          745.13,
                                          0x1p-27,
                                          0x1p-54,
                                          0x1p-60,
                                          0x1p60,
                                          1e22,
                                          0.7071067811865476,
                                          1e300,
                                          0x1p-1022,
                                          0x1p-1074,
                                          1.7976931348623157e308,
                                          6381956970095103 * 0x1p797};
    double x = sign() * list[random_() % list.size()];
    for (unsigned k = random_() % 4; k > 0; --k) x = std::nextafter(x, sign() * 1e308);
    return std::isfinite(x) ? x : 1;
  }
  double mixed() {
    switch (random_() % 4) {
      case 0: return any();
      case 1: return any(-30, 12);
      case 2: return between(-4, 4);
      default: return special();
    }
  }

 private:
  std::mt19937_64 random_;
};

/// How many doubles the bounds are beyond the two that are next to y; −1: y is outside.
int excess(const Interval& found, const Exact& y) {
  if (mpfr_cmp_d(y.value, found.lo) < 0 || mpfr_cmp_d(y.value, found.hi) > 0) return -1;
  double lo = mpfr_get_d(y.value, MPFR_RNDD), hi = mpfr_get_d(y.value, MPFR_RNDU);
  int count = 0;
  for (; lo > found.lo && count < 99; ++count) lo = directed::next_down(lo);
  for (; hi < found.hi && count < 99; ++count) hi = directed::next_up(hi);
  return count;
}

struct Tally {
  long total = 0, outside = 0, wide = 0, none = 0;
  double worst_x = 0, worst_y = 0;
  int most = 0;
  void add(const Interval& found, const Neighbours& exact, double x, double y, int allowed) {
    ++total;
    if (!found.has_value()) {
      ++none;
      return;
    }
    const int e = exact.excess(found);
    if (e < 0) ++outside;
    if (e > allowed) ++wide;
    if (e < 0 || e > most) {
      worst_x = x, worst_y = y;
      most = e < 0 ? 1000 : e;
    }
  }
  void check(const std::string& name) const {
    CAPTURE(name);
    CAPTURE(worst_x);
    CAPTURE(worst_y);
    CAPTURE(most);
    CHECK(outside == 0);
    CHECK(wide == 0);
    CHECK(none == 0);
  }
};

struct Function {
  std::string name;
  std::function<Interval(const Interval&)> interval;
  int (*judge)(mpfr_t, const mpfr_t, mpfr_rnd_t);
  std::function<bool(double)> domain = [](double) { return true; };
  int allowed = 1;  ///< doubles beyond the two next to the value
  [[nodiscard]] bool is_cheap() const { return name == "sqrt" || name == "square" || name == "abs"; }
};

int judged_sqr(mpfr_t y, const mpfr_t x, mpfr_rnd_t r) { return mpfr_sqr(y, x, r); }
int judged_abs(mpfr_t y, const mpfr_t x, mpfr_rnd_t r) { return mpfr_abs(y, x, r); }
int judged_sign(mpfr_t y, const mpfr_t x, mpfr_rnd_t r) { return mpfr_set_si(y, mpfr_sgn(x), r); }

std::vector<Function> functions() {
  using namespace enclosure;
  const auto of = [](Interval (*f)(const Interval&)) { return f; };
  const auto positive = [](double x) { return x > 0; };
  const auto one = [](double x) { return std::abs(x) <= 1; };
  return {{"exp", of(exp), mpfr_exp, [](double) { return true; }, 2},
          {"log", of(log), mpfr_log, positive},
          {"log10", of(log10), mpfr_log10, positive},
          {"sin", of(sin), mpfr_sin},
          {"cos", of(cos), mpfr_cos},
          {"tan", of(tan), mpfr_tan},
          {"asin", of(asin), mpfr_asin, one},
          {"acos", of(acos), mpfr_acos, one},
          {"atan", of(atan), mpfr_atan},
          {"sinh", of(sinh), mpfr_sinh},
          {"cosh", of(cosh), mpfr_cosh},
          {"tanh", of(tanh), mpfr_tanh},
          {"sqrt", of(sqrt), mpfr_sqrt, [](double x) { return x >= 0; }, 2},
          {"square", of(square), judged_sqr, [](double) { return true; }, 2},
          {"abs", of(ScalarTraits<Interval>::abs), judged_abs, [](double) { return true; }, 0},
          {"sign", of(ScalarTraits<Interval>::sign), judged_sign, [](double) { return true; }, 0}};
}

struct Binary {
  std::string name;
  std::function<Interval(const Interval&, const Interval&)> interval;
  int (*judge)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
  std::function<bool(double, double)> domain;
  int allowed;
  [[nodiscard]] bool is_cheap() const { return name != "atan2" && name != "pow"; }
};

std::vector<Binary> operations() {
  const auto all = [](double, double) { return true; };
  return {
      {"add", [](const Interval& a, const Interval& b) { return a + b; }, mpfr_add, all, 2},
      {"subtract", [](const Interval& a, const Interval& b) { return a - b; }, mpfr_sub, all, 2},
      {"multiply", [](const Interval& a, const Interval& b) { return a * b; }, mpfr_mul, all, 2},
      {"divide", [](const Interval& a, const Interval& b) { return a / b; }, mpfr_div,
       [](double, double y) { return y != 0; }, 2},
      {"min", ScalarTraits<Interval>::min, mpfr_min, all, 0},
      {"max", ScalarTraits<Interval>::max, mpfr_max, all, 0},
      {"atan2", [](const Interval& a, const Interval& b) { return atan2(a, b); }, mpfr_atan2,
       [](double y, double x) { return y != 0 || x > 0; }, 3},
      {"pow", [](const Interval& a, const Interval& b) { return pow(a, b); }, mpfr_pow,
       [](double x, double y) {
         return x > 0 || (x == 0 && y >= 0) || (x < 0 && y == std::floor(y));
       },
       3}};
}

/// Arguments at which the power is neither beyond all doubles nor next to 1 nearly always.
double exponent_for(Points& random, double x, int k) {
  if (k % 3 == 0) return std::floor(random.between(-12, 12));
  if (k % 3 == 1) return random.mixed();
  const double log = std::log2(std::abs(x));
  return random.between(-1074, 1024) / (log == 0 || !std::isfinite(log) ? 1 : log);
}

}  // namespace

TEST_SUITE("core/expression/interval/judge") {
  TEST_CASE("functions of points contain the value and stay beside it, over all binades") {
    Points random(1);
    long total = 0;
    for (const Function& f : functions()) {
      Tally tally;
      Neighbours y;
      const int count = points(20'000) * (f.is_cheap() ? 20 : 1);
      for (int k = 0; k < count; ++k) {
        double x = random.mixed();
        if (!f.domain(x)) x = std::abs(x) > 1 ? 1 / x : -x;
        if (!f.domain(x)) x = -x;
        if (!f.domain(x)) continue;
        y.judge(f.judge, x);
        tally.add(f.interval(Interval(x)), y, x, 0, f.allowed);
      }
      tally.check(f.name);
      total += tally.total;
    }
    if (points(0) > 0) MESSAGE(total, " points");
  }

  TEST_CASE("operations on points contain the value and stay beside it, over all binades") {
    Points random(2);
    long total = 0;
    for (const Binary& f : operations()) {
      Tally tally;
      Neighbours z;
      const int count = points(20'000) * (f.is_cheap() ? 20 : 1);
      for (int k = 0; k < count; ++k) {
        const double x = random.mixed();
        double y = f.name == "pow" ? exponent_for(random, x, k) : random.mixed();
        if (!f.domain(x, y)) continue;
        z.judge(f.judge, x, y);
        tally.add(f.interval(Interval(x), Interval(y)), z, x, y, f.allowed);
      }
      tally.check(f.name);
      total += tally.total;
    }
    if (points(0) > 0) MESSAGE(total, " points");
  }

  TEST_CASE("sets contain the values of their members, and their bounds are reached") {
    Points random(3);
    for (const Function& f : functions()) {
      CAPTURE(f.name);
      Exact y;
      long outside = 0;
      for (int k = 0; k < points(10000); ++k) {
        const double a = random.mixed(),
                     b = k % 2 == 0 ? random.mixed() : a + random.between(-8, 8);
        const Interval set(std::min(a, b), std::max(a, b));
        const Interval found = f.interval(set);
        if (!found.has_value()) {
          const bool defined = f.domain(set.lo) && f.domain(set.hi) && f.name != "tan";
          if (defined) ++outside;
          continue;
        }
        for (int j = 0; j < 6; ++j) {
          const double x =
              j == 0
                  ? set.lo
                  : (j == 1 ? set.hi : set.lo + (set.hi / 2 - set.lo / 2) * random.between(0, 2));
          if (!set.contains(x)) continue;
          const Exact exact(x);
          f.judge(y.value, exact.value, MPFR_RNDN);
          if (excess(found, y) < 0) ++outside;
        }
      }
      CHECK(outside == 0);
    }
  }

  TEST_CASE("sets of every pair of signs contain the results of their members") {
    Points random(4);
    for (const Binary& f : operations()) {
      CAPTURE(f.name);
      Exact z;
      long outside = 0;
      for (int k = 0; k < points(10000); ++k) {
        const double scale = k % 2 == 0 ? 4 : random.any(-300, 300);
        const double a = scale * random.between(-1, 1), b = scale * random.between(-1, 1);
        const double c = random.between(-4, 4),
                     d = k % 3 == 0 ? std::floor(random.between(-6, 6)) : random.between(-4, 4);
        const Interval x(std::min(a, b), std::max(a, b)),
            y(std::min(k % 3 == 0 ? d : c, d), std::max(k % 3 == 0 ? d : c, d));
        const Interval found = f.interval(x, y);
        for (int j = 0; j < 6 && found.has_value(); ++j) {
          const double p =
              j < 2 ? x.lo
                    : (j < 4 ? x.hi
                             : std::clamp(x.lo + (x.hi - x.lo) * random.between(0, 1), x.lo, x.hi));
          const double q =
              j % 2 == 0
                  ? y.lo
                  : (j < 4 ? y.hi
                           : std::clamp(y.lo + (y.hi - y.lo) * random.between(0, 1), y.lo, y.hi));
          const Exact exact_p(p), exact_q(q);
          f.judge(z.value, exact_p.value, exact_q.value, MPFR_RNDN);
          if (excess(found, z) < 0) ++outside;
        }
      }
      CHECK(outside == 0);
    }
  }

  TEST_CASE("functions in double words are right to their own errors, which are below 2^-95") {
    namespace elementary = enclosure::elementary;
    using enclosure::DoubleWord;
    Points random(5);
    Exact y, found, error;
    const auto check = [&](const DoubleWord& value, double slack) {
      mpfr_set_d(found.value, value.high, MPFR_RNDN);
      mpfr_add_d(found.value, found.value, value.low, MPFR_RNDN);
      mpfr_sub(error.value, found.value, y.value, MPFR_RNDN);
      mpfr_abs(error.value, error.value, MPFR_RNDN);
      return mpfr_cmp_d(error.value, value.error) <= 0 &&
             value.error <= slack * std::abs(value.high);
    };
    int wrong = 0;
    for (int k = 0; k < points(5000); ++k) {
      const double x = random.between(-0.78, 0.78), size = std::abs(x) + 0x1p-20;
      const Exact exact(x);
      mpfr_sin(y.value, exact.value, MPFR_RNDN);
      if (!check(elementary::sin_near_zero(DoubleWord(x)), 0x1p-95)) ++wrong;
      mpfr_cos(y.value, exact.value, MPFR_RNDN);
      if (!check(elementary::cos_near_zero(DoubleWord(x)), 0x1p-95)) ++wrong;
      const Exact half(x / 2);
      mpfr_sinh(y.value, half.value, MPFR_RNDN);
      if (!check(elementary::sinh_near_zero(DoubleWord(x / 2)), 0x1p-95)) ++wrong;
      const double large = 700 * x;
      const Exact exponent(large);
      mpfr_exp(y.value, exponent.value, MPFR_RNDN);
      const elementary::Scaled power = elementary::exp(DoubleWord(large));
      mpfr_mul_2si(y.value, y.value, -power.exponent, MPFR_RNDN);
      if (!check(power.mantissa, 0x1p-90)) ++wrong;
      const double argument = k % 3 == 0 ? random.between(1.4, 1.4142)
                                         : std::abs(k % 3 == 1 ? random.any() : 1 + x / 64);
      const Exact positive(argument);
      mpfr_log(y.value, positive.value, MPFR_RNDN);
      if (argument != 1 && !check(elementary::log(argument), 0x1p-95)) ++wrong;
      const double other = random.between(0.001, 3);
      const Exact opposite(size), adjacent(other);
      mpfr_atan2(y.value, opposite.value, adjacent.value, MPFR_RNDN);
      if (!check(elementary::angle(DoubleWord(size), DoubleWord(other)), 0x1p-95)) ++wrong;
      // sin of the rest after whole quarter turns, of numbers of all sizes
      const double far = random.any(0, 1023);
      const Exact angle(far);
      const elementary::QuarterTurns turns = elementary::quarter_turns(far);
      (turns.quadrant % 2 == 0 ? mpfr_sin : mpfr_cos)(y.value, angle.value, MPFR_RNDN);
      if (turns.quadrant == 2 || turns.quadrant == 1) mpfr_neg(y.value, y.value, MPFR_RNDN);
      // cos(x) = −sin(rest) in quadrants 1, sin(rest) in 3; sin(x) = sin(rest) in 0, −sin(rest) in
      // 2
      if (!check(elementary::sin_near_zero(turns.rest), 0x1p-90)) ++wrong;
    }
    CHECK(wrong == 0);
    mpfr_const_pi(y.value, MPFR_RNDN);
    CHECK(check(scaled(elementary::half_pi(), 2), 0x1p-105));
    mpfr_set_ui(y.value, 10, MPFR_RNDN);
    mpfr_log(y.value, y.value, MPFR_RNDN);
    CHECK(check(elementary::ln10(), 0x1p-105));
  }
}
