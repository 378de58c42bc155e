#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <numbers>
#include <vector>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::is_captured;
using perp::test::located_model;
using perp::test::run_located;

namespace {

/// ẋ = −a x + s on a piece of this length.
double after(double x, double a, double s, double length) {
  return s / a + (x - s / a) * std::exp(-a * length);
}

Trajectory solved(const std::string& model) {
  Trajectory run = run_located(model, 1e-12);
  REQUIRE_MESSAGE(run.status == Status::solved, run.message);
  CHECK_FALSE(is_captured(run));
  return run;
}

std::string forced(const std::string& forcing, double end = 4) {
  return fmt::format(
      "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -x + {}\"]\n[run]\nt = [0, {}]\n",
      forcing, end);
}

}  // namespace

TEST_SUITE("schemes/located/laws_of_time") {
  TEST_CASE("a law of sin t switches at multiples of pi to rounding") {
    const Model model = located_model("square_wave");
    const Trajectory run = run_located(model, 1e-12);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK_FALSE(is_captured(run));
    double x = 1, t = 0;
    REQUIRE(run.events.size() == 3);
    for (int k = 1; k <= 3; ++k) {
      const double next = k * std::numbers::pi;
      x = after(x, 0.5, k % 2 == 1 ? 1 : -1, next - t);
      t = next;
      CHECK(std::abs(run.events[static_cast<std::size_t>(k - 1)].t - t) <= 4e-15 * t);
    }
    CHECK(std::abs(run.x.back()[0] - after(x, 0.5, -1, 10 - t)) < 1e-12);
  }

  TEST_CASE("sensitivities pass a law of time: its moment depends on its parameters alone") {
    // ẋ = −x + sign(t − c):  dx(2)/dc = −2 e^{c−2},  dx(2)/dx(0) = e^{−2}
    const Model model = read_model_text(
        "[parameters]\nc = 0.75\n[variables]\nx = 1\n[model]\n"
        "equations = [\"der(x) = -x + sign(t - c)\"]\n[run]\nt = [0, 2]\n",
        "step");
    Located scheme = test::located(model, 1e-12);
    scheme.sensitivities.starts = {0};
    scheme.sensitivities.parameters = {0};
    const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, scheme);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    const Matrix& S = run.dx_dq.back();
    REQUIRE(S.cols() == 2);
    REQUIRE(S.allFinite());
    const double by_start = S.row(0).minCoeff(), by_c = S.row(0).maxCoeff();
    CHECK(std::max(by_start, by_c) == doctest::Approx(std::exp(-2.0)).epsilon(1e-11));
    CHECK(std::min(by_start, by_c) == doctest::Approx(-2 * std::exp(-1.25)).epsilon(1e-11));
  }

  TEST_CASE("a step at the root of a polynomial of t, at the start and at the end") {
    const double root = std::sqrt(2.0);
    const Trajectory run = run_located(located_model("step_in_time"), 1e-12);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    REQUIRE(run.events.size() == 1);
    CHECK(std::abs(run.events[0].t - root) <= 4e-16 * root);
    CHECK(std::abs(run.x.back()[0] - after(after(1, 1, -1, root), 1, 1, 2 - root)) < 1e-12);
    CHECK(std::abs(solved(forced("sign(t)")).x.back()[0] - 1) < 1e-12);
    CHECK(std::abs(solved(forced("sign(t - 4)")).x.back()[0] - after(1, 1, -1, 4)) < 1e-12);
  }

  TEST_CASE("several laws of time at one moment, and one that meets a switch of the state") {
    // Both at t = 1: 2 from there on. z = t passes 1 then as well.
    const Trajectory both = solved(forced("step(t - 1) + step(2*t - 2)"));
    CHECK(std::abs(both.x.back()[0] - after(after(1, 1, 0, 1), 1, 2, 3)) < 1e-12);
    const Trajectory meets = solved(
        "[variables]\nx = 1\nz = 0\n[model]\nequations = [\"der(x) = -x + step(t - 1) + step(z - "
        "1)\", "
        "\"der(z) = 1\"]\n[run]\nt = [0, 4]\n");
    CHECK(std::abs(meets.x.back()[0] - after(after(1, 1, 0, 1), 1, 2, 3)) < 1e-12);
  }

  TEST_CASE("kinks of time keep the order") {
    // ẋ = −x + |t − c|, c = 1.3
    const double c = 1.3;
    // Before c: x = c + 1 − t − c e^{−t}; after it x = t − c − 1 + (x(c) + 1) e^{−(t−c)}.
    const double at_c = 1 - c * std::exp(-c);
    const double end = 4 - c - 1 + (at_c + 1) * std::exp(-(4 - c));
    const Trajectory run = solved(forced("abs(t - 1.3)"));
    CHECK(std::abs(run.x.back()[0] - end) < 1e-11);
  }

  TEST_CASE("a law of time is not missed between two stages: 200 short pulses in one slow step") {
    // On for a hundredth of every unit of time, as |sin(pi t)| < sin(pi/200) says.
    const Trajectory run = solved(
        "[variables]\nx = 0\n[model]\n"
        "equations = [\"der(x) = step(0.01570731731182067 - abs(sin(3.141592653589793*t)))\"]\n"
        "[run]\nt = [0.5, 200.5]\n");
    CHECK(std::abs(run.x.back()[0] - 2.0) < 1e-9);
  }

  // (t - 1)^3 in powers of t: 0 up to rounding within 1e-5 of t = 1.
  TEST_CASE("a law of time crosses once where its argument is the rounding of its terms around a zero") {
    const Trajectory run = solved("[variables]\nx = 0\n[model]\nequations = [\"der(x) = sign(t^3 - 3*t^2 + 3*t - 1)\"]\n"
                                  "[run]\nt = [0, 10]\n");
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].t == doctest::Approx(1).epsilon(2e-5));
    CHECK(run.x.back()[0] == doctest::Approx(8).epsilon(1e-5));
  }
}
