#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <functional>

#include <perp/tests/models/equation_models.hpp>

namespace {

using perp::Dcs;
using perp::inf;
using perp::Law;
using perp::LoweredModel;
using perp::test::equation_model;
using perp::test::inputs_at;
using perp::test::values;

/// One equation 0 = text in x, y, with parameters p, q.
LoweredModel lowered(const std::string& text, const std::vector<std::string>& outputs = {}) {
  return lower(
      equation_model({"x", "y"}, {{"p", 0.75}, {"q", -2}}, {"der(x) = y", "0 = " + text}, outputs));
}

std::vector<std::string> branch_names(const Law& law) {
  std::vector<std::string> names;
  for (const perp::Branch& branch : law.branches) names.push_back(describe(branch));
  return names;
}

const std::vector<std::string> of_sign{"lambda=-1", "w=0", "lambda=1"};
const std::vector<std::string> of_step{"lambda=0", "w=0", "lambda=1"};
const std::vector<std::string> of_two{"w<0", "w>0"};
const std::vector<std::string> of_three{"w<0", "w=0", "w>0"};

struct Case {
  std::string text;
  std::function<double(double x, double y, double t)> value;
  std::vector<std::vector<std::string>> branches;  // of each law
};

double sat(double w, double lower, double upper) { return std::clamp(w, lower, upper); }
double sgn(double w) { return w > 0 ? 1 : -1; }

const std::vector<Case> cases{
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
     {of_two, of_two}},
    {"sat(x, 0, inf)", [](double x, double, double) { return std::max(x, 0.0); }, {of_two}},
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
    {"if(t < 1, x, y)", [](double x, double y, double t) { return t < 1 ? x : y; }, {of_step}},
    {"if(p > 0, x, sign(y))", [](double x, double, double) { return x; }, {}},
    {"abs(q)*x + max(p, q) + sign(q) + if(q > p or p > q, 1, y)",
     [](double x, double, double) { return 2 * x + 0.75 - 1 + 1; },
     {}},
};

}  // namespace

TEST_SUITE("models/lowering") {
  TEST_CASE("lowered expressions have the values of the operators, with as many laws as needed") {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-3, 3);
    for (const Case& one : cases) {
      CAPTURE(one.text);
      const Dcs system = lowered(one.text).system;
      std::vector<std::vector<std::string>> found;
      for (const Law& law : system.laws) {
        found.push_back(branch_names(law));
        CHECK_NOTHROW(validate(law));
      }
      CHECK(found == one.branches);
      for (int k = 0; k < 200; ++k) {
        const double x = uniform(random), y = uniform(random), t = uniform(random);
        const auto inputs = inputs_at(system, t, {0, 0}, {x, y});
        const double expected = one.value(x, y, t);
        CHECK(-values(system.tape, system.F, inputs)[1] ==
              doctest::Approx(expected).epsilon(1e-13));
      }
    }
  }

  TEST_CASE("laws are named as the operators are written, in their order") {
    const auto names = [](const std::string& text) {
      std::string list;
      for (const Law& law : lowered(text).system.laws) list += "[" + law.name + "]";
      return list;
    };
    CHECK(names("sign(x)") == "[sign(x)]");
    CHECK(names("if( x<p ,1,0) + max(0,abs(y)-1)") == "[x < p][abs(y)][max(0, abs(y) - 1)]");
    CHECK(names("abs(x) + sign(x)") == "[abs(x), sign(x)]");
    CHECK(names("if(x > 0, 1, y) + if(x <= 0, y, 3)") == "[x > 0, x < 0]");
  }

  TEST_CASE("the law of abs and sign together is that of the switching DAE") {
    const Dcs system = lowered("abs(x) + sign(x)").system;
    REQUIRE(system.m() == 1);
    CHECK(system.laws[0].branches == perp::abs_plus_sign().branches);
    const Dcs hull = lowered("if(x > 0, x + 1, -x - 1)").system;
    REQUIRE(hull.m() == 1);
    CHECK(hull.laws[0].branches == perp::abs_plus_sign().branches);
  }

  TEST_CASE("a multiplier that a comparison makes is 1 where it is true") {
    for (const char* text : {"if(x < p, 1, 0)", "if(x >= p, y, 0)", "if(p < x, 1, y)"}) {
      const Dcs system = lowered(text).system;
      const bool holds_at_2 = std::string(text) != "if(x < p, 1, 0)";
      const auto inputs = inputs_at(system, 0, {0, 0}, {2, 0});
      CHECK(inputs[static_cast<std::size_t>(system.multiplier_input(0))] == (holds_at_2 ? 1 : 0));
    }
  }

  TEST_CASE("a jump and a kink in another ratio are another law, in two ratios a product") {
    const Dcs other = lowered("2*abs(x) - 3*sign(x)").system;
    REQUIRE(other.m() == 1);
    CHECK(other.laws[0].branches[0].c == 1.5);
    CHECK(other.laws[0].branches[1].lambda == perp::Range{-1.5, 1.5});
    const Dcs two =
        lower(equation_model({"x", "y"}, {}, {"der(x) = sign(x)", "y = abs(x)"})).system;
    REQUIRE(two.m() == 1);
    CHECK(branch_names(two.laws[0]) == of_sign);
  }

  TEST_CASE("a continuous if has no sliding branch") {
    for (const char* text : {"if(x < 0, 0, x)", "if(x - p > 0, 3*x, p*2 + x)",
                             "if(y < x, 2*y - x, 3*y - 2*x)", "if(2*x < 1, 4*x, 2)"})
      CHECK(branch_names(lowered(text).system.laws.at(0)) == of_two);
  }

  TEST_CASE("an argument that is exactly 0 keeps its set-valued law") {
    const Dcs system = lowered("sign(p - p) + if(p < p, x, y)").system;
    CHECK(system.m() == 1);
    CHECK(lowered("sign(p)").system.m() == 0);
  }

  TEST_CASE("outputs read the laws of the equations and make none") {
    const auto [system, outputs] =
        lowered("abs(x) + sign(x)", {"sign(x)", "abs(x)", "max(0, -x)", "sign(y)", "x + y",
                                     "if(x < 0, 2, 3)", "sat(y, -1, 1)"});
    CHECK(system.m() == 1);
    for (const double x : {-1.5, 2.25}) {
      const auto inputs = inputs_at(system, 0, {0, 0}, {x, -3});
      const auto found = values(system.tape, outputs, inputs);
      CHECK(found == std::vector<double>{sgn(x), std::abs(x), std::max(0.0, -x), -1, x - 3,
                                         x < 0 ? 2.0 : 3.0, -1});
    }
    // While it slides, sign(x) is what the multiplier says.
    const std::vector<double> sliding{0, 0, 0, 0, 0, 0.25, 0.75, -2};
    CHECK(values(system.tape, outputs, sliding)[0] == 0.25);
  }

  TEST_CASE("numbers of operators that do not fit are refused at their place") {
    const auto refused = [](const std::string& text) {
      try {
        (void)lowered(text);
      } catch (const perp::FormError& error) {
        return std::string(error.what());
      }
      return std::string("no error");
    };
    CHECK(refused("sat(x, 2, 1)") ==
          "the bounds of sat(x, 2, 1) are 2 and 1; expected lower <= upper");
    CHECK(refused("piecewise(x, 0, 1, y, 2)") ==
          "point 2 of piecewise is not constant; expected numbers and parameters");
    CHECK(refused("piecewise(x, 0, 1, 0, 2)") ==
          "point 2 of piecewise is at 0, the one before it at 0; expected increasing points");
  }
}
