#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::run_located;

namespace {

/// A body that falls onto the floor; the rate of its position is no variable alone, so that no law of impacts is read from it.
std::string falling(double height, const std::string& variables, const std::string& force, const std::string& equations) {
  return fmt::format("[variables]\nq = {}\nv = 0\n{}[model]\nlaws = [\"0 <= q perp N >= 0\"]\n"
                     "equations = [\"der(q) = v + 0.1*q\", \"der(v) = -9.81 + N{}\"{}]\n[run]\nt = [0, 1]\n",
                     height, variables, force, equations);
}

/// The one jump of a run that keeps its order.
const Event& landing(const Trajectory& run) {
  REQUIRE_MESSAGE(run.status == Status::solved, run.message);
  CHECK_FALSE(perp::test::is_captured(run));
  const auto found = std::ranges::find(run.events, EventKind::jump, &Event::kind);
  REQUIRE(found != run.events.end());
  return *found;
}

}  // namespace

TEST_SUITE("schemes/located/landings") {
  TEST_CASE("a body that reaches the floor lands, whatever rounding makes of its gap there") {
    for (int k = 1; k <= 20; ++k) {
      const double height = 1 + 0.01 * k;
      CAPTURE(height);
      const Trajectory run = run_located(falling(height, "", "", ""), 1e-12);
      const double t = landing(run).t, a = 0.1;
      const double q = height * std::exp(a * t) - 9.81 * (std::expm1(a * t) - a * t) / (a * a);
      CHECK(std::abs(q) < 1e-9);
      CHECK(std::abs(run.x.back()[0]) < 1e-12);
      CHECK(std::abs(run.x.back()[1]) < 1e-12);
    }
  }

  TEST_CASE("a contact of order three is not left by a jump that short steps make ever larger") {
    for (const double tol : {1e-8, 1e-9, 1e-10, 1e-11, 1e-12}) {
      CAPTURE(tol);
      const Trajectory run = run_located(
          "[variables]\nx = 1\nv = -3\na = 6\n[model]\nlaws = [\"0 <= x perp lam >= 0\"]\n"
          "equations = [\"der(x) = v\", \"der(v) = a + 0.01*x*x*v\", \"der(a) = -6 + lam\"]\n[run]\nt = [0, 2]\n",
          tol);
      CHECK(run.status != Status::solved);
      CHECK(std::abs(run.x.back()[2]) < 10);
    }
  }

  TEST_CASE("behind a landing beside dry friction the states converge with the tolerance") {
    const std::string text = falling(1, "y = 0.17\nu = -1.26\n", " - 27.69*(q - y)",
                                     ", \"der(y) = u\", \"2*der(u) = 27.69*(q - y) - 17.01*sign(u) + 9.31*sin(8.11*t)\"");
    const Trajectory best = run_located(text, 1e-13);
    landing(best);
    for (const double tol : {1e-8, 1e-10, 1e-11, 1e-12}) {
      CAPTURE(tol);
      const Trajectory run = run_located(text, tol);
      landing(run);
      CHECK((run.x.back() - best.x.back()).cwiseAbs().maxCoeff() < 100 * tol);
    }
  }
}
