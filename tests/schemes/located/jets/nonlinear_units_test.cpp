#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>

// Diodes conduct almost nothing at 0 V: what derivatives there tell of the size of voltages is
// wrong by any factor.

using namespace perp;

namespace {

constexpr double Is = 1e-9, vt = 0.025, C = 1e-3;

/// C v' = i(t) - Is (exp(v/vt) - 1), i = 1 before t = 1 and 0 after it; volts and seconds in other
/// units.
std::string charge_and_discharge(double volt, double second, bool has_node) {
  const std::string diode =
      fmt::format("{:.17g}*(exp({}/{:.17g}) - 1)", Is, has_node ? "a" : "v", vt * volt);
  return fmt::format(
      "[variables]\nv = 0\n{}[model]\nequations = [\"{:.17g}*der(v) = step({:.17g} - t) - "
      "{}\"{}]\n[run]\n"
      "t = [0, {:.17g}]\n",
      has_node ? "a = 0\n" : "", C / volt * second, second, diode, has_node ? ", \"a = v\"" : "",
      4 * second);
}

/// w = exp(-v/vt) follows the linear C vt w' = Is - (i + Is) w.
double exact(double t) {
  const auto after = [](double w, double i, double time) {
    const double end = Is / (i + Is);
    return end + (w - end) * std::exp(-(i + Is) * time / (C * vt));
  };
  const double w = after(1, 1, std::min(t, 1.0));
  return -vt * std::log(t > 1 ? after(w, 0, t - 1) : w);
}

}  // namespace

TEST_SUITE("schemes/located/jets/nonlinear_units") {
  TEST_CASE("a capacitor behind a diode is loaded and unloaded to the tolerance, in every unit") {
    for (const double volt : {1.0, 0x1p30, 1e-9, 1e54})
      for (const double second : {1.0, 1e-12, 3e7})
        for (const bool has_node : {false, true}) {
          const Model model =
              read_model_text(charge_and_discharge(volt, second, has_node), "diode.toml");
          IntegrateOptions rows;
          for (const double t : {1e-6, 1e-5, 3e-5, 0.5, 1.0001, 1.01, 1.5, 2.0, 3.0, 4.0})
            rows.times.push_back(t * second);
          const Trajectory run = integrate(model.system.functions(), model.x0(), model.run.span,
                                           Located{.tol = 1e-10}, rows);
          CAPTURE(volt);
          CAPTURE(second);
          CAPTURE(has_node);
          REQUIRE_MESSAGE(run.status == Status::solved, run.message);
          CHECK_FALSE(run.provenance.contains("first order from"));
          for (std::size_t k = 0; k < run.size(); ++k) {
            const double t = run.t[k] / second;
            if (std::abs(t - 1) < 1e-6) continue;
            CAPTURE(t);
            CHECK(std::abs(run.x[k][0] / volt - exact(t)) <= 1e-8);
          }
        }
  }

  TEST_CASE("a load with a power of the voltage is followed to the tolerance from 0 V, where it has no slope") {
    // c v' = 1 - tanh(t/c)² + tanh(t/c)³ - v³ has the solution v = tanh(t/c).
    for (const double c : {1.0, 1e-3, 1e-9}) {
      const Model model = read_model_text(
          fmt::format("[variables]\nv = 0\n[model]\nequations = [\"{0:.17g}*der(v) = 1 - tanh(t/{0:.17g})^2 + "
                      "tanh(t/{0:.17g})^3 - v^3\"]\n[run]\nt = [0, 4]\n",
                      c),
          "power.toml");
      IntegrateOptions rows;
      for (const double t : {0.1, 0.5, 1.0, 2.0, 3.9}) rows.times.push_back(t * c);
      const Trajectory run =
          integrate(model.system.functions(), model.x0(), model.run.span, Located{.tol = 1e-10}, rows);
      CAPTURE(c);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      for (std::size_t k = 0; k < run.size(); ++k)
        CHECK(std::abs(run.x[k][0] - std::tanh(run.t[k] / c)) <= 1e-8);
    }
  }

  TEST_CASE("no step is taken to another solution of its stages, at any tolerance") {
    const Model model = read_model_text(
        "[variables]\nv = 0\n[model]\nequations = [\"1e-3*der(v) = 1 + sin(9*t) - 1e-9*(exp(v/0.025) - 1)\"]\n"
        "[run]\nt = [0, 4]\n",
        "driven.toml");
    const auto end = [&](double tol) {
      const Trajectory run =
          integrate(model.system.functions(), model.x0(), model.run.span, Located{.tol = tol});
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      return run.x.back()[0];
    };
    const double exact = end(1e-12);
    for (int power = -11; power <= -3; ++power) {
      CAPTURE(power);
      const double tol = std::pow(10.0, power);
      CHECK(std::abs(end(tol) - exact) <= 0.01);
    }
  }

  TEST_CASE("units of a diode with a capacitor move with the unit of its voltage, to the bit, and its time is within the span") {
    for (const int power : {0, 40, -40}) {
      const double volt = std::ldexp(1.0, power);
      const Model model = read_model_text(charge_and_discharge(volt, 1, true), "diode.toml");
      const Model plain = read_model_text(charge_and_discharge(1, 1, true), "diode.toml");
      const ModelScales scales =
          model_scales(model.system.functions(), model.x0(), model.run.span, Vector::Zero(2));
      const ModelScales same =
          model_scales(plain.system.functions(), plain.x0(), plain.run.span, Vector::Zero(2));
      CHECK(scales.time <= 4);
      CHECK(scales.x == volt * same.x);
      CHECK(scales.time == same.time);
    }
  }
}
