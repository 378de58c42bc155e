#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include <perp/core/lcs.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/poles/growth.hpp>

using namespace perp;

namespace {

/// Backward Euler and the located scheme; x = t from 0 to 2.
std::vector<Trajectory> runs(const std::string& variables, const std::string& equations, double h) {
  const Model model = read_model_text(
      fmt::format("[variables]\nx = 0\n{}\n[model]\nequations = [\"der(x) = 1\", {}]\n[run]\nt = [0, 2]\n",
                  variables, equations),
      "followed.toml");
  const auto& system = model.system.functions();
  return {integrate(system, model.x0(), {0, 2}, BackwardEuler{.h = h}),
          integrate(system, model.x0(), {0, 2}, Located{.tol = 1e-10})};
}

/// y_1 = ... = y_8 = 1 + (1 - d(x)) y_1, one block: y = 1/d.
std::vector<Trajectory> ring(const std::string& d, double h) {
  std::string variables, equations;
  for (int k = 1; k < 8; ++k) {
    variables += fmt::format("y{} = 1\n", k);
    equations += fmt::format("\"y{} = y{}\", ", k, k + 1);
  }
  return runs(variables + "y8 = 1", equations + fmt::format("\"y8 - (1 - ({}))*y1 = 1\"", d), h);
}

}  // namespace

TEST_SUITE("schemes/poles/growth") {
  /// z(s) up to 2^-last before 1, where following ends, on places of which each is nearer by a 32nd.
  bool leads_to_pole(double (*z)(double distance), int last, bool of_any_order = false) {
    Growth growth;
    for (double distance = 1; distance > std::ldexp(1.0, -last); distance *= 1 - 0x1p-5)
      growth.add(1 - distance, {z(distance)});
    return growth.leads_to_pole(of_any_order);
  }

  TEST_CASE("a power of the distance of order 3/4 or more is a pole, a steep rise and a fold are none") {
    CHECK(leads_to_pole([](double d) { return 1 / d; }, 20));
    CHECK(leads_to_pole([](double d) { return -1 / (d * d); }, 12));
    CHECK(leads_to_pole([](double d) { return std::pow(d, -4.0); }, 5));
    CHECK_FALSE(leads_to_pole([](double d) { return std::pow(d, -0.6); }, 30));
    CHECK(leads_to_pole([](double d) { return std::pow(d, -0.6); }, 30, true));
    CHECK_FALSE(leads_to_pole([](double d) { return std::exp(-20 * d); }, 30, true));
    CHECK_FALSE(leads_to_pole([](double d) { return 1 - std::sqrt(d) + 1e-4; }, 30, true));
  }

  TEST_CASE("places behind which an unknown was smaller again tell nothing") {
    Growth growth;
    for (double distance = 1; distance > 0x1p-20; distance *= 0.875) growth.add(1 - distance, {1 / distance});
    CHECK(growth.leads_to_pole(false));
    growth.add(1 - 0x1p-21, {1});
    CHECK_FALSE(growth.leads_to_pole(true));
  }
}

TEST_SUITE("schemes/poles/followed_unknowns") {
  TEST_CASE("no step passes a pole, even or odd, of an unknown that no formula gives") {
    for (const char* equation : {"\"y^2*(x-1)^2 = 1\"", "\"1/y = (x-1)^2\"", "\"y^2*(x-1)^4 = 1\""})
      for (const Trajectory& run : runs("y = 1", equation, 0.03)) {
        CAPTURE(std::string(equation));
        CAPTURE(run.provenance.at("scheme"));
        CHECK(run.status == Status::not_solved);
        CHECK(run.t.back() < 1 + 1e-12);
      }
    for (const Trajectory& run : runs("y = 1", "\"y^2*(x-1)^2 = 1\"", 0.03)) {
      CHECK(run.t.back() > 1 - 1e-9);
      CHECK(run.message.find("the equations have a pole at t = 1,") != std::string::npos);
    }
  }

  TEST_CASE("no step passes a pole whose divisor intervals overestimate and rounding hides") {
    // 1/d with d = (x-1)^2, (x-1)^4 and 1 - cos(x-1), known to the rounding of 1 near the pole: y grows to 2^25.
    for (const char* equation :
         {"\"y^2*(x^2-2*x+1) = 1\"", "\"y^2*(x^4-4*x^3+6*x^2-4*x+1) = 1\"", "\"y*abs(y)*(x^2-2*x+1) = 1\""})
      for (const double h : {0.03, 0.001})
        for (const Trajectory& run : runs("y = 1", equation, h)) {
          CAPTURE(std::string(equation));
          CAPTURE(run.provenance.at("scheme"));
          CHECK(run.status == Status::not_solved);
          CHECK(run.t.back() < 1 + 1e-6);
        }
  }

  TEST_CASE("no step begins behind a pole where the one before has ended right before it") {
    for (const char* equation : {"\"y^2*(x-1)^2 = 1\"", "\"y^2*(x-1)^4 = 1\"", "\"1/y = (x-1)^2\""})
      for (const double h : {0.001, 0.01, 0.0625}) {
        const Trajectory run = runs("y = 1", equation, h)[0];
        CAPTURE(std::string(equation));
        CAPTURE(h);
        CHECK(run.status == Status::not_solved);
        CHECK(run.t.back() < 1 + 1e-9);
      }
  }

  TEST_CASE("near a pole no row is on another branch") {
    // y = (1 + sqrt(1 + 4d))/(2d), the other root of d y^2 - y - 1 is near -1.
    for (const double tol : {1e-6, 1e-10, 1e-12}) {
      const Model model = read_model_text(
          "[variables]\nx = 0\ny = 1.618\n[model]\nequations = [\"der(x) = 1\", \"y^2*(x^2-2*x+1) = 1+y\"]\n"
          "[run]\nt = [0, 2]\n", "branch.toml");
      const Trajectory run = integrate(model.system.functions(), model.x0(), {0, 2}, Located{.tol = tol});
      CHECK(run.status == Status::not_solved);
      for (const Vector& x : run.x) CHECK(x[1] > 1);
    }
  }

  TEST_CASE("no step passes a pole of a block of eight unknowns") {
    for (const char* divisor : {"(x-1)^2", "1-x"})
      for (const Trajectory& run : ring(divisor, 0.03)) {
        CAPTURE(std::string(divisor));
        CAPTURE(run.provenance.at("scheme"));
        CHECK(run.status == Status::not_solved);
        CHECK(run.t.back() < 1 + 1e-12);
      }
  }

  TEST_CASE("a high summit is passed, and an unknown that is flat, steep or grows is no pole") {
    struct Case {
      const char* equation;
      double start, end;
    };
    for (const Case& summit : {Case{"\"y^2*((x-1)^2 + 1e-6)^2 = 1\"", 1, 1 / (1 + 1e-6)},
                               Case{"\"y + exp(y) = 40*x\"", -0.6, 4.326429},
                               Case{"\"y^2 = 1 + 1e6*(x-1)^2\"", 1000, std::sqrt(1 + 1e6)},
                               Case{"\"y^3 + y = 50*(x-1)\"", -3.6, 3.59357}})
      for (const Trajectory& run : runs(fmt::format("y = {}", summit.start), summit.equation, 0.03)) {
        CAPTURE(std::string(summit.equation));
        CAPTURE(run.provenance.at("scheme"));
        CHECK_MESSAGE(run.status == Status::solved, run.message);
        CHECK(run.x.back()[1] == doctest::Approx(summit.end).epsilon(1e-4));
      }
    for (const Trajectory& run : ring("(x-1)^2 + 1e-4", 0.03)) {
      CHECK_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.x.back()[8] == doctest::Approx(1 / (1 + 1e-4)).epsilon(1e-9));
    }
  }
}
