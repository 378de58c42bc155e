#include <doctest/doctest.h>
#include <cmath>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

TEST_SUITE("schemes/resets") {
  TEST_CASE("a condition of an algebraic variable that is 0 at the start does not fire there, whatever the guess of the variable") {
    for (const char* guess : {"0", "5", "-1.875", "1e6"}) {
      CAPTURE(guess);
      const Model model = read_model_text(
          std::string("[variables]\na = 0.5\nq = -1.75\nn = 0\ny = ") + guess + "\n[model]\n"
          "equations = [\"der(a) = -0.5\", \"der(q) = 0\", \"der(n) = 0\", \"y = -2*a + 0.5*q\"]\n"
          "when = [{ condition = \"y + 1.875\", direction = 1, set = { n = \"n + 1\" } }]\n[run]\nt = [0, 1]\n", "start.toml");
      const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, Located{.tol = 1e-10});
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[2] == 0);
    }
  }

  TEST_CASE("both sides of a reset are rows, each a state of the equations, and its size counts what derivatives hold") {
    // z is 5 where p < 1/2, else -5; p is a sawtooth, whose resets are at the ends of steps.
    const Model model = read_model_text(
        "[variables]\nx = 1\np = 0\nz = 5\n[model]\nequations = [\"der(x) = -x\", \"3*der(p) = 3\", \"z = if(p < 0.5, 5, -5)\"]\n"
        "when = [{ condition = \"p - 1\", direction = 1, set = { p = \"p - 1\" } }]\n[run]\nt = [0, 2.5]\n", "saw.toml");
    const Dcs& system = *model.equations;
    for (const bool is_located : {true, false}) {
      CAPTURE(is_located);
      const Trajectory run = is_located ? integrate(system, model.x0(), model.run.span, Located{.tol = 1e-11})
                                        : integrate(system, model.x0(), model.run.span, BackwardEuler{.h = 0.25});
      REQUIRE(run.status == Status::solved);
      int resets = 0;
      for (std::size_t k = 0; k < run.size(); ++k) {
        const double p = run.x[k][1], z = run.x[k][2];
        if (std::abs(p - 0.5) > 1e-6) CHECK(z == (p < 0.5 ? 5 : -5));
        CHECK(z == 10 * run.lambda[k][0] - 5);  // by the multiplier of the same row
        if (k == 0 || run.t[k] != run.t[k - 1] || std::abs(p - run.x[k - 1][1]) < 0.9) continue;
        ++resets;
        CHECK(run.x[k - 1][1] == doctest::Approx(1));
        CHECK(std::abs(p) < 1e-12);
      }
      CHECK(resets == 2);
      for (const Event& event : run.events)
        if (event.kind == EventKind::jump) {
          CHECK(event.size == doctest::Approx(3));  // ||E (x+ - x-)||
          CHECK(event.x_after[2] == 5);
        }
    }
  }
}
