// What a capturing scheme takes for its first row.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

Trajectory run_of(const std::string& variables, const std::string& laws,
                  const std::string& equations) {
  const Model model = read_model_text(
      fmt::format("[variables]\n{}\n[model]\nlaws = [{}]\nequations = [{}]\n[run]\nt = [0, 1]\n",
                  variables, laws, equations),
      "start.toml");
  const BackwardEuler options{.h = 1e-2};
  if (const Lcs* lcs = model.system.affine())
    return integrate(*lcs, model.x0(), model.run.span, options);
  return integrate(*model.equations, model.x0(), model.run.span, options);
}

}  // namespace

TEST_SUITE("schemes/start") {
  TEST_CASE("algebraic variables of the first row solve their equations to rounding") {
    for (const std::string& affine : {std::string(), std::string(" + 0*z*x*x")}) {
      const Trajectory run =
          run_of("x = 0.2\nz = 0", "", "\"der(x) = cos(20*t) - x" + affine +
                                           "\", \"0 = 3*z + x - 0.7*exp(5*t)\"");
      REQUIRE(run.status == Status::solved);
      CHECK(std::abs(run.x[0][1] - 0.5 / 3) < 4e-16);
    }
    const Trajectory law =
        run_of("x = 0.2\nz = 0", "\"s in step(x - 1)\"",
               "\"der(x) = cos(20*t) - s\", \"0 = z - s + 0.7*exp(5*t) - x\"");
    REQUIRE(law.status == Status::solved);
    CHECK(std::abs(law.x[0][1] - (0.2 - 0.7)) < 4e-16);
  }

  TEST_CASE("a law of a rate leaves what the constraints determine as it is") {
    const Trajectory run = run_of("x = 0.2\nz = 0", "\"s in step(der(x) - 1.5*z)\"",
                                  "\"der(x) = cos(3*t) - 0.5*s*x\", \"0 = z - 0.25*s - 0.1*exp(t)\"");
    REQUIRE(run.status == Status::solved);
    CHECK(run.lambda[0][0] == 1);
    CHECK(std::abs(run.x[0][1] - 0.35) < 4e-16);
  }

  TEST_CASE("a velocity that is nothing beside what a step adds to it is no impact at the start") {
    for (const std::string& nonlinear : {std::string(), std::string(" - 0.01*v*v*v")})
      for (const auto& [velocity, jumps] : {std::pair{"-8e-13", false}, std::pair{"-1e-3", true}}) {
        const Trajectory run =
            run_of(fmt::format("y = 0\nv = {}", velocity), "\"0 <= s perp y >= 0\"",
                   "\"der(y) = v\", \"der(v) = -5 + s" + nonlinear + "\"");
        REQUIRE(run.status == Status::solved);
        CHECK(run.events.size() == (jumps ? 1 : 0));
      }
  }
}
