#pragma once

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/interval/series/interval_series.hpp>
#include <perp/core/tape/taylor.hpp>
#include <perp/tests/core/digits50.hpp>

namespace perp::test {

/// A point of the plane in 50 digits.
using Point50 = std::array<Digits50, 2>;

inline bool holds(const enclosure::Interval& a, const Digits50& x) {
  return !(x < Digits50(a.lo)) && !(Digits50(a.hi) < x);
}

/// Of solutions that come back, what they may miss their start by.
inline const Digits50 oracle_error("1e-20");

/// Solutions of x' = f(t, x) with two states by Taylor series of order 14 in short steps, in 50
/// digits: right to 20 digits for fields whose derivatives are about 1, which is far below what a
/// series of low order over a wide set encloses.
class FlowOracle {
 public:
  explicit FlowOracle(const enclosure::Flow& flow) : flow_(flow) {}

  /// The solution through x at t, by `length` later or earlier.
  [[nodiscard]] Point50 flow(const Digits50& t, const Point50& x, const Digits50& length) const {
    const int steps = 1 + static_cast<int>(abs(length) * 48);
    const Digits50 h = length / steps;
    Point50 at = x;
    for (int k = 0; k < steps; ++k) at = value(series(t + h * k, at), h);
    return at;
  }

  /// f(t, x)
  [[nodiscard]] Point50 rates(const Digits50& t, const Point50& x) const {
    const auto coefficients = series(t, x);
    return {coefficients[0][1], coefficients[1][1]};
  }

  /// How long after t the first state comes to c; it does so within a step of 1/48 from x.
  [[nodiscard]] Digits50 time_to(const Digits50& t, const Point50& x, const Digits50& c) const {
    const auto coefficients = series(t, x);
    Digits50 tau = (c - x[0]) / coefficients[0][1];
    for (int k = 0; k < 8; ++k) {  // Newton's method
      Digits50 slope = 0;
      for (int l = order; l >= 1; --l) slope = slope * tau + coefficients[0][l] * l;
      tau -= (value(coefficients, tau)[0] - c) / slope;
    }
    return tau;
  }

 private:
  static constexpr int order = 14;
  using Series = Taylor<Digits50, order + 1>;

  [[nodiscard]] std::array<Series, 2> series(const Digits50& t, const Point50& x) const {
    std::array<Series, 2> state{Series(x[0]), Series(x[1])};
    Series time(t);
    time[1] = Digits50(1);
    std::vector<Series> inputs(flow_.inputs.size()), values(static_cast<std::size_t>(flow_.tape.size()));
    for (std::size_t i = 3; i < inputs.size(); ++i) inputs[i] = Series(Digits50(flow_.inputs[i].value.lo));
    for (int k = 0; k < order; ++k) {
      inputs[0] = time, inputs[1] = state[0], inputs[2] = state[1];
      flow_.tape.evaluate(std::span<const Series>(inputs), std::span<Series>(values));
      for (std::size_t j = 0; j < 2; ++j)
        state[j][k + 1] = values[static_cast<std::size_t>(flow_.rates[j])][k] / Digits50(k + 1);
    }
    return state;
  }

  static Point50 value(const std::array<Series, 2>& coefficients, const Digits50& tau) {
    Point50 sum{Digits50(0), Digits50(0)};
    for (int k = order; k >= 0; --k)
      for (std::size_t j = 0; j < 2; ++j) sum[j] = sum[j] * tau + coefficients[j][k];
    return sum;
  }

  enclosure::Flow flow_;
};

/// Sums of products and functions of t, x and y with short coefficients, of a size of about 1.
class RandomFields {
 public:
  explicit RandomFields(unsigned seed) : random_(seed) {}

  std::string text(int terms) {
    static const std::vector<std::string> list{"x",      "y",      "x*y",        "x^2",    "y^2",
                                               "sin(x)", "cos(y)", "sin(x + y)", "t*x",    "x^3",
                                               "exp(x)", "cos(t)", "y/(2 + x)",  "x*y^2",  "sin(t*y)"};
    std::string sum = std::to_string(whole(-8, 8)) + "/16";
    for (int k = 0; k < terms; ++k) {
      const int weight = whole(1, 12);
      sum += (whole(0, 1) == 0 ? " + " : " - ") + std::to_string(weight) + "/16*" +
             list[static_cast<std::size_t>(whole(0, static_cast<int>(list.size()) - 1))];
    }
    return sum;
  }
  int whole(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  double in(double a, double b) { return std::uniform_real_distribution<double>(a, b)(random_); }

 private:
  std::mt19937 random_;
};

}  // namespace perp::test
