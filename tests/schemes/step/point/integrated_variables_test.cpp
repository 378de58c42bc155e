#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>

#include <perp/lcp/parametric/certificate.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>
#include <perp/tests/schemes/step/point/random_systems.hpp>

using namespace perp;
using perp::test::change_units;
using perp::test::friction_chain;
using perp::test::longest;
using perp::test::positions_watched;

TEST_SUITE("schemes/step/point/integrated_variables") {
  TEST_CASE("masses in a row with contacts, springs that only push and friction have a certificate, in any units, that the matrix of a step confirms") {
    std::mt19937 random(71);
    int confirmed = 0;
    for (int trial = 0; trial < 40; ++trial) {
      CAPTURE(trial);
      Lcs lcs = positions_watched(friction_chain(random, 2 + trial % 4), random);
      const double theta = trial % 2 == 0 ? 1 : 0.75, there = longest(lcs, theta);
      CHECK(there > 0.05);
      for (const double share : {1e-3, 0.1, 0.9}) {
        CHECK(has_at_most_one_solution(StepEquations(lcs, theta).family(share * std::min(there, 1.0))));
        ++confirmed;
      }
      Vector x = Vector::Zero(lcs.n());
      change_units(lcs, x, random, 20);
      const double in_units = longest(lcs, theta);
      CHECK((in_units == there || std::abs(in_units - there) <= 1e-9 * there));
    }
    CHECK(confirmed == 120);
  }

  TEST_CASE("steps that positions keep from being continuous do not move by their length") {
    std::mt19937 random(72);
    const Lcs frictions = friction_chain(random, 3);
    const StepEquations smooth(frictions, 1), contacts(positions_watched(frictions, random), 1);
    CHECK(MonotoneSteps(smooth).is_continuous());
    CHECK_FALSE(MonotoneSteps(contacts).is_continuous());
  }

  TEST_CASE("what reads positions and velocities against each other, and D between both kinds, has no certificate") {
    std::mt19937 random(73);
    const Lcs chain = friction_chain(random, 2);
    const auto with = [&](double of_position, double of_velocity, double coupling) {
      Lcs lcs = chain;
      lcs.C.row(0).setZero();
      lcs.C(0, 0) = of_position;
      lcs.C(0, 2) = of_velocity;
      lcs.D = Matrix{{1, coupling}, {-coupling, 1}};
      lcs.laws = {complementarity(), complementarity()};
      lcs.B = -lcs.B;
      return longest(lcs);
    };
    CHECK(with(0, 1, 0.5) > 0);   // both of velocities
    CHECK(with(1, 0, 0) > 0);     // a contact
    CHECK(with(1, 0.25, 0) > 0);  // with a damper
    CHECK(with(1, 0, 0.5) == 0);
    CHECK(with(1, 0.25, 0.5) == 0);
    CHECK(with(1, -0.25, 0) == 0);
  }
}
