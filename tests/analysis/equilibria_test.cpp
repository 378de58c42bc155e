#include <doctest/doctest.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/analysis/equilibria.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

namespace {

/// Points of a model of these variables ("x = 1") and equations, without virtual ones.
std::vector<Equilibrium> rests(const std::string& variables, const std::vector<std::string>& equations,
                               const std::string& laws = "") {
  std::string text = "[variables]\n" + variables + "\n[model]\n";
  if (!laws.empty()) text += "laws = [\"" + laws + "\"]\n";
  text += "equations = [";
  for (const std::string& equation : equations) text += "\"" + equation + "\", ";
  const Model model = read_model_text(text + "]\n[run]\nt = [0, 1]\n", "rest.toml");
  return without_virtual(equilibria_of(model, 0, {}, false)).points.found;
}

bool is_near(double value, double wanted) { return std::abs(value - wanted) <= 1e-14 * std::abs(wanted); }

}  // namespace

TEST_SUITE("analysis/equilibria") {
  TEST_CASE("a point beyond the end of a branch is none, however small the unit of the variable is") {
    // x < -1e-9, |x| < 1e-9 and x > 1e-9: 1e-10 = sat(x) + x at 5e-11 alone
    const auto saturated = rests("x = 1e-9", {"der(x) = 1e-10 - sat(x, -1e-9, 1e-9) - x"});
    REQUIRE(saturated.size() == 1);
    CHECK(is_near(saturated[0].x[0], 5e-11));
    CHECK(saturated[0].kind == EquilibriumKind::regular);
    CHECK(saturated[0].stability == Stability::attracting);
    const auto kinked = rests("x = 0", {"der(x) = -x - 1e-9 + max(0, -2*x + 1e-12)"});  // 3 x = 1e-12 - 1e-9
    REQUIRE(kinked.size() == 1);
    CHECK(is_near(kinked[0].x[0], (1e-12 - 1e-9) / 3));
    const auto switched = rests("q = 1e-12", {"der(q) = (5 - q/1e-12)/1e3 - if(q > 2e-12, 4e-3, 0)"});  // 3e-3 > 0 > -1e-3
    REQUIRE(switched.size() == 1);
    CHECK(switched[0].kind == EquilibriumKind::pseudo);
    CHECK(switched[0].x[0] == 2e-12);
    CHECK(is_near(switched[0].lambda[0], 0.75));
  }

  TEST_CASE("a ball rests on the floor once, with its weight, in nanometres and in thousands of kilometres") {
    for (const std::string unit : {"1e-9", "1", "1e6"}) {
      CAPTURE(unit);
      const auto found = rests("y = " + unit + "\nv = 0", {"der(y) = v", "der(v) = -9.81*" + unit + " + N - 1e3*y"}, "0 <= y perp N >= 0");
      REQUIRE(found.size() == 1);
      CHECK(found[0].kind == EquilibriumKind::regular);
      CHECK(found[0].x[0] == 0);
      CHECK(is_near(found[0].lambda[0], 9.81 * std::stod(unit)));
    }
  }

  TEST_CASE("points far from the start and multiple roots are found") {
    const auto far = rests("x = 1", {"der(x) = 1e7 - x"});
    REQUIRE(far.size() == 1);
    CHECK(far[0].x[0] == 1e7);
    const auto slides = rests("x = 1", {"der(x) = 1 - x/1e9 - 2*sign(x - 2e9)"});
    REQUIRE(slides.size() == 1);
    CHECK(is_near(slides[0].x[0], 2e9));
    CHECK(is_near(slides[0].lambda[0], -0.5));
    for (const std::string cube : {"-x^3", "-(x - 0.5)^3", "-(x - 0.5)^5"}) {
      CAPTURE(cube);
      const auto found = rests("x = 1", {"der(x) = " + cube});
      REQUIRE(found.size() == 1);
      CHECK(found[0].x[0] == (cube == "-x^3" ? 0 : 0.5));
      CHECK(found[0].isolated);
      CHECK(found[0].stability == Stability::marginal);
    }
  }

  TEST_CASE("starts without a nominal value reach as far as its default of 1, however near to 0 the given one is") {
    const auto quadratic = rests("x = 0", {"der(x) = x^2 - 3*x + 2"});
    REQUIRE(quadratic.size() == 2);
    CHECK(is_near(quadratic[0].x[0], 1));
    CHECK(is_near(quadratic[1].x[0], 2));
    CHECK(rests("x = 0.1\ny = 0.1", {"der(x) = y", "der(y) = x - x^3 - y"}).size() == 3);
  }

  TEST_CASE("a multiple root is found beside rows whose pivots are not small, and none at infinity") {
    for (const std::string root : {"0.25", "0.75", "2"}) {
      CAPTURE(root);
      const auto triple = rests("x = 0\ny = 0", {"der(x) = y", "y = (x - " + root + ")^3"});
      REQUIRE(triple.size() == 1);
      CHECK(triple[0].x[0] == doctest::Approx(std::stod(root)).epsilon(1e-4));
    }
  }

  TEST_CASE("no point is where a function only falls towards 0") {
    for (const std::string right : {"exp(-x)", "1/(1 + x^2)", "x/(1 + abs(x)) - 1", "atan(x) - pi/2", "exp(-x^2)"}) {
      CAPTURE(right);
      CHECK(rests("x = 1", {"der(x) = " + right}).empty());
    }
  }

  TEST_CASE("a rate that is 0 at the moment of the question only makes no rest of a solution") {
    const auto found = rests("x = 1", {"der(x) = cos(t) - x"});  // d/dt cos t = 0 at t = 0
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].constant);
  }

  TEST_CASE("eigenvalues that are 0 to within the rounding of a defective matrix have no sign") {
    // A nilpotent chain of three in other coordinates: A^3 = 0
    const auto found = rests("x = 1\ny = 1\nz = 1",
                             {"der(x) = (-180)*x + (121)*y + (-8)*z", "der(y) = (-247)*x + (166)*y + (-11)*z", "der(z) = (322)*x + (-217)*y + (14)*z"});
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].eigenvalues.size() == 3);
    for (const auto& s : found[0].eigenvalues) CHECK(s == 0.0);
    CHECK(found[0].stability == Stability::marginal);
  }
}
