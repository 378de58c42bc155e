#include <doctest/doctest.h>
#include <cmath>

#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/read_model.hpp>

TEST_SUITE("analysis/hybrid/run/ends_of_modes") {
  // ẋ = 2.1 - 1.162 (x + 1), in mode 11; y = 1024 and more has coarse bounds, which are not those of x.
  TEST_CASE("a mode ends where its constraint is 0 to rounding, whatever bounds of errors say beside large unknowns") {
    const char* text = R"toml(
      [variables]
      x = { start = -1.257, nominal = 1 }
      y = { start = 1024.053, nominal = 1 }
      u = { start = -4096.945, nominal = 1 }
      [binaries]
      b1 = 1
      b2 = 1
      b3 = 1
      [model]
      equations = [
        "der(x) = -1.162*(x + 1) + 3.899*b1 - 1.71556 - 0.562*b1 + 1.94*b2 - 0.43262 - 1.088912",
        "der(y) = -0.276*(x + 1)",
        "0 = -1.726*(u + 4096) + 0.408*(y - 1024)",
      ]
      constraints = [
        "(0)*(1 - b1) + (0)*b1 <= 0",
        "0.013*(1 - b2)*(1 - b3) <= 0",
        "((x + 1) - 0.519)*b2 + ((x + 1) - 0.519)*(1 - b2)*b3 <= 0",
      ]
      [run]
      t = [0, 2.729]
      h = 0.0213203125)toml";
    const perp::Model model =
        perp::read_model_text(text, "coarse.toml", {{"run.scheme", "backward_euler"}}, {.hybrid = true});
    const perp::Trajectory run = perp::scheme("backward_euler").run(model, {});
    REQUIRE(run.status == perp::Status::solved);
    REQUIRE(run.events.size() == 1);
    CHECK(std::abs(run.events[0].x_before[0] - (0.519 - 1)) < 1e-14);
  }

  // ẋ = 4.934 from -0.929; b = 0 needs x >= 0.463, b = 1 needs x <= 0.
  TEST_CASE("the last row of a run that ends is where its mode does, wherever in a step of h that is") {
    const char* text = R"toml(
      [variables]
      x = { start = -0.929, nominal = 1 }
      [binaries]
      b = 1
      [model]
      equations = ["der(x) = 3 + 1.934*b"]
      constraints = ["(-x + 0.463)*(1 - b) + x*b <= 0"]
      [run]
      t = [0, 1])toml";
    for (const double h : {0.008265625, 0.25, 0.01}) {
      CAPTURE(h);
      perp::Model model = perp::read_model_text(text, "ends.toml", {{"run.scheme", "backward_euler"}}, {.hybrid = true});
      model.run.h = h;
      const perp::Trajectory run = perp::scheme("backward_euler").run(model, {});
      REQUIRE(run.status == perp::Status::no_solution);
      CHECK(run.t.back() == doctest::Approx(0.929 / 4.934).epsilon(1e-9));
      CHECK(run.events.back().t == run.t.back());
    }
  }
}
