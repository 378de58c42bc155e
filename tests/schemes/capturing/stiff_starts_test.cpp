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

  TEST_CASE("a source of 1 V to 1 kV, a resistor, a diode and a capacitor: the start is kept, and its current is the one there is") {
    std::mt19937 random(43);
    const auto power = [&](double a, double b) { return std::pow(10, std::uniform_real_distribution<double>(a, b)(random)); };
    for (int trial = 0; trial < 60; ++trial) {
      const double V = power(0, 3), R = power(-1, 5), C = power(-12, 0), Is = power(-15, -9), h = power(-9, 0);
      const double vt = trial % 2 == 0 ? 0.025 : 0.05, v0 = trial % 3 == 0 ? -V / 3 : 0;
      const std::string text = fmt::format(
          "[variables]\nv = {0:.17g}\ni = 0\n[model]\nequations = [\"{1:.17g}*der(v) = i - v/{2:.17g}\", "
          "\"i = {3:.17g}*(exp(({4:.17g} - {5:.17g}*i - v)/{6:.17g}) - 1)\"]\n[run]\nt = [0, {7:.17g}]\n",
          v0, C, 100 * R, Is, V, R, vt, 4 * h);
      CAPTURE(text);
      const Trajectory run = run_of(text, h);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.events.empty());
      CHECK(run.x.front()[0] == v0);
      for (const Vector& x : run.x) {
        // u + R Is (exp(u/vt) - 1) = V - v grows with u: halvings between bounds.
        double low = std::min(-R * Is, V - x[0]) - 1, high = std::max(V - x[0], 1.0);
        for (int k = 0; k < 200; ++k) {
          const double u = low + (high - low) / 2;
          (u + R * Is * std::expm1(u / vt) < V - x[0] ? low : high) = u;
        }
        const double i = Is * std::expm1(low / vt);
        CHECK(std::abs(x[1] - i) <= 1e-9 * (std::abs(i) + Is) + 1e-12 * std::abs(V - x[0]) / R);
      }
    }
  }

  TEST_CASE("from guesses beyond the root of an exponential that overflows before it the same current is found") {
    for (const double guess : {15.2, 16.0, 20.0, 100.0, 256.0, 1e4}) {
      const std::string text = fmt::format(
          "[variables]\nv = 0\ni = {}\n[model]\nequations = [\"1.36e-11*der(v) = i - v/0.542\", "
          "\"i = 6.13e-10*(exp((722 - 47.6*i - v)/0.025) - 1)\"]\n[run]\nt = [0, 7.2e-6]\n", guess);
      CAPTURE(guess);
      const Trajectory run = run_of(text, 7.2e-6);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.events.empty());
      CHECK(run.x.front()[1] == doctest::Approx(15.155498414087306).epsilon(1e-13));
    }
  }

  TEST_CASE("a rate beyond the range of doubles is told as what it is") {
    const Trajectory run = run_of("[variables]\nv = 539\n[model]\nequations = [\"1e-9*der(v) = -v - 1e-14*(exp(v/0.025) - exp(-v/0.025))\"]\n"
                                  "[run]\nt = [0, 1]\n", 0.1);
    CHECK(run.status == Status::not_solved);
    CHECK(run.message.find("equation 1 is infinite at x0") != std::string::npos);
    CHECK(run.message.find("violates") == std::string::npos);
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

  TEST_CASE("the current of a floating capacitor, written as a rate, explains the motion that it drives: no jump, however long the steps are") {
    for (const double h : {1e-3, 0.1, 1.0, 100.0})
      for (const double u0 : {0.1, 0.2, 0.3}) {
        const Trajectory run = run_of(fmt::format("[variables]\nu = {}\nv = 0\n[model]\nequations = "
                                                  "[\"1e-9*der(u) = -1e-9*(exp((u + v)/0.026) - 1)\", \"v = 0.1 + 1e-9*der(u)\"]\n[run]\nt = [0, {}]\n",
                                                  u0, 10 * h),
                                      h);
        CAPTURE(h);
        CAPTURE(u0);
        CHECK_FALSE(has_event(run, EventKind::jump));
        CHECK(run.x.front()[0] == u0);
        REQUIRE(run.status == Status::solved);
        if (h >= 1) CHECK(run.x.back()[0] == doctest::Approx(-0.1).epsilon(1e-3));
      }
  }

  TEST_CASE("of the voltages beside a floating capacitor their difference is given: the first row holds all equations") {
    for (const char* term : {"0", "0.001*v1^3", "0.001*exp(v1)", "1e-6*(exp(v1/0.026) - 1)"})
      for (const double h : {0.1, 1e-3}) {
        const Trajectory run = run_of(
            fmt::format("[variables]\nv0 = 0\nv1 = 0.5\nv2 = 0\n[model]\nequations = [\"v0 + (v0 - v2) - (der(v1) - der(v0)) = 0\", "
                        "\"v1/5 + {} + (der(v1) - der(v0)) = 0\", \"v2/10 - (v0 - v2) = 0\"]\n[run]\nt = [0, 1]\n",
                        term),
            h);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CAPTURE(term);
        const double v0 = run.x[0][0], v1 = run.x[0][1], v2 = run.x[0][2];
        const std::string name = term;
        const double g = name == "0" ? 0 : name[2] == '0' && name.back() == '3' ? 0.001 * v1 * v1 * v1
                         : name.back() == ')' && name[0] == '0' ? 0.001 * std::exp(v1) : 1e-6 * std::expm1(v1 / 0.026);
        CHECK(std::abs(v1 - v0 - 0.5) < 1e-9);
        CHECK(std::abs(v2 / 10 - (v0 - v2)) < 1e-9);
        CHECK(std::abs(v0 + (v0 - v2) + v1 / 5 + g) < 1e-7);
      }
    // A reverse diode from v0 to v2, 10 V/us: solved from a start that was the guess of all voltages.
    const Trajectory run = run_of("[variables]\nv0 = 0\nv1 = 0.5\nv2 = 0\n[model]\nequations = ["
                                  "\"v0/1e7 + 1e-6*(exp((v0 - v2)/0.026) - 1) - 1e-6*(der(v1) - der(v0)) = 0\", "
                                  "\"v1/1e5 + 1e-6*(der(v1) - der(v0)) = 0\", \"v2/10 - 1e-6*(exp((v0 - v2)/0.026) - 1) = 0\"]\n[run]\nt = [0, 2e-5]\n",
                                  1e-6);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK(run.x[0][1] - run.x[0][0] == doctest::Approx(0.5));
  }
}
