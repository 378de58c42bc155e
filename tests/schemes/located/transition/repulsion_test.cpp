#include <doctest/doctest.h>

#include <perp/schemes/located/transition/solution_branches.hpp>
#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::system_of;

namespace {

SolutionBranches branches(const std::string& text) {
  const Model model = read_model_text(text, "two_fold.toml");
  return solution_branches(system_of(model), model.x0(), model.run.span, {.tol = 1e-8});
}

}  // namespace

TEST_SUITE("schemes/located/transition/repulsion") {
  TEST_CASE("the list of solutions is not complete where a sliding mode begins to repel") {
    // Both sides push to x = 0 until t = 1, where both turn (two folds in one point), and away after.
    for (const char* equation : {"\"der(x) = sign(x)*y\"", "\"der(x) = if(x > 0, y, -y)\""}) {
      const SolutionBranches found = branches(
          std::string("[variables]\nx = 0\ny = -1\n[model]\nequations = [\"der(y) = 1\", ") + equation +
          "]\n[run]\nt = [0, 2]\n");
      CHECK_FALSE(found.complete);
      REQUIRE(found.list.front().repulsion);
      CHECK(found.list.front().repulsion->since <= 1 + 1e-6);
      CHECK(found.list.front().repulsion->t >= 1 - 1e-6);
      CHECK(found.list.front().run.x.back()[0] == 0);
    }
  }

  TEST_CASE("the list of solutions is not complete where the multiplier of a mode is not determined at its start") {
    // x = 0 is a solution, too, which others leave at any moment: the multiplier's factor is 0 at t = 0.
    for (const char* rate : {"t^2*sign(x)", "t^3*sign(x)", "sin(t)^3*sign(x)", "t^3*sign(x) - t^5/2"}) {
      CAPTURE(rate);
      const SolutionBranches found = branches(std::string("[variables]\nx = 0\n[model]\nequations = [\"der(x) = ") + rate +
                                              "\"]\n[run]\nt = [0, 1]\n");
      CHECK(found.list.size() >= 2);
      CHECK_FALSE(found.complete);
    }
    // What more derivatives exclude is no solution: the multiplier would be -3.
    const SolutionBranches found =
        branches("[variables]\nx = 0\n[model]\nequations = [\"der(x) = t*(3 + sign(x))\"]\n[run]\nt = [0, 1]\n");
    CHECK(found.list.size() == 1);
    CHECK(found.complete);
  }

  TEST_CASE("a surface that attracts with a rate that begins at 0 holds the one solution, x = 0") {
    for (const char* rate : {"-t^2*sign(x)", "-t^3*sign(x)", "-t^4*sign(x)", "-t^7*sign(x)", "-sin(t)^3*sign(x)"}) {
      CAPTURE(rate);
      const SolutionBranches found = branches(std::string("[variables]\nx = 0\n[model]\nequations = [\"der(x) = ") + rate +
                                              "\"]\n[run]\nt = [0, 1]\n");
      REQUIRE(found.list.size() == 1);
      CHECK(found.list.front().run.status == Status::solved);
      CHECK(found.list.front().run.x.back()[0] == 0);
    }
  }

  TEST_CASE("the list is complete where sliding attracts all the time, or ends at a fold") {
    for (const char* rate : {"-sign(x)*2 + sin(t)", "-sign(x) + 0.6*t"}) {
      const SolutionBranches found =
          branches(std::string("[variables]\nx = 0\n[model]\nequations = [\"der(x) = ") + rate +
                   "\"]\n[run]\nt = [0, 3]\n");
      CHECK(found.complete);
      CHECK(found.list.size() == 1);
      CHECK_FALSE(found.list.front().repulsion);
    }
  }

  TEST_CASE("the list of solutions is not called complete where solutions may leave by infinitely many changes of mode") {
    const auto is_complete = [](const std::string& variables, const std::string& equations) {
      return branches("[variables]\n" + variables + "\n[model]\nequations = [" + equations + "]\n[run]\nt = [0, 1]\n").complete;
    };
    // spirals out of a corner, by a constant ratio each turn
    CHECK_FALSE(is_complete("x = 0\nv = 0", "\"der(x) = v\", \"der(v) = -sign(x) + 0.5*sign(v)\""));
    CHECK_FALSE(is_complete("x = 0\ny = 0", "\"der(x) = 0.1*sign(x) - sign(y)\", \"der(y) = sign(x) + 0.1*sign(y)\""));
    CHECK_FALSE(is_complete("x = 0\nv = 0\na = 0", "\"der(x) = v\", \"der(v) = a\", \"der(a) = -sign(x)\""));
    // one surface: of first and second derivatives, and dry friction on two of them
    CHECK(is_complete("x = 0", "\"der(x) = -sign(x) + 0.5\""));
    CHECK(is_complete("x = 0\nv = 0", "\"der(x) = v\", \"der(v) = -sign(x)\""));
    CHECK(is_complete("x = 0\nv = 0", "\"der(x) = v\", \"der(v) = 2 - sign(x)\""));
    CHECK(is_complete("x = 0\ny = 0", "\"der(x) = -sign(x) + 0.3*sign(y)\", \"der(y) = -sign(y) + 0.3*sign(x)\""));
    CHECK(is_complete("x = 0\ny = 0", "\"der(x) = 2 + sign(y)\", \"der(y) = -sign(y) + 0.3*sign(x)\""));
  }

  TEST_CASE("the list of solutions is not called complete where the equations of a mode are singular at a state") {
    const auto is_complete = [](const std::string& variables, const std::string& equations, const std::string& until = "1") {
      CAPTURE(equations);
      return branches("[variables]\n" + variables + "\n[model]\nequations = [" + equations + "]\n[run]\nt = [0, " + until + "]\n").complete;
    };
    // 0 and another one each: (2t/3)^1.5, the same with signs, t, c t², (3/4 t)^(4/3), (t/2)²
    CHECK_FALSE(is_complete("x = 0\nz = 0", "\"der(x) = z\", \"z^3 = x\""));
    CHECK_FALSE(is_complete("x = 0\nz = 0", "\"der(x) = 1e3*z\", \"1e-3*z^3 = 1e3*x\""));
    CHECK_FALSE(is_complete("x = 0\nz = 0\ny = 1", "\"der(x) = z\", \"z^3 = x\", \"der(y) = -y^2\""));
    CHECK_FALSE(is_complete("x = 0\nz = 0", "\"der(x) = z\", \"z*abs(z) = x\""));
    CHECK_FALSE(is_complete("x = 0", "\"x*der(x) = x\""));
    CHECK_FALSE(is_complete("x = 0", "\"t*der(x) = 2*x\""));
    CHECK_FALSE(is_complete("x = 0", "\"der(x)^4 = x\""));
    CHECK_FALSE(is_complete("x = 0\nz = 0", "\"der(x) = z\", \"z^2 = x\""));
    // x = 1, which decays to 0 until t = 1.5; later the sign of its rate is turned
    CHECK_FALSE(is_complete("x = 1\nz = 1", "\"der(x) = (t - 2)*z\", \"z^3 = x\"", "3"));
    // as soon as the state is not singular
    CHECK(is_complete("x = 1\nz = 1", "\"der(x) = z\", \"z^3 = x\""));
    CHECK(is_complete("x = 0\nz = 0", "\"der(x) = z\", \"z^3 + z = x\""));
    CHECK(is_complete("x = 0\nz = 0", "\"der(x) = -sign(x) + z\", \"z + z^2 = x\""));
    CHECK(is_complete("x = 0\nl = 0\ny = 1", "\"der(x) = l + y\", \"x^2 + x = t\", \"der(y) = -y^2\""));
    CHECK(is_complete("x = 0", "\"der(x) = x^2 + sin(t)*x\""));
  }
}
