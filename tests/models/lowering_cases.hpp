#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <perp/tests/models/equation_models.hpp>

namespace perp::test {

/// One equation 0 = text in x, y, with parameters p, q.
inline LoweredModel lowered(const std::string& text, const std::vector<std::string>& outputs = {}) {
  return lower(
      equation_model({"x", "y"}, {{"p", 0.75}, {"q", -2}}, {"der(x) = y", "0 = " + text}, outputs));
}

inline const std::vector<std::string> of_sign{"sign"}, of_step{"step"};
inline const std::vector<std::string> of_two{"kink"}, of_three{"kink and jump"};

/// The right side of 0 = text, what it is worth, and the laws that are made of it.
struct LoweringCase {
  std::string text;
  std::function<double(double x, double y, double t)> value;
  std::vector<std::vector<std::string>> laws;  ///< kind of each, or names of its branches
};

inline double sat(double w, double lower, double upper) { return std::clamp(w, lower, upper); }
inline double sgn(double w) { return w > 0 ? 1 : -1; }

inline const std::vector<LoweringCase>& lowering_cases() {
  static const std::vector<LoweringCase> cases{
    {"sign(x)", [](double x, double, double) { return sgn(x); }, {of_sign}},
    {"sign(-x) + sign(x - 0)", [](double, double, double) { return 0; }, {of_sign}},
    {"step(x - p)", [](double x, double, double) { return x > 0.75 ? 1 : 0; }, {of_step}},
    {"abs(x)", [](double x, double, double) { return std::abs(x); }, {of_two}},
    {"abs(x) + abs(-x)", [](double x, double, double) { return 2 * std::abs(x); }, {of_two}},
    {"max(x, y)", [](double x, double y, double) { return std::max(x, y); }, {of_two}},
    {"min(x, y)", [](double x, double y, double) { return std::min(x, y); }, {of_two}},
    {"max(x, y)*min(y, x)", [](double x, double y, double) { return x * y; }, {of_two}},
    {"max(0, x)", [](double x, double, double) { return std::max(0.0, x); }, {of_two}},
    {"max(x, y, 1)",
     [](double x, double y, double) {
       return std::max({x, y, 1.0});
     },
     {of_two, of_two}},
    {"abs(x) + max(x, 0)",
     [](double x, double, double) { return std::abs(x) + std::max(x, 0.0); },
     {of_two}},
    {"sat(x, -1, 2)",
     [](double x, double, double) { return sat(x, -1, 2); },
     {{"lower", "linear", "upper"}}},
    {"sat(x, q, p)",
     [](double x, double, double) { return sat(x, -2, 0.75); },
     {{"lower", "linear", "upper"}}},
    {"sat(x, y, y + 1)",
     [](double x, double y, double) { return sat(x, y, y + 1); },
     {{"y <= y + 1"}, of_two, of_two}},
    {"sat(x, 0, inf)", [](double x, double, double) { return std::max(x, 0.0); }, {of_two}},
    {"deadzone(x, -inf, 2)", [](double x, double, double) { return std::max(x - 2, 0.0); }, {of_two}},
    {"deadzone(x, -1, inf)", [](double x, double, double) { return std::min(x + 1, 0.0); }, {of_two}},
    {"deadzone(x, -inf, inf) + y", [](double, double y, double) { return y; }, {}},
    {"deadzone(x, -1, 2)",
     [](double x, double, double) { return x - sat(x, -1, 2); },
     {{"below", "dead", "above"}}},
    {"deadzone(x, q, p)",
     [](double x, double, double) { return x - sat(x, -2, 0.75); },
     {of_two, of_two}},
    {"piecewise(x, -1, 2, 0, 0, 1, 3)",
     [](double x, double, double) { return x < 0 ? -2 * x : 3 * x; },
     {{"piece 1", "piece 2"}}},
    {"piecewise(x, q, 2, 0, 0, p, 3)",
     [](double x, double, double) { return x < 0 ? -x : 4 * x; },
     {of_two}},
    {"if(x < y, x^2, y)", [](double x, double y, double) { return x < y ? x * x : y; }, {of_step}},
    {"if(not x >= y, x^2, y)",
     [](double x, double y, double) { return x < y ? x * x : y; },
     {of_step}},
    {"if(x < 0, -x, x)", [](double x, double, double) { return std::abs(x); }, {of_two}},
    {"if(x > p, p*x, p^2)",
     [](double x, double, double) { return 0.75 * std::max(x, 0.75); },
     {of_two}},
    {"if(x > 0, 2*x + 1, -3*x)",
     [](double x, double, double) { return x > 0 ? 2 * x + 1 : -3 * x; },
     {of_three}},
    {"if(x < 0, -x - 1, x + 1)",
     [](double x, double, double) { return std::abs(x) + sgn(x); },
     {of_three}},
    {"if(x < 0 and y < 0, 1, if(x > y, x*y, 2))",
     [](double x, double y, double) { return x < 0 && y < 0 ? 1
                                             : x > y        ? x * y
                                                            : 2; },
     {of_step, of_step, of_step}},
    {"if(x < 0 or not y < 0, 1, 0)",
     [](double x, double y, double) { return x < 0 || y >= 0 ? 1 : 0; },
     {of_step, of_step}},
    {"if(x < p, 0, if(x < p + 1, 5, 1))",
     [](double x, double, double) { return x < 0.75   ? 0
                                           : x < 1.75 ? 5
                                                      : 1; },
     {of_step, of_step}},
    {"max(0, abs(x) - 1)",
     [](double x, double, double) { return std::max(0.0, std::abs(x) - 1); },
     {of_two, of_two}},
    {"sign(x)*sign(y)",
     [](double x, double y, double) { return sgn(x) * sgn(y); },
     {of_sign, of_sign}},
    {"sign(x - y*sign(x))",
     [](double x, double y, double) { return sgn(x - y * sgn(x)); },
     {of_sign, of_sign}},
    {"abs(x) + sign(x)", [](double x, double, double) { return std::abs(x) + sgn(x); }, {of_three}},
    {"p*(abs(x) + sign(x))",
     [](double x, double, double) { return 0.75 * (std::abs(x) + sgn(x)); },
     {of_three}},
    {"p*abs(x) + q*sign(x)",
     [](double x, double, double) { return 0.75 * std::abs(x) - 2 * sgn(x); },
     {of_sign}},
    {"(1 + max(x, 0))*step(x)",
     [](double x, double, double) { return x > 0 ? 1 + x : 0; },
     {of_step}},
    // Multiples of one argument have one law; numbers are compared within their rounding.
    {"abs(x) + abs(-0.01*x) + max(0, 3*x)",
     [](double x, double, double) { return 1.01 * std::abs(x) + 3 * std::max(0.0, x); },
     {of_two}},
    {"abs(p*x)*sign(x) + step(q*x)",
     [](double x, double, double) { return 0.75 * x + (x < 0 ? 1 : 0); },
     {of_sign}},
    {"sign(x - y + 1) + abs(3*x - 3*y + 3) + max(0, 2*y - 2*x - 2)",
     [](double x, double y, double) {
       const double w = x - y + 1;
       return sgn(w) + 3 * std::abs(w) + 2 * std::max(0.0, -w);
     },
     {of_three}},
    {"abs(x - 0.1) + abs(3*x - 0.3)",  // 3 times the double 0.1 is not the double 0.3
     [](double x, double, double) { return std::abs(x - 0.1) + std::abs(3 * x - 0.3); },
     {of_two}},
    {"sign(x - p) + abs(x/p - 1)",
     [](double x, double, double) { return sgn(x - 0.75) + std::abs(x / 0.75 - 1); },
     {of_sign}},
    {"abs(x - p) + abs(4*x - 3)",  // one surface for this p only
     [](double x, double, double) { return 5 * std::abs(x - 0.75); },
     {of_two, of_two}},
    {"if(t < 1, x, y)", [](double x, double y, double t) { return t < 1 ? x : y; }, {of_step}},
    {"if(p > 0, x, sign(y))", [](double x, double, double) { return x; }, {}},
    {"abs(q)*x + max(p, q) + sign(q) + if(q > p or p > q, 1, y)",
     [](double x, double, double) { return 2 * x + 0.75 - 1 + 1; },
     {}},
};
  return cases;
}

}  // namespace perp::test
