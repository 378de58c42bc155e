#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <vector>

#include <perp/schemes/step/point/monotone_steps.hpp>
#include <perp/tests/schemes/step/point/random_systems.hpp>

using namespace perp;
using perp::test::change_units;
using perp::test::friction_chain;
using perp::test::longest;
using perp::test::passive_system;
using perp::test::turn_rising_laws;
using perp::test::with_names;

namespace {

/// A mass of velocity v on one surface, whose friction is the sum of two forces r with names, or of one and a multiplier.
Lcs two_frictions(bool has_two_names) {
  Lcs lcs{.A = Matrix::Zero(3, 3), .B = Matrix::Zero(3, 2), .b = Vector(Vector::Zero(3)), .C = Matrix::Zero(2, 3)};
  lcs.E = Matrix::Zero(3, 3);
  lcs.E(0, 0) = 1;
  lcs.A << 0, -1, has_two_names ? -1 : 0, 0, -1, 0, 0, 0, -1;
  lcs.B(1, 0) = 1;
  lcs.B(has_two_names ? 2 : 0, 1) = has_two_names ? 1 : -1;
  lcs.C.col(0).setOnes();
  lcs.q = Vector(Vector::Zero(2));
  lcs.laws = {sign(), sign()};
  return lcs;
}

}  // namespace

TEST_SUITE("schemes/step/point/explicit_variables") {
  TEST_CASE("forces and arguments of laws that have names leave steps certified to the same length, in any units") {
    std::mt19937 random(61);
    int certified = 0;
    for (int trial = 0; trial < 60; ++trial) {
      CAPTURE(trial);
      const int n = 2 + trial % 5;
      Lcs lcs = passive_system(random, n, {sign(), complementarity()});
      // A force of its own for each law, on a row that no other acts on, tells it.
      lcs.C.setZero();
      lcs.B.setZero();
      lcs.C(0, 0) = lcs.B(0, 0) = 3;
      lcs.C(1, 1) = lcs.B(1, 1) = 1;
      lcs.D.setZero();
      turn_rising_laws(lcs);
      Lcs named = with_names(lcs, random);
      const double there = longest(lcs);
      CHECK(longest(named) == there);
      Vector x = Vector::Zero(named.n());
      change_units(named, x, random, 30);
      CHECK(longest(named) == there);
      certified += there > 0;
    }
    CHECK(certified > 30);
  }

  TEST_CASE("masses in a row have the certificate by energy whether frictions are named or not") {
    std::mt19937 random(62);
    for (const int masses : {1, 3, 12, 40}) {
      const Lcs lcs = friction_chain(random, masses);
      const double there = longest(lcs), named = longest(with_names(lcs, random));
      CHECK(there > 0.1);
      CHECK((named == there || std::abs(named - there) <= 1e-12 * there));
    }
  }

  TEST_CASE("forces that only their sum determines are not certified under their names") {
    CHECK(longest(two_frictions(true)) == 0);
    CHECK(longest(two_frictions(false)) == 0);
    Lcs one = two_frictions(false);
    one.A(0, 1) = 0;  // the named one acts on nothing
    CHECK(longest(one) == 0);
  }

  TEST_CASE("theta below 1 weighs what a name stands for: names are not eliminated there") {
    std::mt19937 random(63);
    CHECK(longest(with_names(friction_chain(random, 3), random), 0.5) == 0);
  }
}
