#include <doctest/doctest.h>
#include <cmath>

#include <perp/core/recorder.hpp>
#include <perp/core/state_derivative.hpp>

using namespace perp;

namespace {

/// Two masses that pull each other by their accelerations, an algebraic force, a relay.
struct Coupled {
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = 2 * xdot[0] + xdot[1] - x[2] + lambda[0];
    r[1] = xdot[0] + 3 * xdot[1] - t * x[0];
    r[2] = x[2] - x[0] * x[1];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// ẋ + ẋ³ = x: implicit in ẋ.
struct Cubic {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + xdot[0] * xdot[0] * xdot[0] - x[0];
  }
};

/// Only ẋ + ẏ is known.
struct Sum {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + xdot[1] + x[0];
    r[1] = x[0] - 2 * x[1];
  }
};

}  // namespace

TEST_SUITE("core/state_derivative") {
  TEST_CASE("coupled derivatives are solved for, algebraic variables have none") {
    const StateDerivative derivative(make_dcs(Coupled{}, 3, {sign()}));
    // 2 a + b = 6 - 0.5, a + 3 b = 4:  a = 2.5, b = 0.5
    const Vector xdot = derivative(2, Vector{{2, 3, 6}}, Vector{{0.5}});
    CHECK(xdot[0] == doctest::Approx(2.5).epsilon(1e-14));
    CHECK(xdot[1] == doctest::Approx(0.5).epsilon(1e-14));
    CHECK(std::isnan(xdot[2]));
  }

  TEST_CASE("equations that are nonlinear in the derivative are solved by Newton's method") {
    const StateDerivative derivative(make_dcs(Cubic{}, 1));
    for (const double v : {-3.0, -0.1, 0.0, 0.7, 20.0}) {
      const Vector x{{v + v * v * v}};
      CHECK(derivative(0, x, Vector(0))[0] == doctest::Approx(v).epsilon(1e-12));
    }
  }

  TEST_CASE("what the equations do not determine is NaN, not a number that looks like an answer") {
    const Vector sum = StateDerivative(make_dcs(Sum{}, 2))(0, Vector{{1, 0.5}}, Vector(0));
    CHECK(std::isnan(sum[0]));
    CHECK(std::isnan(sum[1]));
    const StateDerivative derivative(make_dcs(Coupled{}, 3, {sign()}));
    CHECK(std::isnan(derivative(0, Vector{{1, 1, 1}}, Vector(0))[0]));  // λ is not known
    CHECK(std::isnan(derivative(perp::nan, Vector{{1, 1, 1}}, Vector{{0}})[0]));
  }
}
