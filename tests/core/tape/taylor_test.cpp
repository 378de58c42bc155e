#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/tape/taylor.hpp>

#include <perp/tests/core/digits50.hpp>
#include <perp/tests/core/random_text.hpp>

using namespace perp;
using test::Digits50;

namespace {

using Series = Taylor<double, 6>;
using Choice = ScalarTraits<Series>;

Series series(std::vector<double> coefficients) {
  Series x;
  for (std::size_t k = 0; k < coefficients.size(); ++k) x.coefficient[k] = coefficients[k];
  return x;
}

const Series tau = series({0, 1});

void check_equal(const Series& found, const std::vector<double>& wanted) {
  for (int k = 0; k < 6; ++k) {
    CAPTURE(k);
    CHECK(found[k] == doctest::Approx(wanted[static_cast<std::size_t>(k)]).epsilon(1e-14));
  }
}

void check_equal(const Series& found, const Series& wanted) {
  check_equal(found, {wanted.coefficient.begin(), wanted.coefficient.end()});
}

/// A series of four coefficients at τ.
Digits50 at(const Taylor<Digits50, 4>& x, const Digits50& step) {
  return x[0] + step * (x[1] + step * (x[2] + step * x[3]));
}

}  // namespace

TEST_SUITE("core/taylor") {
  TEST_CASE("the elementary functions have their classical series") {
    check_equal(exp(tau), {1, 1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120});
    check_equal(log(1 + tau), {0, 1, -1.0 / 2, 1.0 / 3, -1.0 / 4, 1.0 / 5});
    check_equal(log10(1 + tau) * std::log(10.0), {0, 1, -1.0 / 2, 1.0 / 3, -1.0 / 4, 1.0 / 5});
    check_equal(Series(1) / (1 - tau), {1, 1, 1, 1, 1, 1});
    check_equal(sqrt(1 + tau), {1, 1.0 / 2, -1.0 / 8, 1.0 / 16, -5.0 / 128, 7.0 / 256});
    check_equal(sin(tau), {0, 1, 0, -1.0 / 6, 0, 1.0 / 120});
    check_equal(cos(tau), {1, 0, -1.0 / 2, 0, 1.0 / 24, 0});
    check_equal(tan(tau), {0, 1, 0, 1.0 / 3, 0, 2.0 / 15});
    check_equal(sinh(tau), {0, 1, 0, 1.0 / 6, 0, 1.0 / 120});
    check_equal(cosh(tau), {1, 0, 1.0 / 2, 0, 1.0 / 24, 0});
    check_equal(tanh(tau), {0, 1, 0, -1.0 / 3, 0, 2.0 / 15});
    check_equal(asin(tau), {0, 1, 0, 1.0 / 6, 0, 3.0 / 40});
    check_equal(acos(tau), {std::acos(0.0), -1, 0, -1.0 / 6, 0, -3.0 / 40});
    check_equal(atan(tau), {0, 1, 0, -1.0 / 3, 0, 1.0 / 5});
  }

  TEST_CASE("inverse functions undo each other away from zero") {
    const Series x = series({0.3, -0.7, 1.1, 0.4, -2, 0.5});
    check_equal(log(exp(x)), x);
    check_equal(sin(asin(x)), x);
    check_equal(cos(acos(x)), x);
    check_equal(tan(atan(x)), x);
    check_equal(sqrt(x) * sqrt(x), x);
    check_equal(sin(x) * sin(x) + cos(x) * cos(x), Series(1));
    check_equal(tanh(x), sinh(x) / cosh(x));
    check_equal(pow(pow(x, Series(2.5)), Series(0.4)), x);
    check_equal(pow(x, x), exp(x * log(x)));
  }

  TEST_CASE("whole powers are products, also of bases that vanish or are negative") {
    check_equal(pow(tau, Series(2)), {0, 0, 1, 0, 0, 0});
    check_equal(pow(tau - 2, Series(3)), {-8, 12, -6, 1, 0, 0});
    check_equal(pow(tau, Series(0)), {1, 0, 0, 0, 0, 0});
    check_equal(pow(tau - 1, Series(-1)), {-1, -1, -1, -1, -1, -1});
    check_equal(pow(1 + tau, Series(7)), {1, 7, 21, 35, 35, 21});
  }

  TEST_CASE("atan2 is the angle in every quadrant") {
    const Series r = series({2, 1, -1, 0.5});
    for (const double start : {0.3, 2.0, -1.2, -2.9}) {
      const Series angle = series({start, 1, -0.2});
      check_equal(atan2(r * sin(angle), r * cos(angle)), angle);
    }
  }

  TEST_CASE("choices are decided by the first coefficient that is not zero") {
    const Series falls = series({0, 0, -3, 5});
    check_equal(Choice::abs(falls), -falls);
    check_equal(Choice::abs(tau), tau);
    check_equal(Choice::sign(falls), {-1, 0, 0, 0, 0, 0});
    check_equal(Choice::sign(Series(0)), {0, 0, 0, 0, 0, 0});
    check_equal(Choice::min(tau, falls), falls);
    check_equal(Choice::max(tau, falls), tau);
    check_equal(Choice::max(tau, tau * tau), tau);
    CHECK(leading_sign(falls) == -1);
  }

  TEST_CASE("what has no value has no choice either") {
    const Series none(perp::nan);
    CHECK(std::isnan(Choice::sign(none)[0]));
    CHECK(std::isnan(Choice::min(tau, none)[0]));
    CHECK(std::isnan(Choice::max(none, tau)[0]));
    CHECK(std::isnan(Choice::abs(none)[0]));
    CHECK(std::isnan(sqrt(series({-1, 1}))[1]));
  }

  TEST_CASE("a thousand random expressions follow their series to fourth order with 50 digits") {
    using Exact = Taylor<Digits50, 4>;
    std::mt19937 random(11);
    std::uniform_real_distribution<double> number(-2, 2);
    int confirmed = 0;
    for (unsigned seed = 1; seed <= 1000; ++seed) {
      const std::string text = test::RandomText(seed).make(4);
      CAPTURE(text);
      const Expression f(text, test::random_scope());
      std::vector<Exact> inputs(4);
      std::vector<Taylor<double, 4>> rounded(4);
      for (std::size_t i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k) {
          rounded[i][k] = number(random);
          inputs[i][k] = rounded[i][k];
        }
      const Exact found = f.evaluate(std::span<const Exact>(inputs));
      Digits50 size = 1;
      for (int k = 0; k < 4; ++k) size = ScalarTraits<Digits50>::max(size, abs(found[k]));
      if (!boost::multiprecision::isfinite(size) || size > 1e6) continue;
      // f at τ = ±h differs from the series by O(h⁴) = 1e-36
      bool smooth = true;
      for (const char* h : {"1e-9", "-1e-9"}) {
        const Digits50 step(h);
        std::vector<Digits50> moved;
        for (const Exact& input : inputs) moved.push_back(at(input, step));
        const Digits50 value = f.evaluate(std::span<const Digits50>(moved));
        smooth = smooth && boost::multiprecision::isfinite(value);
        if (smooth) CHECK(static_cast<double>(abs(value - at(found, step)) / size) < 1e-28);
      }
      if (smooth) ++confirmed;
    }
    CHECK(confirmed > 600);
  }
}
