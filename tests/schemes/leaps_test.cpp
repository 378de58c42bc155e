#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/leaps.hpp>

using namespace perp;

namespace {

/// Of steps of 2⁰ … 2⁻³⁹.
bool grows(const std::function<double(double length)>& motion) {
  std::vector<Leap> leaps;
  for (int k = 0; k < 40; ++k) {
    const double length = std::ldexp(1.0, -k);
    leaps.push_back({length, Vector::Constant(1, motion(length))});
  }
  return grow_without_bound(leaps, Vector::Zero(1));
}

Trajectory run_equation(const std::string& equation, double h, double end) {
  const Model model = read_model_text("[variables]\nz = 1\n[model]\nequations = [\"" + equation +
                                          "\"]\n[run]\nt = [0, 1]\n",
                                      "text");
  return integrate(model.system.functions(), model.x0(), {0, end}, BackwardEuler{.h = h});
}

}  // namespace

TEST_SUITE("schemes/leaps") {
  TEST_CASE("powers and logarithms of the length grow without bound, jumps and motions do not") {
    for (const double power : {-2.0, -1.0, -0.5, -0.1})
      CHECK(grows([=](double h) { return -std::pow(h, power); }));
    CHECK(grows([](double h) { return 1 - std::log(h); }));
    for (const double power : {0.25, 0.5, 1.0, 2.0}) {
      CHECK_FALSE(grows([=](double h) { return std::pow(h, power); }));
      CHECK_FALSE(grows([=](double h) { return 3 - std::pow(h, power); }));
      CHECK_FALSE(grows([=](double h) { return 3 + std::pow(h, power); }));
    }
    CHECK_FALSE(grows([](double) { return 1; }));
  }

  // Contacts a rounding r below their surface: the rate after a step of h is r/h.
  TEST_CASE("what rounding adds to a jump in steps of ulps is no growth") {
    CHECK_FALSE(grows([](double h) { return 3 + 1e-12 / h; }));
    CHECK_FALSE(grows([](double h) { return 3 + 1e-13 / h; }));
  }

  TEST_CASE("what a landing leaves of its rate by chance is no growth") {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> share(0, 1);
    for (int k = 0; k < 1000; ++k) CHECK_FALSE(grows([&](double) { return share(random); }));
  }

  TEST_CASE("an equation that blows up is not passed by jumps over infinity") {
    for (const double h : {0.3, 0.1, 0.01, 0.002}) {
      CAPTURE(h);
      const Trajectory run = run_equation("der(z) = z*abs(z)", h, 2);
      CHECK(run.status == Status::not_solved);
      CHECK(run.t.back() <= 1);
      // The step before which 4 h z = 1 is at 1 − O(h log h).
      CHECK(run.t.back() >= 1 - 10 * h);
      CHECK(run.counts.at("newton_iterations") < 1'000'000);
      for (const Event& event : run.events) CHECK(event.kind != EventKind::jump);
    }
  }
}
