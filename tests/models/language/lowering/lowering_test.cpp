#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>

#include <perp/core/branches.hpp>
#include <perp/tests/models/lowering_cases.hpp>

namespace {

using perp::Dcs;
using perp::inf;
using perp::Law;
using perp::LoweredModel;
using perp::test::equation_model;
using perp::test::lowered;
using perp::test::lowering_cases;
using perp::test::LoweringCase;
using perp::test::of_sign;
using perp::test::of_two;
using perp::test::sgn;
using perp::test::inputs_at;
using perp::test::values;

std::vector<std::string> branch_names(const Law& law) {
  std::vector<std::string> names;
  for (const perp::Branch& branch : law.branches) names.push_back(describe(branch));
  return names;
}

/// Sign, step, a kink, a kink with a jump; of other laws the names of the branches.
std::vector<std::string> kind(const Law& law) {
  const auto& branches = law.branches;
  const bool slides = branches.size() == 3 && is_vertical(branches[1]);
  const auto constant = [&](std::size_t k) { return branches[k].a == 0 && branches[k].b == 1; };
  if (slides && constant(0) && constant(2) && branches[2].c == 1)
    return {branches[0].c == -1 ? "sign" : "step"};
  if (slides) return {"kink and jump"};
  const std::string last = branches.back().name;
  if (branches.size() == 2 && last.find("piece") == std::string::npos) return {"kink"};
  return branch_names(law);
}

/// Without names.
std::vector<perp::Branch> nameless(std::vector<perp::Branch> branches) {
  for (perp::Branch& branch : branches) branch.name.clear();
  return branches;
}

}  // namespace

TEST_SUITE("models/lowering") {
  TEST_CASE("lowered expressions have the values of the operators, with as many laws as needed") {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-3, 3);
    for (const LoweringCase& one : lowering_cases()) {
      CAPTURE(one.text);
      const Dcs system = lowered(one.text).system;
      std::vector<std::vector<std::string>> found;
      for (const Law& law : system.laws) {
        found.push_back(kind(law));
        CHECK_NOTHROW(validate(law));
      }
      CHECK(found == one.laws);
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

  TEST_CASE("branches are named by what they say of the model") {
    using Names = std::vector<std::string>;
    const auto names = [](const std::string& text) {
      return branch_names(lowered(text).system.laws.at(0));
    };
    CHECK(names("if(x > y, 1, 2)") == Names{"false", "sliding", "true"});
    CHECK(names("if(not x < y, 1, 2)") == Names{"false", "sliding", "true"});
    CHECK(names("if(x < p, p, x)") == Names{"false", "true"});
    CHECK(names("if(x > 0, 1, y) + if(x < 0, y, 3)") == Names{"not x > 0", "sliding", "x > 0"});
    CHECK(names("sign(x - 2*y)") == Names{"x - 2*y < 0", "sliding", "x - 2*y > 0"});
    CHECK(names("step(x)") == Names{"x < 0", "sliding", "x > 0"});
    CHECK(names("abs(x)") == Names{"x < 0", "x > 0"});
    CHECK(names("abs(x) + sign(x)") == Names{"x < 0", "sliding", "x > 0"});
    CHECK(names("max(x, y)") == Names{"x < y", "x > y"});
    CHECK(names("max(0, abs(x) - 1)") == Names{"x < 0", "x > 0"});
    CHECK(names("min(2, x + y)") == Names{"x + y < 2", "x + y > 2"});
    CHECK(names("max(x, y, 1)") == Names{"w<0", "w>0"});
    CHECK(names("sign(x + x*y + x*y^2 + x*y^3 + x*y^4)") == Names{"w<0", "sliding", "w>0"});
  }

  TEST_CASE("the law of abs and sign together is that of the switching DAE") {
    const Dcs system = lowered("abs(x) + sign(x)").system;
    REQUIRE(system.m() == 1);
    CHECK(nameless(system.laws[0].branches) == nameless(perp::abs_plus_sign().branches));
    const Dcs hull = lowered("if(x > 0, x + 1, -x - 1)").system;
    REQUIRE(hull.m() == 1);
    CHECK(nameless(hull.laws[0].branches) == nameless(perp::abs_plus_sign().branches));
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
    CHECK(kind(two.laws[0]) == of_sign);
  }

  TEST_CASE("a continuous if has no sliding branch") {
    for (const char* text : {"if(x < 0, 0, x)", "if(x - p > 0, 3*x, p*2 + x)",
                             "if(y < x, 2*y - x, 3*y - 2*x)", "if(2*x < 1, 4*x, 2)"})
      CHECK(kind(lowered(text).system.laws.at(0)) == of_two);
  }

  TEST_CASE("comparisons of constants are decided, at equality as they are written, and constants have no law") {
    const std::vector<std::pair<std::string, double>> decided{
        {"if(p >= 0.75, 2, 3)", 2},       {"if(p > 0.75, 2, 3)", 3},      {"if(p <= 0.75, 2, 3)", 2},
        {"if(p < 0.75, 2, 3)", 3},        {"if(not p >= 0.75, 2, 3)", 3}, {"if(not p > 0.75, 2, 3)", 2},
        {"if(0.75 >= p and 1 > 0, 2, 3)", 2}, {"if(p < p or p > 1, 2, 3)", 3}, {"if(q + 2 >= 0, 2, 3)", 2},
        {"if(p > 0.5, 2, 3)", 2},         {"sign(p - 0.75)", 0},          {"sign(p)", 1},
        {"max(p, 0.75)", 0.75},           {"abs(q + 2)", 0},              {"deadzone(p, 0, 0.75)", 0},
        {"piecewise(p, 0, 1, 0.75, 2, 1, 5)", 2}};
    for (const auto& [text, value] : decided) {
      CAPTURE(text);
      const Dcs system = lowered(text).system;
      CHECK(system.m() == 0);
      CHECK(values(system.tape, {system.F[1]}, inputs_at(system, 0, {0, 0}, {5, 7}))[0] == -value);
    }
    // with a variable beside it the law is that of the variable alone
    CHECK(lowered("if(p >= 0.75 and x > 0, 2, 3)").system.m() == 1);
    CHECK(lowered("if(x >= 0, 2, 3) + if(x > 0, 2, 3)").system.m() == 1);
  }

  TEST_CASE("arguments whose unknowns have the coefficient 0 are constants") {
    // p = 0.75, q = -2
    const std::vector<std::pair<std::string, double>> decided{{"if(p*x - 0.75*x >= 0, 2, 3)", 2},
                                                              {"if(p*x - 0.75*x > 0, 2, 3)", 3},
                                                              {"if(x*y*(q + 2) <= 0 and 3*x - x - x - x >= 0, 2, 3)", 2},
                                                              {"if(p*x - 0.75*x + p > 0, 2, 3)", 2},
                                                              {"if(sin(x)*(p - 0.75) < -p, 2, 3)", 3},
                                                              {"if(x/3 + p*x/9 - 5*x/12 >= 0, 2, 3)", 2},
                                                              {"sign((q + 2)*x)", 0},
                                                              {"sign((q + 2)*x + q)", -1},
                                                              {"step((q + 2)*x - q)", 1},
                                                              {"abs((q + 2)*x + q)", 2},
                                                              {"max(x, (q + 3)*x + 1)", 6},
                                                              {"min(x, (q + 3)*x + 1)", 5}};
    for (const auto& [text, value] : decided) {
      CAPTURE(text);
      const auto [system, outputs] = lowered(text, {text});
      CHECK(system.m() == 0);
      const std::vector<double> inputs = inputs_at(system, 0, {0, 0}, {5, 7});
      CHECK(values(system.tape, {system.F[1]}, inputs)[0] == -value);
      CHECK(values(system.tape, outputs, inputs)[0] == value);
    }
    // A coefficient that is 0 by rounding alone is none, nor is one of parameters that are not at that value.
    CHECK(lowered("if(x + 1e-20*x - x >= 0, 2, 3)").system.m() == 1);
    CHECK(lowered("if((p + 1e-20)*x - 0.75*x >= 0, 2, 3)").system.m() == 1);
    CHECK(lowered("if(p*x - x >= 0, 2, 3)").system.m() == 1);
    for (const char* text : {"step((q + 2)*x)", "step(p - 0.75)", "step(x - x)"}) {
      CHECK_THROWS_AS((void)lowered(text), perp::FormError);
      CHECK_THROWS_AS((void)lowered("x", {text}), perp::FormError);
    }
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
    CHECK(refused("step(p - 0.75)") == "the argument of step(p - 0.75) is the constant 0, where it is any number in [0, 1]; expected a "
                                       "comparison that decides there, e.g. if(a >= b, 1, 0)");
    CHECK(refused("piecewise(x, 0, 1, y, 2)") ==
          "point 2 of piecewise is not constant; expected numbers and parameters");
    CHECK(refused("piecewise(x, 0, 1, 0, 2)") ==
          "point 2 of piecewise is at 0, the one before it at 0; expected increasing points");
  }
}
