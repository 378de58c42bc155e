#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

// Steps of the θ-method with θ < 1 read rates of the state before them: those of a start or of another
// mode are no part of the solution.

using namespace perp;

namespace {

Trajectory theta_run(const std::string& text, double theta, double h, bool split = true) {
  const Model model = read_model_text(text, "theta.toml");
  const Theta scheme{.h = h, .theta = theta, .split_at_events = split};
  return integrate(model.system, model.x0(), model.run.span, scheme);
}

std::string text(const std::string& variables, const std::string& equations, double end) {
  return fmt::format("[variables]\n{}\n[model]\nequations = [{}]\n[run]\nt = [0, {:.17g}]\n", variables,
                     equations, end);
}

/// `cubic` = 0 leaves the model affine.
std::string dropped_block(double unit, bool is_affine) {
  return fmt::format(
      "[variables]\nq = {:.17g}\nv = 0\n[model]\nequations = [\"der(q) = v\", \"der(v) = {:.17g} + "
      "lambda{}\"]\nlaws = [\"0 <= q perp lambda >= 0\"]\n[run]\nt = [0, 3]\n",
      0.5 * unit, -unit, is_affine ? "" : " + 0*lambda*v");
}

}  // namespace

TEST_SUITE("schemes/capturing/theta_steps") {
  TEST_CASE("a block that falls on a plane stays there, whatever theta, split or not") {
    // q = 1/2 - t²/2 until t = 1; with the rates of the fall it would rebound with (1 - θ)/θ.
    for (const bool is_affine : {true, false})
      for (const double theta : {0.5, 0.6, 0.9, 1.0})
        for (const double h : {0.03, 0.0625})
          for (const bool split : {true, false}) {
            CAPTURE(is_affine);
            CAPTURE(theta);
            CAPTURE(h);
            CAPTURE(split);
            const Trajectory run = theta_run(dropped_block(1, is_affine), theta, h, split);
            REQUIRE_MESSAGE(run.status == Status::solved, run.message);
            for (std::size_t k = 0; k < run.size(); ++k) {
              if (run.t[k] < 1 + 3 * h) continue;
              CHECK(std::abs(run.x[k][0]) < 1e-12);
              CHECK(std::abs(run.x[k][1]) < 1e-12);
              CHECK(std::abs(run.lambda[k][0] - 1) < 1e-9);
            }
          }
  }

  TEST_CASE("a power of two as unit of a block moves no bit") {
    for (const bool is_affine : {true, false}) {
      const Trajectory one = theta_run(dropped_block(1, is_affine), 0.5, 0.03);
      const Trajectory scaled = theta_run(dropped_block(0x1p40, is_affine), 0.5, 0.03);
      REQUIRE(one.size() == scaled.size());
      for (std::size_t k = 0; k < one.size(); ++k) {
        CHECK(scaled.x[k] == Vector(0x1p40 * one.x[k]));
        CHECK(scaled.t[k] == one.t[k]);
      }
    }
  }

  TEST_CASE("a variable of index 2 keeps nothing of its guess, nor of the mode before") {
    // x = sin t + max(t - 1, 0)/2, z = ẋ; a step of first order begins, so that z is right to the order of h.
    for (const std::string& rest : {std::string("z"), std::string("z + 0*z^3")})
      for (const double theta : {0.5, 0.75})
        for (const double guess : {0.0, 40.0}) {
          CAPTURE(rest);
          CAPTURE(theta);
          CAPTURE(guess);
          const auto error = [&](double h) {
            const Trajectory run = theta_run(
                text(fmt::format("x = 0\nz = {}", guess),
                     "\"der(x) = " + rest + "\", \"x = sin(t) + max(t - 1, 0)/2\"", 2), theta, h);
            REQUIRE_MESSAGE(run.status == Status::solved, run.message);
            double largest = 0;
            for (std::size_t k = 1; k < run.size(); ++k) {
              const double z = std::cos(run.t[k]) + (run.t[k] > 1 ? 0.5 : 0);
              if (std::abs(run.t[k] - 1) > 2 * h) largest = std::max(largest, std::abs(run.x[k][1] - z));
            }
            return largest;
          };
          CHECK(error(0.01) < 0.03);
          CHECK(error(0.005) < 0.015);
        }
  }

  TEST_CASE("in a mode of index 3 the steps are those of backward Euler, and the run says so") {
    // q = sin t + max(t - 1, 0)²/4, v = q̇, u = q̈: with rates of the state before, u would be wrong by any factor.
    const auto exact = [](double t) { return -std::sin(t) + (t > 1 ? 0.5 : 0); };
    for (const std::string law : {"", "lam in equality(sin(t) + max(t - 1, 0)^2/4 - q)"})
      for (const std::string& extra : {std::string(), std::string(" + 0*v^3")})
        for (const double theta : {0.5, 0.75}) {
          CAPTURE(law);
          CAPTURE(extra);
          CAPTURE(theta);
          const bool is_law = !law.empty();
          const std::string model =
              fmt::format("[variables]\nq = 0\nv = 1\n{}[model]\nequations = [\"der(q) = v\", \"der(v) = {}{}\"{}]\n"
                          "laws = [{}]\n[run]\nt = [0, 2]\n",
                          is_law ? "" : "u = 0\n", is_law ? "lam" : "u", extra,
                          is_law ? "" : ", \"q = sin(t) + max(t - 1, 0)^2/4\"",
                          is_law ? "\"" + law + "\"" : "");
          const auto error = [&](double h) {
            const Trajectory run = theta_run(model, theta, h);
            REQUIRE_MESSAGE(run.status == Status::solved, run.message);
            CHECK(run.provenance.at("first order from") == "0");
            CHECK(run.provenance.at("first order because").find("index 3") != std::string::npos);
            double largest = 0;
            for (std::size_t k = 3; k < run.size(); ++k) {
              const double u = is_law ? run.lambda[k][0] : run.x[k][2], t = run.t[k];
              if (std::abs(t - 1) > 3 * h) largest = std::max(largest, std::abs(u - exact(t)));
            }
            return largest;
          };
          CHECK(error(0.02) < 0.04);
          CHECK(error(0.01) < 0.02);
        }
  }

  TEST_CASE("a pendulum of given length, of index 3, has its tension with every theta") {
    // φ̈ = -sin φ from φ = π/2: the tension is 3 cos φ - 0, with φ̇² = 2 cos φ; y = -cos φ.
    const std::string model = text("x = 1\ny = 0\nu = 0\nv = 0\nT = 0",
                                   "\"der(x) = u\", \"der(y) = v\", \"der(u) = -T*x\", \"der(v) = -T*y - 1\", "
                                   "\"x^2 + y^2 = 1\"", 1.5);
    const auto error = [&](double h) {
      const Trajectory run = theta_run(model, 0.5, h);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.provenance.contains("first order from"));
      double largest = 0;
      for (std::size_t k = 3; k < run.size(); ++k)
        largest = std::max(largest, std::abs(run.x[k][4] + 3 * run.x[k][1]));
      return largest;
    };
    CHECK(error(0.01) < 0.1);
    CHECK(error(0.0025) < 0.025);
  }

  TEST_CASE("up to index 2 the steps are those of the method") {
    for (const std::string& rest : {std::string("z"), std::string("z + 0*z^3")}) {
      const Trajectory run = theta_run(text("x = 0\nz = 0", "\"der(x) = " + rest + "\", \"x = sin(t)\"", 1), 0.5, 0.01);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK_FALSE(run.provenance.contains("first order from"));
    }
  }

  TEST_CASE("a mode that determines its variables keeps the second order of the method") {
    // An algebraic variable of index 1 that switches: x' = -y, y = 2x for x > 1/2, y = x below.
    const auto end = [](double h) {
      const Trajectory run = theta_run(
          text("x = 1\ny = 2", "\"der(x) = -y\", \"y = x + x*step(x - 0.5)\"", 1), 0.5, h);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      return run.x.back()[0];
    };
    // 1/2 at t = log(2)/2, then e^-(t - log(2)/2) / 2.
    const double exact = 0.5 * std::exp(-(1 - std::log(2.0) / 2));
    const double coarse = std::abs(end(0.02) - exact), fine = std::abs(end(0.01) - exact);
    CHECK(coarse < 1e-3);
    CHECK(fine < coarse / 3);
  }

  TEST_CASE("a solution that ends where its rate is infinite ends there with every theta") {
    // x = √(1 - 2 t): no step of the method goes on from the end, and none leads to x < 0.
    for (const double theta : {0.5, 1.0}) {
      CAPTURE(theta);
      const Trajectory run = theta_run(text("x = 1", "\"der(x) = -1/x\"", 2), theta, 0.03);
      CHECK(run.status == Status::not_solved);
      CHECK(std::abs(run.t.back() - 0.5) < 0.09);
      CHECK(run.x.back()[0] > 0);
    }
  }
}
