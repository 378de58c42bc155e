#include <doctest/doctest.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/core/branches.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

using namespace perp;

namespace {

Model model_of(const std::string& variables, const std::vector<std::string>& equations, const std::string& parameters) {
  std::string text = "[parameters]\n" + parameters + "\n[variables]\n" + variables + "\n[model]\nequations = [\n";
  for (const std::string& equation : equations) text += "\"" + equation + "\",\n";
  return read_model_text(text + "]\n[run]\nt = [0, 1]\nh = 0.1\n", "stiff.toml", {});
}

Trajectory run_of(const Model& model) { return integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = model.run.h}, {}); }

/// Steps of Euler's method that keep x + y = 1, to which K holds the state: the difference of both equations is x⁺ (2/h + 3) = 2 x/h + 2.
/// But for what a finite K leaves, of the order of 1/K.
void check_held(const Model& model) {
  const double rest = 1e-13 + 4 / model.parameters.at(0).second;
  const Trajectory run = run_of(model);
  REQUIRE(run.status == Status::solved);
  const double h = model.run.h;
  double x = model.x0()[0];
  for (std::size_t k = 1; k < run.t.size(); ++k) {
    x = (2 * x + 2 * h) / (2 + 3 * h);
    CHECK(run.x[k][0] == doctest::Approx(x).epsilon(rest));
    CHECK(run.x[k][0] + run.x[k][1] == doctest::Approx(1).epsilon(rest));
  }
}

const std::string at_half = "x = 0.5\ny = 0.5\n";

}  // namespace

TEST_SUITE("models/lowering") {
  TEST_CASE("what a stiff term leaves of the coefficients beside it counts, however large it is and however it is written") {
    const std::vector<std::vector<std::string>> words{
        {"der(x) = 1 - K*(x + y - 1)", "der(y) = 2*x - y - K*(x + y - 1)"},
        {"der(x) = 1 - K*x - K*y + K", "der(y) = 2*x - y - K*x - K*y + K"},
        {"der(x) = 1 - (x + y - 1)/(1/K)", "der(y) = 2*x - y - (x + y - 1)/(1/K)"},
        {"der(x) = 2*(0.5 + K*(1 - y - x)/2)", "2*x - y = der(y) - K*(1 - (x + y))"}};
    for (const std::vector<std::string>& equations : words)
      for (const char* K : {"1e10", "1e15", "1e16", "3e17", "1e20"}) {
        CAPTURE(equations[0]);
        CAPTURE(K);
        const Model model = model_of(at_half, equations, std::string("K = ") + K);
        CHECK(model.system.affine() != nullptr);
        check_held(model);
      }
  }

  TEST_CASE("a term that is computed by itself is no mode, and is not made where no digit is lost") {
    const std::vector<std::string> equations{"der(x) = 1 - K*(x + y - 1)", "der(y) = 2*x - y - K*(x + y - 1)"};
    const Model separated = model_of(at_half, equations, "K = 1e20");
    REQUIRE(separated.m() == 1);
    CHECK(describe(separated.laws(), Mode{0}) == "smooth");
    CHECK(model_of(at_half, equations, "K = 1e3").m() == 0);
  }

  TEST_CASE("the same in equations with a nonlinear term") {
    for (const char* K : {"1e12", "1e15", "1e18", "1e25", "1e30"}) {
      CAPTURE(K);
      check_held(model_of(at_half, {"der(x) = 1 - K*(x + y - 1) + 1e-30*x^3", "der(y) = 2*x - y - K*(x + y - 1)"}, std::string("K = ") + K));
    }
  }

  TEST_CASE("two masses that a stiff damper holds together slide as one, with friction and drag on one of them") {
    for (const char* K : {"1e12", "1e17", "1e25"}) {
      CAPTURE(K);
      const Model model = model_of("v = 1\nw = 1\n", {"der(v) = 3 - v - sign(v) - K*(v - w)", "der(w) = -K*(w - v)"}, std::string("K = ") + K);
      const Trajectory run = run_of(model);
      REQUIRE(run.status == Status::solved);
      // 2 v' = 3 - v - 1
      double v = 1;
      for (std::size_t k = 1; k < run.t.size(); ++k) {
        v = (2 * v + 0.2) / 2.1;
        CHECK(run.x[k][0] == doctest::Approx(v).epsilon(1e-10));
        CHECK(run.x[k][1] == doctest::Approx(v).epsilon(1e-10));
      }
    }
  }
}
