#include <doctest/doctest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/core/expression/expression.hpp>
#include <perp/core/interval/series/interval_series.hpp>
#include <perp/core/tape/taylor.hpp>

#include <perp/tests/core/digits50.hpp>

using namespace perp;
using enclosure::Flow;
using enclosure::Interval;
using enclosure::IntervalSeries;
using enclosure::SeriesInput;
using test::Digits50;

namespace {

constexpr int order = 8;

/// x' = the texts, in t, x, y.
Flow flow(const std::vector<std::string>& texts) {
  Flow result;
  const Scope scope{{"t", "x", "y"}};
  for (const std::string& text : texts)
    result.rates.push_back(parse_expression(text, scope, result.tape));
  result.inputs = {{SeriesInput::Kind::time, -1, {}},
                   {SeriesInput::Kind::state, 0, {}},
                   {SeriesInput::Kind::state, 1, {}}};
  return result;
}

/// Coefficients of the solution through a point by running the tape on whole series, once per
/// order.
std::array<Taylor<Digits50, order + 1>, 2> solution(const Flow& f, const Digits50& t,
                                                    const Digits50& x, const Digits50& y) {
  using Series = Taylor<Digits50, order + 1>;
  std::array<Series, 2> state{Series(x), Series(y)};
  Series time(t);
  time[1] = Digits50(1);
  std::vector<Series> values(static_cast<std::size_t>(f.tape.size()));
  for (int k = 0; k < order; ++k) {
    const std::vector<Series> inputs{time, state[0], state[1]};
    f.tape.evaluate(std::span<const Series>(inputs), std::span<Series>(values));
    for (std::size_t j = 0; j < 2; ++j)
      state[j][k + 1] = values[static_cast<std::size_t>(f.rates[j])][k] / Digits50(k + 1);
  }
  return state;
}

bool holds(const Interval& a, const Digits50& x) {
  return !(x < Digits50(a.lo)) && !(Digits50(a.hi) < x);
}

/// Every operation of the language, away from its poles for 0.4 < x, y < 0.6, 0 ≤ t ≤ 1.
const std::vector<std::vector<std::string>> fields{
    {"y", "-x"},
    {"x*(1 - x)", "x*y - t"},
    {"sin(x) + cos(y*t)", "tan(x)*y"},
    {"exp(x*y)", "log(x)/y"},
    {"sqrt(x + y)", "log10(y + t)"},
    {"asin(x) - acos(y)", "atan(x*y)"},
    {"sinh(x)*cosh(y)", "tanh(x - y)"},
    {"atan2(y, x)", "atan2(x, -y)"},
    {"x^3 - y^4", "x^5*y^(-2)"},
    {"x^1.5", "y^(-0.3)"},
    {"x^y", "(1 + t)^x"},
    {"abs(x) + abs(-y)", "min(x, 2)*max(y, -1) + sign(x)"},
    {"pi*x^0 + x^0.5", "(x + y)/(1 + t^2)"},
    {"x*x*x - x^2", "sin(x)^2 + cos(x)^2 + y^1"},
};

}  // namespace

TEST_SUITE("core/expression/interval_series") {
  TEST_CASE("series with rational coefficients are exact") {
    Flow square = flow({"x^2", "1 + y^2"});
    IntervalSeries series(square);
    REQUIRE(
        series.compute(Interval(0), std::vector<Interval>{Interval(0.5), Interval(0)}, 9, false));
    for (int k = 0; k <= 9; ++k)
      CHECK(series.coefficient(0, k) == Interval(std::ldexp(1, -k - 1)));  // 1/(2 − τ)
    CHECK(series.coefficient(1, 1) == Interval(1));                        // tan
    CHECK(series.coefficient(1, 2) == Interval(0));
    const Interval third = series.coefficient(1, 3), fifth = series.coefficient(1, 5);
    CHECK((Interval(3) * third).contains(1.0));
    CHECK((Interval(15) * fifth).contains(2.0));
    CHECK(enclosure::width(fifth) < 1e-16);
  }

  TEST_CASE("coefficients of points contain those in 50 digits and are as sharp as doubles") {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> inner(0.4, 0.6), unit(0, 1);
    for (const auto& texts : fields) {
      CAPTURE(texts[0]);
      CAPTURE(texts[1]);
      const Flow f = flow(texts);
      IntervalSeries series(f);
      for (int trial = 0; trial < 20; ++trial) {
        const double t = unit(random), x = inner(random), y = inner(random);
        REQUIRE(series.compute(Interval(t), std::vector<Interval>{Interval(x), Interval(y)}, order,
                               false));
        const auto exact = solution(f, Digits50(t), Digits50(x), Digits50(y));
        for (int j = 0; j < 2; ++j) {
          for (int k = 0; k <= order; ++k) {
            const Interval found = series.coefficient(j, k);
            CAPTURE(k);
            CHECK(holds(found, exact[static_cast<std::size_t>(j)][k]));
            double largest = 0;
            for (int l = 0; l <= k; ++l)
              largest = std::max(largest, enclosure::magnitude(series.coefficient(j, l)));
            CHECK(enclosure::width(found) <= 1e-10 * (largest + 1));
          }
        }
      }
    }
  }

  TEST_CASE("coefficients of boxes contain those of their members, derivatives their differences") {
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> unit(0, 1);
    for (const auto& texts : fields) {
      CAPTURE(texts[0]);
      CAPTURE(texts[1]);
      const Flow f = flow(texts);
      IntervalSeries series(f);
      for (int trial = 0; trial < 20; ++trial) {
        const double size = std::pow(10, -1 - 11 * unit(random)), t = unit(random);
        const Interval x(0.45 + 0.05 * unit(random), 0.5 + size),
            y(0.5 - size, 0.5 + 0.05 * unit(random));
        const Interval narrow_x(0.5, 0.5 + size), narrow_y(0.5 - size, 0.5);
        for (const bool narrow : {false, true}) {
          const std::vector<Interval> box{narrow ? narrow_x : x, narrow ? narrow_y : y};
          REQUIRE(series.compute(Interval(t), box, order, true));
          const auto member = [&](const Interval& a) {
            return std::clamp(a.lo + unit(random) * (a.hi - a.lo), a.lo, a.hi);
          };
          const double p0 = trial % 3 == 0 ? box[0].lo : member(box[0]), p1 = member(box[1]);
          const double q0 = trial % 3 == 0 ? box[0].hi : member(box[0]), q1 = member(box[1]);
          const auto p = solution(f, Digits50(t), Digits50(p0), Digits50(p1)),
                     q = solution(f, Digits50(t), Digits50(q0), Digits50(q1));
          for (int j = 0; j < 2; ++j) {
            for (int k = 0; k <= order; ++k) {
              CAPTURE(k);
              const auto at = static_cast<std::size_t>(j);
              CHECK(holds(series.coefficient(j, k), p[at][k]));
              // mean value: x_k(p) − x_k(q) = ∂x_k (p − q) at points between
              const Interval change = series.derivative(j, 0, k) * (Interval(p0) - Interval(q0)) +
                                      series.derivative(j, 1, k) * (Interval(p1) - Interval(q1));
              CHECK(holds(change, p[at][k] - q[at][k]));
            }
          }
        }
      }
    }
  }

  TEST_CASE("where a function has no value or a choice is open over the box nothing is proved") {
    for (const std::string text : {"log(x)", "sqrt(x)", "1/x", "abs(x)", "min(x, 0)", "sign(x)",
                                   "0*log(x)", "x^0.3", "tan(2*x + 1.5707963)", "atan2(0*x, x)"}) {
      CAPTURE(text);
      IntervalSeries series(flow({text, "0*y"}));
      CHECK_FALSE(series.compute(
          Interval(0), std::vector<Interval>{Interval(-0.1, 0.1), Interval(1)}, 3, false));
      CHECK_FALSE(series.compute(Interval(0),
                                 std::vector<Interval>{Interval(-0.1, 0.1), Interval(1)}, 3, true));
    }
  }

  TEST_CASE("abs, min and max of what does not move are constants, and their derivatives hold all quotients of differences") {
    // y' = 0, so that x' is a function of the constant y, which is on both sides of its kink.
    const std::vector<std::pair<std::string, double (*)(double)>> cases{{"abs(y)", [](double y) { return std::abs(y); }},
                                                                        {"min(y, 2*y)", [](double y) { return std::min(y, 2 * y); }},
                                                                        {"max(2*y, 0.5)", [](double y) { return std::max(2 * y, 0.5); }},
                                                                        {"x*abs(y)", nullptr}};
    for (const auto& [text, value] : cases) {
      CAPTURE(text);
      IntervalSeries series(flow({text, "0"}));
      REQUIRE(series.compute(Interval(0), std::vector<Interval>{Interval(1), Interval(-0.5, 1)}, 3, true));
      for (const double a : {-0.5, -0.25, 0.0, 0.25, 1.0}) {
        const double of_a = value ? value(a) : std::abs(a);
        CHECK(series.coefficient(0, 1).contains(of_a));
        for (const double b : {-0.375, 0.125, 0.5}) {
          const double of_b = value ? value(b) : std::abs(b);
          CHECK(series.derivative(0, 1, 1).contains((of_b - of_a) / (b - a)));
        }
      }
      if (value) CHECK(series.coefficient(0, 2).is_zero());
    }
    IntervalSeries series(flow({"sign(y)", "0"}));
    CHECK_FALSE(series.compute(Interval(0), std::vector<Interval>{Interval(1), Interval(-0.5, 1)}, 3, true));
  }
}
