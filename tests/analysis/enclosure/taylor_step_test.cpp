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
      TaylorStep step(flow,
                      {.order = order, .share = 1, .longest = 0.25, .excess = directed::infinity});
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

  // Rounding has no room below 0: widths come from V alone, and grow like the solutions beside it.
  TEST_CASE("states that rest at 0 are 0, whatever they are beside") {
    const auto moved = [](const std::vector<std::string>& names,
                          const std::vector<std::string>& rates, Box start, double end) {
      TaylorStep step(make_flow(names, rates), {});
      Doubleton set(start);
      for (double t = 0; t < end; t = step.end()) {
        REQUIRE(step.prepare(set, t, end, 0x1p-40));
        step.move(set);
      }
      return set.box();
    };
    CHECK(moved({"y"}, {"50*y"}, {Interval(0)}, 40)[0].is_zero());
    CHECK(moved({"x", "v"}, {"v", "-sin(x)"}, {Interval(0), Interval(0)}, 8)[0].is_zero());
    const Box pair = moved({"x", "y", "z"}, {"10*(y-x)", "x*(28-z)-y", "x*y-z"},
                           {Interval(0), Interval(0), Interval(1, 1.125)}, 4);
    CHECK(pair[0].is_zero());
    CHECK(pair[1].is_zero());
    CHECK(pair[2].contains(std::exp(-4)));
    // what another state drives is not at rest
    const Box driven = moved({"x", "y"}, {"1-0*x", "x*y + x"}, {Interval(0), Interval(0)}, 1);
    CHECK(driven[1].contains(std::exp(0.5) - 1));
  }

  TEST_CASE("solutions below the least normal number go on") {
    TaylorStep step(make_flow({"x"}, {"-50*x"}), {});
    Doubleton set(Box{Interval(1)});
    for (double t = 0; t < 30; t = step.end()) {
      REQUIRE(step.prepare(set, t, 30, 0x1p-40));
      step.move(set);
    }
    CHECK(set.box()[0].contains(0.0));
    CHECK(enclosure::width(set.box()[0]) < 1e-300);
  }

  // y' = sqrt(y), y(0) = 0: y = 0 and y = t²/4.
  TEST_CASE("a state at 0 whose rate has no derivative there proves nothing") {
    TaylorStep step(make_flow({"y"}, {"sqrt(y)"}), {});
    CHECK_FALSE(step.prepare(Doubleton(Box{Interval(0)}), 0, 1, 0x1p-40));
  }
}
