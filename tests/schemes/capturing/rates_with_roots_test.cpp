#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/schemes/integrate.hpp>
#include <perp/schemes/step/step_solutions.hpp>
#include <perp/tests/schemes/located/models.hpp>

using namespace perp;

namespace {

std::vector<Trajectory> runs(const std::string& variables, const std::string& equations) {
  const Model model = read_model_text(
      fmt::format("[variables]\n{}\n[model]\nequations = [{}]\n[run]\nt = [0, 2]\n", variables, equations),
      "roots.toml");
  return {integrate(model.system.functions(), model.x0(), {0, 2}, BackwardEuler{.h = 0.03}),
          perp::test::run_located(model)};
}

}  // namespace

TEST_SUITE("schemes/capturing/rates_with_roots") {
  TEST_CASE("a rate with two roots and none nearby starts with one of them, and keeps it") {
    for (const double size : {1.0, 1e-6, 1e6})
      for (const Trajectory& run : runs("x = 0", fmt::format("\"der(x)^2 = {}\"", size * size))) {
        CAPTURE(size);
        CAPTURE(run.provenance.at("scheme"));
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(std::abs(run.x.back()[0]) == doctest::Approx(2 * size).epsilon(1e-8));
        for (std::size_t k = 1; k < run.x.size(); ++k)
          CHECK((run.x[k][0] - run.x[k - 1][0]) * run.x.back()[0] > 0);
      }
  }

  TEST_CASE("the solutions of a step list both roots") {
    const Model model = read_model_text(
        "[variables]\nx = 0\n[model]\nequations = [\"der(x)^2 = 1\"]\n[run]\nt = [0, 2]\n", "roots.toml");
    const StepSolutions found = solutions(model.system.functions(), model.x0(), 0, 0.1);
    REQUIRE(found.list.size() == 2);
    CHECK(std::abs(found.list[0].x[0]) == doctest::Approx(0.1));
    CHECK(found.list[0].x[0] == doctest::Approx(-found.list[1].x[0]));
  }

  TEST_CASE("the event of another law does not exchange the root") {
    for (const Trajectory& run : runs("x = 0\nz = 0", "\"der(x)^2 = 1\", \"der(z) = sign(t - 0.5) + sign(x^2 - 1)\"")) {
      CAPTURE(run.provenance.at("scheme"));
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(std::abs(run.x.back()[0]) == doctest::Approx(2).epsilon(1e-8));
    }
  }
}
