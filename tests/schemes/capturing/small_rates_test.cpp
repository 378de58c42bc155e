#include <doctest/doctest.h>
#include <fmt/format.h>
#include <variant>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

using namespace perp;

TEST_SUITE("schemes/capturing/small_rates") {
  TEST_CASE("a slow variable moves beside uncoupled company of any size, and its law changes") {
    for (const double rate : {1e-20, 1e-75, 1e-200, 1e-300}) {
      CAPTURE(rate);
      const Model model = read_model_text(
          fmt::format("[variables]\nx = 0\nv = 0\nc = 0\n[model]\nequations = [\"der(x) = {0:.17g}\", "
                      "\"der(v) = if(x > 0.5*{0:.17g}, 1, -1)\", \"der(c) = 1e5\"]\n[run]\nt = [0, 2]\n",
                      rate),
          "slow.toml");
      const Trajectory run = integrate(model.system, model.x0(), {0, 2}, BackwardEuler{.h = 0.01});
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[0] == doctest::Approx(2 * rate).epsilon(1e-12));
      CHECK(run.x.back()[1] == doctest::Approx(1).epsilon(0.02));
      CHECK(run.events.size() == 1);
    }
  }

  TEST_CASE("a state whose size is no normal double switches its law where the same state of size 1 does") {
    const auto end = [](double size) {
      const Model model = read_model_text(
          fmt::format("[parameters]\nk = {:.17g}\n[variables]\nx = 0\nv = 0\n[model]\nequations = [\"der(x) = k*(1 - v)\", "
                      "\"der(v) = if(x > 0.5*k, 1, -1)\"]\n[run]\nt = [0, 1]\n",
                      size),
          "small.toml");
      const Trajectory run = integrate(model.system, model.x0(), {0, 1}, BackwardEuler{.h = 0.01});
      REQUIRE(run.status == Status::solved);
      CHECK(run.events.size() == 1);
      return Vector{{run.x.back()[0] / size, run.x.back()[1]}};
    };
    const Vector expected = end(1);
    for (const double size : {1e-290, 1e-308, 1e-310, 1e300})
      CHECK((end(size) - expected).cwiseAbs().maxCoeff() < 1e-9);
  }
}
