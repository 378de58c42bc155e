#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/tests/schemes/located/smooth_systems.hpp>

using namespace perp;
using namespace smooth_systems;

namespace {

constexpr double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10, 1e-12};

RadauTolerance both(int n, double value, bool inside) {
  return {.rtol = value, .atol = Vector::Constant(n, value), .inside = inside};
}

/// Largest error of the differential components along a run, inside of its steps too.
template <class System>
double error_inside(int stages, double tolerance, double end) {
  ModeFlow flow(System::system());
  flow.set_mode(System::mode());
  Radau radau(flow, stages, both(flow.n(), tolerance, true));
  double largest = 0;
  Vector y;
  const Vector last = controlled(radau, System::guess(), end, 1e-3, [&](const Radau& step) {
    for (double s = 0.0625; s < 1; s += 0.125) {
      step.interpolate(s, y);
      largest = std::max(largest,
                         distance(y, System::exact(step.t() + s * step.h()), System::differential));
    }
  });
  return std::max(largest, distance(last, System::exact(end), System::differential));
}

template <class System>
double error_at_end(int stages, double tolerance, double end) {
  ModeFlow flow(System::system());
  flow.set_mode(System::mode());
  const Vector y = controlled(flow, stages, tolerance, System::guess(), end, false);
  return distance(y, System::exact(end), System::differential);
}

/// The errors fall with the tolerance as its power 1, give or take what `spread` allows for over
/// all tolerances together, and are of its size.
void check_proportional(const std::vector<double>& errors, double spread) {
  double least = inf, most = 0;
  for (std::size_t k = 0; k < errors.size(); ++k) {
    const double ratio = errors[k] / tolerances[k];
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
  CAPTURE(least);
  CAPTURE(most);
  CHECK(most < 30);
  CHECK(least > 1e-4);
  CHECK(most / least < spread);
}

/// 0 = x₁ - sin t, 0 = x₂ - x₁³: no derivative at all.
struct Algebraic {
  void residual(const auto& t, const auto&, const auto& x, const auto&, auto& r) const {
    r[0] = x[0] - sin(t);
    r[1] = x[1] - x[0] * x[0] * x[0];
  }
};

/// ẋ = -k (x - cos t) - sin t from far away: a stiff transient at the start.
struct Relaxation {
  double k = 1e8;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + k * (x[0] - cos(t)) + sin(t);
  }
};

/// The same equation in other units of everything: rows, unknown, multiplier and time.
struct ScaledCircle {
  double row = 1, x = 1, multiplier = 1;
  void residual(const auto& t, const auto& xdot, const auto& X, const auto& lambda, auto& r) const {
    const auto radial = lambda[0] / multiplier + sin(t);
    r[0] = row * (xdot[0] / x + (1 + X[2] / x) * X[1] / x + radial * X[0] / x);
    r[1] = xdot[1] / x - (1 + X[2] / x) * X[0] / x + radial * X[1] / x;
    r[2] = (xdot[2] / x - lambda[0] / multiplier - 0.3 * (X[2] / x - cos(t))) / row;
  }
  void output(const auto&, const auto& X, const auto&, auto& w) const {
    w[0] = row * ((X[0] / x) * (X[0] / x) + (X[1] / x) * (X[1] / x) - 1);
  }
};

}  // namespace

TEST_SUITE("schemes/located/radau_control") {
  TEST_CASE("the error inside the steps is proportional to the tolerance") {
    for (const int s : {3, 5, 7}) {
      CAPTURE(s);
      std::vector<double> ode, index_one, circle;
      for (const double tolerance : tolerances) {
        ode.push_back(error_inside<Ode>(s, tolerance, 1));
        index_one.push_back(error_inside<IndexOne>(s, tolerance, 1));
        circle.push_back(error_inside<Circle>(s, tolerance, 2));
      }
      check_proportional(ode, 100);
      check_proportional(index_one, 100);
      check_proportional(circle, 100);
    }
  }

  TEST_CASE("with longer steps the error at their ends is proportional to the tolerance") {
    for (const int s : {3, 5}) {
      CAPTURE(s);
      std::vector<double> ode, index_one, circle;
      for (const double tolerance : tolerances) {
        ode.push_back(error_at_end<Ode>(s, tolerance, 1));
        index_one.push_back(error_at_end<IndexOne>(s, tolerance, 1));
        circle.push_back(error_at_end<Circle>(s, tolerance, 2));
      }
      check_proportional(ode, 1000);
      check_proportional(index_one, 1000);
      check_proportional(circle, 1000);
    }
  }

  TEST_CASE("the estimate is O(h^(s+1)), with algebraic parts that are guesses too") {
    for (const int s : {3, 5}) {
      ModeFlow flow(Circle::system());
      flow.set_mode(Circle::mode());
      Radau radau(flow, s, both(3, 1e-8, true));
      std::vector<double> estimates;
      for (const double h : {0.1, 0.05, 0.025}) {
        radau.start(0.3, Circle::exact(0.3) + Vector{{0, 0, 0, 0.5}});
        REQUIRE(radau.attempt(h) == Radau::Outcome::solved);
        estimates.push_back(radau.error());
      }
      CAPTURE(s);
      CHECK(std::abs(std::log2(estimates[1] / estimates[2]) - (s + 1)) < 0.5);
      CHECK(std::abs(std::log2(estimates[0] / estimates[1]) - (s + 1)) < 0.5);
    }
  }

  TEST_CASE("the proposed step has an error near the tolerance") {
    ModeFlow flow(Ode::system());
    flow.set_mode({});
    Radau radau(flow, 5, both(2, 1e-9, true));
    radau.start(0, Ode::guess());
    REQUIRE(radau.attempt(1e-4) == Radau::Outcome::solved);
    CHECK(radau.error() < 1e-6);
    CHECK(radau.proposed_step() == 8e-4);  // growth is bounded
    REQUIRE(radau.attempt(0.2) == Radau::Outcome::solved);
    REQUIRE(radau.error() > 1);
    const double h = radau.proposed_step();
    CHECK(h < 0.2);
    REQUIRE(radau.attempt(h) == Radau::Outcome::solved);
    CHECK(radau.error() < 1);
    CHECK(radau.error() > 0.05);
    CHECK(radau.proposed_step() <= h);  // no growth after a rejection
  }

  TEST_CASE("van der Pol's equation, stiff, through its jumps") {
    ModeFlow flow(make_dcs(VanDerPol{}, 2));
    flow.set_mode({});
    const Vector start{{2, 0}};
    const Vector reference = controlled(flow, 7, 1e-13, start, 2);
    REQUIRE(reference.allFinite());
    CHECK(std::abs(reference[0] - 1.70616773217) < 1e-10);  // [HW] IV.10, (10.4): t = 2
    CHECK(std::abs(reference[1] + 0.89280970102) < 1e-10);
    for (const int s : {3, 5, 7})
      for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
        CAPTURE(s);
        CAPTURE(tolerance);
        Radau radau(flow, s, both(2, tolerance, true));
        const Vector y = controlled(radau, start, 2, 1e-6, [](const Radau&) {});
        CHECK(distance(y, reference, 2) < 10 * tolerance);
        CHECK(radau.counts().steps < 30 * std::pow(tolerance, -1.0 / (s + 1)) + 100);
      }
  }

  TEST_CASE("a stiff transient at the start costs few steps") {
    ModeFlow flow(make_dcs(Relaxation{}, 1));
    flow.set_mode({});
    for (const int s : {3, 5, 7}) {
      Radau radau(flow, s, both(1, 1e-8, true));
      const Vector y = controlled(radau, Vector{{3}}, 1, 1e-3, [](const Radau&) {});
      CHECK(std::abs(y[0] - std::cos(1.0)) < 1e-8);
      CHECK(radau.counts().attempts < 200);
    }
  }

  TEST_CASE("a mode without derivatives is controlled by its algebraic variables") {
    ModeFlow flow(make_dcs(Algebraic{}, 2));
    flow.set_mode({});
    for (const int s : {3, 5, 7})
      for (const double tolerance : {1e-4, 1e-8}) {
        Radau radau(flow, s, both(2, tolerance, true));
        double largest = 0;
        Vector y;
        controlled(radau, Vector{{0.1, 0.1}}, 10, 0.01, [&](const Radau& step) {
          for (double x = 0; x <= 1; x += 0.125) {
            step.interpolate(x, y);
            largest = std::max(largest, std::abs(y[0] - std::sin(step.t() + x * step.h())));
          }
        });
        CAPTURE(s);
        CHECK(largest < 10 * tolerance);
        CHECK(radau.counts().steps < 100 * std::pow(tolerance, -1.0 / s));
      }
  }

  TEST_CASE("units of equations and multipliers do not change the steps") {
    const auto steps = [](const ScaledCircle& system) {
      ModeFlow flow(make_dcs(system, 3, {sign()}));
      flow.set_mode({1});
      const double atol = 1e-9 * system.x;
      Radau radau(flow, 5, {.rtol = 1e-9, .atol = Vector::Constant(3, atol)});
      const Vector y = controlled(radau, Vector{{system.x, 0, system.x, 0.1 * system.multiplier}},
                                  2, 1e-3, [](const Radau&) {});
      CHECK(distance(y / system.x, Circle::exact(2), 3) < 1e-9);
      return radau.counts().steps;
    };
    const long plain = steps({});
    CHECK(std::abs(steps({.row = 1e9, .x = 1, .multiplier = 1}) - plain) <= 1);
    CHECK(std::abs(steps({.row = 1, .x = 1e-7, .multiplier = 1}) - plain) <= 1);
    CHECK(std::abs(steps({.row = 1e-6, .x = 1e5, .multiplier = 1e12}) - plain) <= 1);
  }
}
