#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

/// ẋ = 1.5 sin(ω t) - sign(x) from rest at 0: x rests while its multiplier swings out of its range.
Model swing(double omega) {
  return read_model_text("[parameters]\nomega = " + std::to_string(omega) +
                             "\n[variables]\nx = 0\n[model]\n"
                             "equations = [\"der(x) = 1.5*sin(omega*t) - sign(x)\"]\n"
                             "[run]\nt = [0, 1]\n",
                         "swing.toml");
}

}  // namespace

TEST_SUITE("schemes/located/watching") {
  TEST_CASE("a multiplier that moves while the state rests is watched, however long the span") {
    for (const double omega : {1.0, 0.01, 50.0})
      for (const double periods : {2.0, 20.0, 300.0})
        for (const int stages : {3, 5, 7}) {
          CAPTURE(omega);
          CAPTURE(periods);
          CAPTURE(stages);
          const Model model = swing(omega);
          const double end = 2 * std::numbers::pi * periods / omega;
          const Trajectory run = integrate(*model.equations, model.x0(), {0, end},
                                           Located{.stages = stages}, {.keep = false});
          REQUIRE(run.status == Status::solved);
          std::size_t exits = 0;
          for (const Event& event : run.events) {
            if (event.kind != EventKind::sliding_exit) continue;
            const double wanted =
                (std::asin(2.0 / 3) + static_cast<double>(exits++) * std::numbers::pi) / omega;
            CHECK(std::abs(event.t - wanted) < 1e-9 * wanted);
          }
          CHECK(exits == static_cast<std::size_t>(2 * periods));
        }
  }

  TEST_CASE("a condition that rests on its surface while a law slides fires no reset") {
    // x = 0 from about t = 1.05 on, held by the sign law.
    const Model model = read_model_text(
        "[variables]\nx = 1\nn = 0\n[model]\nequations = [\"der(x) = -sign(x) + 0.5*sin(5*t)\", \"der(n) = 0\"]\n"
        "when = [{ condition = \"x\", direction = 0, set = { n = \"n + 1\" } }]\n[run]\nt = [0, 5]\n",
        "resting_condition.toml");
    for (const double tol : {1e-6, 1e-8, 1e-10, 1e-12}) {
      const Trajectory run = integrate(*model.equations, model.x0(), {0, 5}, Located{.tol = tol});
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[1] == 0);
    }
  }

  TEST_CASE("a condition that touches its surface within a step fires at the touch or not, and then as ever") {
    // x - 1 touches 0 at pi/2, passes upwards at 6.93485469 and downwards at 9.01488458.
    for (const int direction : {-1, 0, 1})
      for (const double tol : {1e-6, 1e-8, 1e-10, 1e-12}) {
        const Model model = read_model_text(
            fmt::format("[variables]\nx = 0\n[model]\nequations = [\"der(x) = cos(t) + if(t > 3, 0.1, 0)\"]\n"
                        "when = [{{ condition = \"x - 1\", direction = {}, set = {{ x = \"x\" }} }}]\n"
                        "[run]\nt = [0, 11]\n", direction), "touch.toml");
        const Trajectory run = integrate(*model.equations, model.x0(), {0, 11}, Located{.tol = tol});
        REQUIRE(run.status == Status::solved);
        int passages = 0;
        for (const Event& event : run.events) {
          if (event.kind != EventKind::jump) continue;
          CHECK(std::abs(event.x_before[0] - 1) < 10 * tol);
          passages += event.t > 3 ? 1 : 0;
        }
        CHECK(passages == (direction == 0 ? 2 : 1));
      }
  }

  TEST_CASE(
      "steps of one length that are too long for their polynomial still end where they should") {
    // After the exit w rises from a touch: the polynomial of a long step dips, no full step does.
    const Model model = read_model_text(
        "[variables]\nx1 = \"exp(-1.25)\"\nx2 = 0\nx3 = 1\n[model]\nequations = ["
        "\"der(x1) = (0.5*t - s)*x1 - (3 + x3)*x2\", \"der(x2) = (0.5*t - s)*x2 + (3 + x3)*x1\", "
        "\"der(x3) = s\"]\nlaws = [\"s in sign(x1^2 + x2^2 - 1)\"]\n[run]\nt = [0, 1]\n",
        "arc.toml");
    for (const int steps : {2, 3}) {
      const Trajectory run =
          integrate(*model.equations, model.x0(), {0, 3},
                    Located{.stages = 5, .fixed_step = 1.001 / steps}, {.keep = false});
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() == 2);
      CHECK(run.events[0].kind == EventKind::sliding_entry);
      CHECK(run.events[1].kind == EventKind::sliding_exit);
      CHECK(std::abs(run.events[1].t - 2) < 2e-3);
    }
  }

  TEST_CASE("crossings that follow each other ever faster without an end are captured") {
    // A spiral into the corner of two switches, whose turns take 1/k: no run can pass them all.
    const Model model = read_model(find_model("gene_oscillator"));
    const Trajectory run =
        integrate(*model.equations, model.x0(), model.run.span, Located{}, {.keep = false});
    CHECK(run.status == Status::solved);
    CHECK(run.t.back() == model.run.span.end);
    CHECK(run.message.find("by backward_euler") != std::string::npos);
    CHECK(run.message.find("ever faster") != std::string::npos);
    CHECK(run.events.size() < 100'000);
    CHECK((run.x.back().array() - 1).abs().maxCoeff() < 1e-2);
  }
}
