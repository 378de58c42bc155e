#include <doctest/doctest.h>
#include <cmath>
#include <vector>

#include <perp/core/recorder.hpp>
#include <perp/schemes/located/transition/jumps.hpp>

#include <perp/tests/schemes/located/lcs_system.hpp>
#include <perp/tests/schemes/nonlinear_systems.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;

namespace {

Jumps jumps_of(const Dcs& system, const Vector& x, const Vector& lambda) {
  ConsistentJets jets(system);
  return find_jumps(system, jets, 0, x, lambda);
}

/// A ball on a floor: w = height, λ = force.
struct Ball {
  double g = 9.81, m = 2;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = m * xdot[1] + m * g - lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// Two capacitors 1 and 3 joined by an ideal diode: u̇₁ = −i, 3 u̇₂ = i, 0 ≤ u₂ − u₁ ⊥ i ≥ 0.
struct Capacitors {
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] + lambda[0];
    r[1] = 3 * xdot[1] - lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[1] - x[0]; }
};

/// ẋ = (1 + x²) λ, y = x − ½ must vanish: the column of the impulse depends on the state.
struct Curved {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (1 + x[0] * x[0]) * lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0] - 0.5; }
};

}  // namespace

TEST_SUITE("schemes/located/jumps") {
  TEST_CASE("the switching DAE with B = (1, 2) jumps from (0, -1) to (2, 3), a way of 4.47") {
    const std::vector<Dcs> forms{
        test::dcs_of(switching_dae::own_law(1, 2)),
        make_dcs(nonlinear_systems::RelayForm{1, 2}, 3, {sign()}),
    };
    for (const Dcs& system : forms) {
      const Jumps jumps = jumps_of(system, Vector{{0, -1, 0}}, Vector{{-1}});
      CHECK(jumps.complete);
      REQUIRE(jumps.found.size() == 1);
      const Jump& jump = jumps.found[0];
      CHECK((jump.x.head(2) - Vector{{2, 3}}).norm() < 1e-12);
      CHECK(jump.size == doctest::Approx(std::sqrt(20)));
      CHECK(jump.minimal);
      CHECK(jump.variable_impulse[2] == doctest::Approx(2));  // ∫ z
      REQUIRE(jump.continuations.size() == 1);
      CHECK(jump.continuations[0].mode == Mode{2});
      CHECK(jumps.rejected.size() == 2);
    }
    const Jumps pairs = jumps_of(test::dcs_of(switching_dae::lcp_form(1, 2)),
                                 Vector{{0, -1, 0}}, Vector{{0, 2, 0}});
    REQUIRE(pairs.found.size() == 1);
    CHECK((pairs.found[0].x.head(2) - Vector{{2, 3}}).norm() < 1e-12);
  }

  TEST_CASE("with B = (2, 1) there is no jump from (0, -1)") {
    const Jumps jumps = jumps_of(test::dcs_of(switching_dae::own_law(2, 1)),
                                 Vector{{0, -1, 0}}, Vector{{-1}});
    CHECK(jumps.complete);
    CHECK(jumps.found.empty());
    CHECK(jumps.rejected.size() == 3);
  }

  TEST_CASE("a contact stops the ball with an impulse of its momentum") {
    const Dcs system = make_dcs(Ball{}, 2, {complementarity()});
    const Jumps jumps = jumps_of(system, Vector{{0, -3}}, Vector{{0}});
    REQUIRE(jumps.found.size() == 1);
    CHECK(jumps.found[0].x.norm() < 1e-12);
    CHECK(jumps.found[0].multiplier_impulse[0] == doctest::Approx(6));
    CHECK(jumps.found[0].continuations[0].mode == Mode{1});
    // A ball that leaves does not jump: the contact would have to pull.
    CHECK(jumps_of(system, Vector{{0, 3}}, Vector{{0}}).found.empty());
    // Under a force that lifts it the ball stops first and then leaves.
    const Jumps lifted =
        jumps_of(make_dcs(Ball{-1}, 2, {complementarity()}), Vector{{0, -3}}, Vector{{0}});
    REQUIRE(lifted.found.size() == 1);
    CHECK(lifted.found[0].continuations[0].mode == Mode{0});
  }

  TEST_CASE("a diode joins two capacitors: the charge is kept") {
    const Jumps jumps = jumps_of(make_dcs(Capacitors{}, 2, {complementarity()}),
                                 Vector{{4, 0}}, Vector{{0}});
    REQUIRE(jumps.found.size() == 1);
    CHECK((jumps.found[0].x - Vector{{1, 1}}).norm() < 1e-12);
    CHECK(jumps.found[0].multiplier_impulse[0] == doctest::Approx(3));
  }

  TEST_CASE("the impulse acts along the column at the state after the jump") {
    const Jumps jumps =
        jumps_of(make_dcs(Curved{}, 1, {complementarity()}), Vector{{0}}, Vector{{0}});
    REQUIRE(jumps.found.size() == 1);
    CHECK(jumps.found[0].x[0] == doctest::Approx(0.5));
    CHECK(jumps.found[0].multiplier_impulse[0] == doctest::Approx(0.5 / 1.25));
  }
}
