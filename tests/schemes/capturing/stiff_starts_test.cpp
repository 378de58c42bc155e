#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

// Starts from which a solution moves faster than any step is short: exponential diodes far above their voltage.

using namespace perp;

namespace {

bool has_event(const Trajectory& run, EventKind kind) {
  return std::ranges::any_of(run.events, [&](const Event& event) { return event.kind == kind; });
}

Trajectory run_of(const std::string& text, double h) {
  const Model model = read_model_text(text, "stiff.toml");
  return integrate(model.system, model.x0(), model.run.span, Theta{.h = h, .theta = 1});
}

}  // namespace

TEST_SUITE("schemes/capturing/stiff_starts") {
  TEST_CASE("a capacitor between antiparallel diodes: no jump at any start, and currents that are those of the diodes in all rows") {
    std::mt19937 random(41);
    const auto between = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
    int solved = 0;
    for (int trial = 0; trial < 60; ++trial) {
      const double V = between(1, 3), R = std::pow(10, between(1, 4)), C = std::pow(10, between(-9, -6));
      const double Is = std::pow(10, between(-12, -8)), vt = trial % 2 == 0 ? 0.026 : 0.0518;
      const double v0 = (trial % 3 - 1) * V, h = R * C / 50;
      const std::string text = fmt::format(
          "[variables]\nv = {0:.17g}\ni1 = 0\ni2 = 0\n[model]\nequations = [\"{1:.17g}*der(v) + i1 - i2 = ({2:.17g} - v)/{3:.17g}\", "
          "\"i1 = {4:.17g}*(exp(v/{5:.17g}) - 1)\", \"i2 = {4:.17g}*(exp(-v/{5:.17g}) - 1)\"]\n[run]\nt = [0, {6:.17g}]\n",
          v0, C, V, R, Is, vt, 20 * h);
      CAPTURE(text);
      const Trajectory run = run_of(text, h);
      CHECK_FALSE(has_event(run, EventKind::jump));
      CHECK_FALSE(has_event(run, EventKind::inconsistent_start));
      CHECK(run.x.front()[0] == v0);
      if (run.status != Status::solved) continue;
      ++solved;
      for (std::size_t k = 1; k < run.size(); ++k) {
        const double v = run.x[k][0], i1 = Is * std::expm1(v / vt), i2 = Is * std::expm1(-v / vt);
        CHECK(std::abs(run.x[k][1] - i1) <= 1e-9 * (std::abs(i1) + Is));
        CHECK(std::abs(run.x[k][2] - i2) <= 1e-9 * (std::abs(i2) + Is));
      }
    }
    CHECK(solved >= 55);
  }

  TEST_CASE("a guess of algebraic variables is no part of a start that other equations determine") {
    // Two diodes in series, reverse biased: i = -Is to rounding, whatever v is.
    for (const double V : {2.0, 10.0, 50.0})
      for (const double guess : {0.0, 0.01}) {
        const std::string text = fmt::format(
            "[variables]\nv = {0}\ni = 0\nd0 = {1}\nd1 = 0\n[model]\nequations = [\"4.03e-05*der(v) = i - v/37500\", "
            "\"i = 1.63e-13*(exp(d0/0.0518) - 1)\", \"i = 3.26e-13*(exp(d1/0.0518) - 1)\", \"-{0} = 32.1*i + v + d0 + d1\"]\n"
            "[run]\nt = [0, 0.353]\n",
            V, guess);
        CAPTURE(text);
        const Trajectory run = run_of(text, 0.0706);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(run.events.empty());
        CHECK(run.x.front()[0] == V);
        CHECK(run.x.front()[1] == doctest::Approx(-1.63e-13).epsilon(1e-9));
      }
  }

  TEST_CASE("a solution that ends sooner than the shortest step is no proof that there is none") {
    // x falls to -y within 1e-15; from there on it slides along x + y = 0.
    const std::string text = "[variables]\nx = 0\ny = 1\n[model]\nequations = [\"der(x) = -1e15*y\", \"der(y) = L\"]\n"
                             "laws = [\"0 <= L perp x + y >= 0\"]\n[run]\nt = [0, 2]\n";
    const Trajectory run = run_of(text, 1);
    CHECK(run.status == Status::not_solved);
    CHECK(run.message.find("a continuous solution starts at x0") != std::string::npos);
  }
}
