// Runs that go on from rows of others, and what is said of restitutions.
#include <doctest/doctest.h>

#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

TEST_SUITE("schemes/mechanical/restarts") {
  TEST_CASE("a ball that starts a rounding below the floor flies as from the floor, as runs go on from their rows") {
    const Model model = read_model_text(
        "[variables]\ny = 0\nv = 3\n[model]\nlaws = [\"0 <= N perp y >= 0\"]\nrestitution = { N = 0.5 }\n"
        "equations = [\"der(y) = v\", \"der(v) = -9.81 + N\"]\n[run]\nt = [0, 1]\n",
        "floor.toml");
    // y(0.5) of free flight
    for (const double v : {3.0, 2.6})
      for (const double y : {0.0, -1e-17, -1.1e-16, 1e-17}) {
        CAPTURE(y);
        const double wanted = 0.5 * v - 9.81 / 8;
        const Trajectory located = integrate(*model.equations, Vector{{y, v}}, {0, 0.5},
                                             Located{.restitution = model.restitution});
        REQUIRE(located.status == Status::solved);
        CHECK(located.events.empty());
        CHECK(located.x.back()[0] == doctest::Approx(wanted).epsilon(1e-9));
        const Trajectory steps = integrate(*model.equations, Vector{{y, v}}, {0, 0.5},
                                           MoreauJean{.h = 0.01, .restitution = model.restitution});
        REQUIRE(steps.status == Status::solved);
        CHECK(steps.x.back()[0] == doctest::Approx(wanted).epsilon(0.05));
      }
    // A gap below that is a start that violates its law.
    CHECK(integrate(*model.equations, Vector{{-1e-6, 3}}, {0, 0.5}, MoreauJean{.h = 0.01}).status ==
          Status::no_solution);
    // From each row, to the end of the whole run.
    const Vector start{{0, 3}};
    const Trajectory whole = integrate(*model.equations, start, {0, 1.1}, Located{.restitution = model.restitution});
    REQUIRE(whole.status == Status::solved);
    for (std::size_t k = 0; k + 1 < whole.t.size(); ++k) {
      CAPTURE(whole.t[k]);
      const Trajectory rest = integrate(*model.equations, whole.x[k], {whole.t[k], 1.1},
                                        Located{.restitution = model.restitution});
      REQUIRE(rest.status == Status::solved);
      CHECK((rest.x.back() - whole.x.back()).norm() <= 1e-8);
    }
  }

  TEST_CASE("the variable for which a restitution cannot be honoured is told by its name") {
    const Model model = read_model_text(
        "[variables]\ny = 0.5\nforce = 0\nv = 0\n[model]\nlaws = [\"0 <= N perp y >= 0\"]\n"
        "restitution = { N = 0.5 }\nequations = [\"der(y) = v\", \"force = -v + N\", \"der(v) = force\"]\n"
        "[run]\nt = [0, 1]\n",
        "massless.toml");
    CHECK_THROWS_WITH_AS(integrate(*model.equations, model.x0(), model.run.span,
                                   Located{.restitution = model.restitution, .names = {"y", "force", "v"}}),
                         doctest::Contains("'force' is algebraic"), InvalidInput);
  }
}
