#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

TEST_SUITE("schemes/memory_laws") {
  // When y passes 0.31 the sliding of x ends, which takes two laws. To switch s instead, which stops
  // y, takes one; but s stays where it is until y reaches 0.367, at t = 0.734.
  TEST_CASE("a law with memory that has not reached its end stays, where others can change") {
    const Model model = read_model_text(R"toml(
      name = "two laws or one"
      [variables]
      x = 0
      y = 0
      [model]
      laws = ["s in hysteresis(y, -0.2, 0.367)"]
      equations = ["der(x) = -0.4*sign(x) + 1.1*step(y - 0.31)*step(y + 1)", "der(y) = 0.5 - 3*s"]
      [run]
      t = [0, 0.75]
      h = 1e-3)toml",
                                        "memory.toml");
    int law = 0;
    while (!model.laws()[static_cast<std::size_t>(law)].memory) ++law;
    for (const double h : {1e-2, 1e-3, 1e-4}) {
      const Trajectory run = integrate(*model.equations, model.x0(), model.run.span,
                                       BackwardEuler{.h = h, .selector = Selector::keep_mode});
      REQUIRE(run.status == Status::solved);
      std::vector<double> moments;
      for (const Event& event : run.events)
        if (event.law == law) moments.push_back(event.t);
      REQUIRE(moments.size() == 1);
      CHECK(moments[0] == doctest::Approx(0.734).epsilon(1e-9));
    }
  }

  TEST_CASE("a switch stays where a reset follows in the same step, though its argument is back") {
    // y = t to 1.0007, where u goes to high for good: y falls from there, and is set to 1/2 at 1.004.
    for (const char* set : {"y = \"0.5\"", "k = \"k + 1\""}) {
      const Model model = read_model_text(
          std::string("[variables]\ny = 0\ns = 0\nE = 0\nk = 0\n[model]\nequations = [\"der(y) = 1 - 2*u\", "
          "\"der(s) = 1\", \"der(E) = u\", \"der(k) = 0\"]\nlaws = [\"u in hysteresis(y, -1, 1.0007)\"]\n"
          "when = [{ condition = \"s - 1.004\", direction = 1, set = { ") + set +
          " } }]\n[run]\nt = [0, 1.4]\n", "drop.toml");
      for (const double h : {0.0013, 0.01, 0.02, 0.1}) {
        CAPTURE(set);
        CAPTURE(h);
        const Trajectory run =
            integrate(*model.equations, model.x0(), model.run.span, BackwardEuler{.h = h});
        REQUIRE(run.status == Status::solved);
        CHECK(std::abs(run.x.back()[2] - (1.4 - 1.0007)) < 1e-9);
        REQUIRE(run.events.size() == 2);
        CHECK(run.events[0].kind == EventKind::mode_change);
        CHECK(std::abs(run.events[0].t - 1.0007) < 1e-9);
        CHECK(run.events[1].kind == EventKind::jump);
      }
    }
  }

  // b stays 0 by its own argument for ever: what calls it is the constraint, x <= 0.858. From there ẋ = -1 - x²/2.
  TEST_CASE("a law with memory leaves a branch that holds its argument where a constraint would be violated on it") {
    const Model model = read_model_text(R"toml(
      [variables]
      x = 0.2
      [binaries]
      b = 0
      [model]
      equations = ["der(x) = -2*b + 1 - 0.5*x*x"]
      constraints = [
        { name = "floor", g = "-x*b <= 0" },
        { name = "ceiling", g = "x - 0.858 <= 0" },
      ]
      [run]
      t = [0, 1.2])toml",
                                        "called.toml");
    const double root = std::sqrt(2.0);
    const double up = root * (std::atanh(0.858 / root) - std::atanh(0.2 / root)), down = root * std::atan(0.858 / root);
    for (const double h : {1e-2, 1e-3}) {
      const Trajectory run = integrate(*model.equations, model.x0(), {0, 1.9},
                                       BackwardEuler{.h = h, .selector = Selector::keep_mode});
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() == 2);
      CHECK(std::abs(run.events[0].t - up) <= 2 * h);
      CHECK(std::abs(run.events[1].t - (up + down)) <= 2 * h);
    }
  }

  // u holds der(x) = rate - 4 u down: where low and high overlap less than a step moves x, whole steps from just before the
  // end of low have no solution at all.
  TEST_CASE("a step without a solution behind the end of a branch with memory is split there") {
    for (const double rate : {4.2, 4.9, 5.3, 6.1, 7.4})
      for (const double upper : {-0.3, 0.1, 0.5, 0.9}) {
        const Model model = read_model_text(
            fmt::format("[variables]\nx = -2\nn = 0\n[model]\nequations = [\"der(x) = {} - 4*hy\", \"der(n) = 0\"]\n"
                        "laws = [\"hy in hysteresis(x, -1.5, {})\"]\n"
                        "when = [{{ condition = \"x - 100\", set = {{ n = \"n + 1\" }} }}]\n[run]\nt = [0, 4]\n",
                        rate, upper),
            "thrown.toml");
        CAPTURE(rate);
        CAPTURE(upper);
        const double moment = (upper + 2) / rate;
        for (const double theta : {1.0, 0.5}) {
          const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, Theta{.h = 1, .theta = theta});
          REQUIRE_MESSAGE(run.status == Status::solved, run.message);
          REQUIRE(run.events.size() == 1);
          CHECK(run.events[0].t == doctest::Approx(moment).epsilon(1e-9));
          CHECK(run.events[0].x_before[0] == doctest::Approx(upper).epsilon(1e-9));
          CHECK(run.x.back()[0] == doctest::Approx(upper + (rate - 4) * (4 - moment)).epsilon(1e-9));
        }
      }
  }
}
