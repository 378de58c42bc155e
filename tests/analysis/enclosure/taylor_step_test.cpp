#include <doctest/doctest.h>
#include <cmath>
#include <stdexcept>

#include <perp/analysis/enclosure/taylor_step.hpp>
#include <perp/tests/analysis/enclosure/flows.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::Doubleton;
using enclosure::Interval;
using enclosure::IntervalMatrix;
using enclosure::TaylorStep;
using test::make_flow;

TEST_SUITE("analysis/enclosure/taylor_step") {
  // x = a e^(2τ), ∂x/∂a = e^(2τ): at low order the remainder and its derivative are large.
  TEST_CASE("windows hold solutions and their derivatives before and after, at every low order") {
    const auto flow = make_flow({"x"}, {"2*x"});
    for (int order = 1; order <= 5; ++order) {
      CAPTURE(order);
      TaylorStep step(flow, {.order = order});
      REQUIRE(step.prepare_window(Interval(0), {Interval(0.875, 1.125)}, Interval(0), {Interval(1)},
                                  0.25));
      for (const double tau : {-0.25, -0.125, 0.0625, 0.25}) {
        const Interval growth = exp(Interval(2 * tau));
        CHECK(step.centre_at(Interval(tau))[0].contains(growth));
        CHECK(step.flow_jacobian(Interval(tau))(0, 0).contains(growth));
        CHECK(step.box_at(Interval(tau))[0].contains(Interval(0.875, 1.125) * growth));
      }
      CHECK(enclosure::width(step.flow_jacobian(Interval(0.25))(0, 0)) < 2);
    }
  }

  TEST_CASE("derivatives of two states are those by both of them") {
    // rotation: ∂(x, y)/∂(a, b) = (cos τ, sin τ; −sin τ, cos τ)
    const auto flow = make_flow({"x", "y"}, {"y", "-x"});
    for (int order = 1; order <= 6; ++order) {
      TaylorStep step(flow, {.order = order});
      REQUIRE(step.prepare_window(Interval(0), {Interval(0.9, 1.1), Interval(-0.1, 0.1)},
                                  Interval(0), {Interval(1), Interval(0)}, 0.5));
      for (const double tau : {-0.5, 0.25, 0.5}) {
        const IntervalMatrix J = step.flow_jacobian(Interval(tau));
        CHECK(intersection(J(0, 0), cos(Interval(tau))).has_value());
        CHECK(intersection(J(1, 0), -sin(Interval(tau))).has_value());
        CHECK(J(0, 0).contains(std::cos(tau)));
        CHECK(J(0, 1).contains(std::sin(tau)));
        CHECK(J(1, 0).contains(-std::sin(tau)));
        CHECK(J(1, 1).contains(std::cos(tau)));
      }
    }
  }

  TEST_CASE("long steps of low order hold the exact solution at their end") {
    const auto flow = make_flow({"x"}, {"2*x"});
    for (int order = 1; order <= 5; ++order) {
      CAPTURE(order);
      TaylorStep step(flow, {.order = order, .share = 1, .longest = 0.25,
                             .excess = directed::infinity});
      Doubleton set({Interval(1)});
      REQUIRE(step.prepare(set, 0, 0.25, 0x1p-50));
      const double end = step.end();
      step.move(set);
      CHECK(set.box()[0].contains(exp(Interval(2) * Interval(end))));
    }
  }

  TEST_CASE("two enclosures of one solution that do not meet are an alarm") {
    CHECK_THROWS_AS(enclosure::common({Interval(0), Interval(0, 1)}, {Interval(0), Interval(2, 3)}),
                    std::logic_error);
    CHECK(enclosure::common({Interval(0, 2)}, {Interval(1, 3)})[0] == Interval(1, 2));
  }
}
