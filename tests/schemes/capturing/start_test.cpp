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

  TEST_CASE("a start on its constraints has no event, to the last digit of it, and one beside them has") {
    for (const std::string z : {"0.3", "0.30000000000000004", "0.3001"}) {
      CAPTURE(z);
      const bool is_consistent = z != "0.3001";
      const Trajectory run = run_of(fmt::format("x = 0.1\ny = {}\nf = 0", z), "\"0 <= x perp p >= 0\", \"0 <= 1 - x perp q >= 0\"",
                                    "\"der(x) = f + p - q - x\", \"der(y) = f - y\", \"y = 3*x\"");
      REQUIRE(run.status == Status::solved);
      const bool has_event = !run.events.empty() && run.events[0].t == 0;
      CHECK(has_event == !is_consistent);
    }
    // At the corners of all laws, where multipliers are a continuum.
    const Trajectory rest = run_of("x = 0\ny = 0", "\"0 <= x perp p >= 0\", \"0 <= y perp q >= 0\"",
                                   "\"der(x) = p - 1 - x\", \"der(y) = q + 1 + x - y\"");
    REQUIRE(rest.status == Status::solved);
    CHECK((rest.events.empty() || rest.events[0].t > 0));
    CHECK(rest.lambda[0][0] == doctest::Approx(1));
  }

  TEST_CASE("a start whose consistent state would grow with 1/h is refused by the state that a step leads to") {
    for (const std::string nonlinear : {"", " - 0.01*v*v*v"}) {
      const Trajectory run = run_of("x = -1\nv = 0", "\"0 <= x perp f >= 0\"", "\"der(x) = v\", \"der(v) = -1 + f" + nonlinear + "\"");
      CHECK(run.status == Status::not_solved);
      CHECK(run.message.find("grows without bound as the step gets shorter") != std::string::npos);
    }
    const Trajectory beyond = run_of("x = 1", "\"0 <= -x perp f >= 0\"", "\"der(x) = f - 1\"");
    CHECK(beyond.status == Status::no_solution);
    CHECK(beyond.message.find("whose residual is 1 there") != std::string::npos);
    // One that is led to a state of its own keeps its event.
    const Trajectory led = run_of("x = -1", "\"0 <= x perp f >= 0\"", "\"der(x) = -1 + f\"");
    CHECK(led.status == Status::solved);
    REQUIRE(led.events.size() == 1);
    CHECK(led.events[0].kind == EventKind::inconsistent_start);
  }

  TEST_CASE("a mode whose law is violated beyond the rounding of the state before is left, however large a state in small units is") {
    // x1 + x2 stays, 2^-20 x0 = -1 + s: with x0 = -2^20 the argument of the step, x1 - 2^-20 x0, stays 0.
    for (const double h : {1e-9, 1e-6, 1e-3}) {
      const Model model = read_model_text(
          "[variables]\nx0 = -1048576.0\nx1 = -1\nx2 = 1\n[system]\nE = [[1, 0, 0], [0, 0, 0], [0, 1, 1]]\n"
          "A = [[0, 0, 1], [-9.5367431640625e-07, 0, 0], [0, 0, 0]]\nB = [[0], [1], [0]]\nC = [[-9.5367431640625e-07, 1, 0]]\n"
          "b = [0, -1, 0]\nlaws = [\"step\"]\n[run]\nt = [0, 1]\n",
          "units.toml");
      const Trajectory run = integrate(*model.system.affine(), model.x0(), {0, 10 * h}, BackwardEuler{.h = h});
      REQUIRE(run.status == Status::solved);
      for (const auto& x : run.x) {
        CHECK(x[1] == doctest::Approx(-1).epsilon(0.02));
        CHECK(x[1] + x[2] == doctest::Approx(0).epsilon(1e-12));
      }
    }
  }

  TEST_CASE("of two equations for one derivative the one of the small rates holds to its own rounding, however large the other's are") {
    for (const std::string order : {"\"1e-10*der(y) = 1e10 - y\", \"der(y) = z - 16\"", "\"der(y) = z - 16\", \"1e-10*der(y) = 1e10 - y\""}) {
      const Trajectory run = run_of("y = 1e10\nz = 0", "", order);
      REQUIRE(run.status == Status::solved);
      for (const auto& x : run.x) {
        CHECK(x[0] == doctest::Approx(1e10).epsilon(1e-15));
        CHECK(x[1] == doctest::Approx(16).epsilon(1e-3));
      }
    }
  }

  TEST_CASE("a state whose algebraic variables came from very far satisfies its own equations") {
    for (const double start : {2.0, 3.0, 5.0}) {
      const Model model = read_model_text(fmt::format("[variables]\nv = {}\ni = 0\n[model]\nequations = [\"1e-8*der(v) + i = 0\", "
                                                      "\"i = 1e-10*(exp(v/0.025) - 1)\"]\n[run]\nt = [0, 1e-6]\n", start), "diode.toml");
      const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, BackwardEuler{.h = 1e-7});
      CAPTURE(start);
      REQUIRE(run.status == Status::solved);
      for (std::size_t k = 1; k < run.size(); ++k) {
        const double v = run.x[k][0], i = run.x[k][1];
        CHECK(v > 0.3);  // v falls towards 0 as its logarithm does
        CHECK(v < start);
        CHECK(i == doctest::Approx(1e-10 * (std::exp(v / 0.025) - 1)).epsilon(1e-10));
      }
      // exp(-v/0.025) grows by 1e-2 t/0.025.
      CHECK(run.x.back()[0] == doctest::Approx(-0.025 * std::log(std::exp(-start / 0.025) + 0.4 * 1e-6)).epsilon(0.05));
    }
    const Trajectory root = run_of("y = 1e70\nx = 0", "", "\"y^2 = 4\", \"der(x) = y\"");
    if (root.status == Status::solved) CHECK(std::abs(root.x.back()[0]) == doctest::Approx(2));
    const Trajectory none = run_of("y = 1e150\nx = 0", "", "\"y^2 + 1 = 0\", \"der(x) = y\"");
    CHECK(none.status != Status::solved);
  }

  TEST_CASE("a function of t is asked for within the span alone") {
    const Model model = read_model_text("[variables]\nx = 0\n[model]\nequations = [\"der(x) = log(t) + sqrt(t - 1)\"]\n[run]\nt = [1, 2]\n", "later.toml");
    const Trajectory run = integrate(*model.system.affine(), model.x0(), model.run.span, BackwardEuler{.h = 1e-3});
    REQUIRE(run.status == Status::solved);
    CHECK(run.x.back()[0] == doctest::Approx(2 * std::log(2.0) - 1 + 2.0 / 3).epsilon(1e-3));
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

  TEST_CASE("a law that the start decides begins on its branch, however near its end is") {
    for (const double away : {1e-3, 1e-6, 1e-9, 1e-12, -1e-8}) {
      CAPTURE(away);
      const Trajectory run = run_of(fmt::format("x = {:.17g}", 1 + away), "", "\"der(x) = sign(x - 1)\"");
      REQUIRE(run.status == Status::solved);
      CHECK(run.events.empty());
      CHECK(run.x.back()[0] == doctest::Approx(away > 0 ? 2 : 0).epsilon(0.01));
    }
    const Trajectory run = run_of("x = 0.999999", "{ law = \"n in hysteresis(x, 0, 1)\", modes = [\"off\", \"on\"], start = \"off\" }",
                                  "\"der(x) = 1 - 0.5*n\"");
    REQUIRE(run.status == Status::solved);
    REQUIRE(run.events.size() == 1);
    CHECK(std::abs(run.events[0].t - 1e-6) < 1e-12);
  }
}
