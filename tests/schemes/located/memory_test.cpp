#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

/// The switching DAE with B = (1, 2), which meets A- at t = 0.75 and jumps from (0, -1) to (2, 3),
/// beside a two-point controller y' = 1/2 - s that switches on at y = 1, t = 0.2, and stays so
/// until y = -1, t = 4.2.
Model jump_beside_controller(const std::string& controller) {
  return read_model_text(
      "[variables]\nx1 = -0.5\nx2 = -0.5\nz = 0\ny = 0.9\n[model]\n"
      "laws = [\"s in hysteresis(y, -1, 1)\"]\nequations = ["
      "\"der(x1) = 1 + z\", \"der(x2) = 2*z\", \"x2 = abs(x1) + sign(x1)\", \"" +
          controller + "\"]\n[run]\nt = [0, 2]\n",
      "both.toml");
}

/// The same controller beside a chain of integrators, der^4(a) = u, whose input holds a = 0 from t
/// = 1 on: index 5, which is captured.
Model index_beside_controller() {
  return read_model_text(
      "[variables]\na = 0\nb = 0\nc = 0\nd = 0\nu = 0\ny = 0.9\n[model]\n"
      "laws = [\"s in hysteresis(y, -1, 1)\", \"e in step(t - 1)\"]\nequations = ["
      "\"der(a) = b\", \"der(b) = c\", \"der(c) = d\", \"der(d) = u\", \"0 = e*a + (1 - e)*u\", "
      "\"der(y) = 0.5 - s\"]\n[run]\nt = [0, 3]\n",
      "chain.toml");
}

/// Two controllers with the thresholds 0.2 and 1 of x, which runs at 1, 1 - first, 1 - second or 1 - first - second.
Trajectory two_controllers(const std::string& laws, double first, double second) {
  const Model model = read_model_text(
      "[variables]\nx = 0\ny = 0\n[parameters]\na = " + std::to_string(first) + "\nb = " + std::to_string(second) +
          "\n[model]\nequations = [\"der(x) = 1 - a*p - b*q\", \"der(y) = p - 2*q\"]\nlaws = " + laws + "\n[run]\nt = [0, 6]\n",
      "two_controllers.toml");
  return integrate(*model.equations, model.x0(), {0, 6}, Located{.tol = 1e-10});
}

}  // namespace

TEST_SUITE("schemes/located/memory") {
  TEST_CASE("laws with memory whose arguments reach their ends in one moment all change there, in either order") {
    // x rises from 0 to 1 at t = 1, then runs between the thresholds with both laws on one side: 0.8/(a + b - 1) down, 0.8 up.
    for (const auto& [first, second] : {std::pair(1.0, 1.0), std::pair(0.6, 0.7), std::pair(1.2, 0.3), std::pair(0.3, 1.2)})
      for (const char* laws : {"[\"p in hysteresis(x, 0.2, 1)\", \"q in hysteresis(x, 0.2, 1)\"]",
                               "[\"q in hysteresis(x, 0.2, 1)\", \"p in hysteresis(x, 0.2, 1)\"]"}) {
        CAPTURE(first);
        CAPTURE(std::string(laws));
        const Trajectory run = two_controllers(laws, first, second);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        std::vector<double> expected;
        bool down = true;
        for (double t = 1; t < 6; t += down ? 0.8 / (first + second - 1) : 0.8, down = !down) expected.insert(expected.end(), 2, t);
        REQUIRE(run.events.size() == expected.size());
        for (std::size_t k = 0; k < expected.size(); ++k) CHECK(run.events[k].t == doctest::Approx(expected[k]));
        CHECK(run.mode.back()[0] == run.mode.back()[1]);
      }
  }

  TEST_CASE("a law with memory whose argument stays inside changes for no other law") {
    // Behind t = 1 the second law alone would turn x, too; its argument is at 0.9 of its end.
    const Model model = read_model_text(
        "[variables]\nx = 0\n[model]\nequations = [\"der(x) = 1 - 2*p - 2*q\"]\n"
        "laws = [\"q in hysteresis(0.9*x, 0, 1)\", \"p in hysteresis(x, 0.2, 1)\"]\n[run]\nt = [0, 1.5]\n",
        "one_leaves.toml");
    const Trajectory run = integrate(*model.equations, model.x0(), {0, 1.5}, Located{.tol = 1e-10});
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].law == 1);
    CHECK(run.x.back()[0] == doctest::Approx(0.5));
  }

  TEST_CASE("a jump of other variables leaves a law with memory in its branch") {
    for (const char* controller : {"der(y) = 0.5 - s", "der(y) = (0.5 - s)*(1 + 0*y^2)"}) {
      CAPTURE(controller);
      const Model model = jump_beside_controller(controller);
      const Trajectory run = integrate(*model.equations, model.x0(), {0, 2}, Located{.tol = 1e-9});
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      int jumps = 0, switches = 0;
      for (const Event& event : run.events) {
        if (event.kind == EventKind::jump) {
          ++jumps;
          CHECK(event.t == doctest::Approx(0.75));
          CHECK(event.x_after[3] == doctest::Approx(1 - 0.5 * 0.55));
        }
        if (event.law >= 0 && model.laws()[static_cast<std::size_t>(event.law)].memory) {
          ++switches;
          CHECK(event.t == doctest::Approx(0.2));
        }
      }
      CHECK(jumps == 1);
      CHECK(switches == 1);
      CHECK(run.x.back()[3] == doctest::Approx(1 - 0.5 * 1.8));
    }
  }

  TEST_CASE("where the rest of a run is captured a law with memory goes on in its branch") {
    const Model model = index_beside_controller();
    const Trajectory run = integrate(*model.equations, model.x0(), {0, 3}, Located{.tol = 1e-9});
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK(run.message.find("backward_euler") != std::string::npos);
    CHECK(std::count_if(run.events.begin(), run.events.end(),
                        [](const Event& event) { return event.law == 0; }) == 1);
    CHECK(run.x.back()[5] == doctest::Approx(1 - 0.5 * 2.8));
  }
}
