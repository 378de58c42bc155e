#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/system_schemes.hpp>

// A force as the multiplier of a near-constraint, f = K x: x⁺ is of the size 1/K, and the way there is not.

using namespace perp;

namespace {

/// x' = -f + q(y), y' = -y + f from (1, 1), f = K x; columns x, y, f. In units of x that are `unit` times larger.
Trajectory run(const std::string& equation, double K, double unit, const std::string& company) {
  const std::string text = fmt::format(
      "[parameters]\nK = {:.17g}\nu = {:.17g}\n[variables]\nx = \"1/u\"\ny = 1\nf = 0\nc = 1\n[model]\n"
      "equations = [\"u*der(x) = -f + 0.001*y^2{}\", \"{}\", \"der(y) = -y + f\", \"der(c) = -c^3\"]\n[run]\nt = [0, 0.2]\n",
      K, unit, company, equation);
  const Model model = read_model_text(text, "force.toml");
  return integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = 0.01});
}

}  // namespace

TEST_SUITE("schemes/step/written_states") {
  TEST_CASE("a stiff algebraic equation holds in every state that is written, and the rates that its force drives too") {
    for (const char* equation : {"f/K = u*x", "f = K*u*x", "0 = u*x - f/K", "u*x = f/K + 0*y"})
      for (const double K : {1e8, 1e12, 1e16, 1e20, 1e60, 1e100})
        for (const double unit : {1.0, 0x1p-30, 1e9})
          for (const char* company : {"", " - 0.1*abs(y - 0.5)"}) {
            CAPTURE(equation);
            CAPTURE(K);
            CAPTURE(unit);
            CAPTURE(company);
            const Trajectory found = run(equation, K, unit, company);
            REQUIRE_MESSAGE(found.status == Status::solved, found.message);
            for (std::size_t k = 1; k < found.size(); ++k) {
              const double x = unit * found.x[k][0], y = found.x[k][1], f = found.x[k][2], h = found.t[k] - found.t[k - 1];
              CHECK(std::abs(f - K * x) <= 0x1p-40 * std::abs(f));
              const double law = *company == 0 ? 0 : 0.1 * std::abs(y - 0.5);
              const double rate = (x - unit * found.x[k - 1][0]) / h, driven = -f + 0.001 * y * y - law;
              CHECK(std::abs(rate - driven) <= 1e-13 * (1 / h + std::abs(f) + 1));
            }
          }
  }

  TEST_CASE("a fast decay to an equilibrium ends there, however far the step") {
    // x' = -K (x - 1/K y): one step leads from 1 to y/K, of which 1 - (1 - y/K) knows no digit.
    for (const double K : {1e14, 1e20, 1e100}) {
      const std::string text = fmt::format(
          "[parameters]\nK = {:.17g}\n[variables]\nx = 1\ny = 2\nz = 0\n[model]\nequations = [\"der(x) = -K*x + y + 0*z^2\", "
          "\"der(y) = 0\", \"z = K*x\"]\n[run]\nt = [0, 0.2]\n",
          K);
      const Model model = read_model_text(text, "decay.toml");
      const Trajectory found = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = 0.1});
      REQUIRE_MESSAGE(found.status == Status::solved, found.message);
      CHECK(found.x.back()[2] == doctest::Approx(2).epsilon(1e-9));
      CHECK(found.x.back()[0] * K == doctest::Approx(2).epsilon(1e-9));
    }
  }
}
