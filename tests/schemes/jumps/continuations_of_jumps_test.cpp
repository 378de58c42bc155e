// Where jumps by impulses of multipliers lead, continuous solutions start.
#include <doctest/doctest.h>
#include <algorithm>
#include <random>

#include <perp/schemes/jumps/consistent_jumps.hpp>

using namespace perp;

TEST_SUITE("schemes/jumps/continuations_of_jumps") {
  TEST_CASE("an impulse of a multiplier leads nowhere from which no continuous solution starts") {
    // ẋ = -1 - λ: from x = 1 short steps reach 0 by λ = 1/h - 1, but there neither x falls nor is λ = -1 one
    const Lcs falls{.A = Matrix{{0}}, .B = Matrix{{-1}}, .b = Vector{{-1}}, .C = Matrix{{1}}, .laws = {complementarity()}};
    const ConsistentJumps found = consistent_jumps(falls, Vector{{1}}, 0);
    CHECK(found.status == Status::solved);
    REQUIRE(found.jumps.size() == 1);
    CHECK(found.starts_continuously());
    CHECK(consistent_jumps(falls, Vector{{0}}, 0).status == Status::no_solution);
    // ẋ = -1 + λ is led to 0 and held there, ẋ = 1 + λ leaves it in the other mode
    for (const double rate : {-1.0, 1.0}) {
      const Lcs held{.A = Matrix{{0}}, .B = Matrix{{1}}, .b = Vector{{rate}}, .C = Matrix{{1}}, .laws = {complementarity()}};
      const ConsistentJumps led = consistent_jumps(held, Vector{{-1}}, 0);
      REQUIRE(led.jumps.size() == 1);
      CHECK(led.jumps[0].impulse_lambda == Vector{{1}});
      REQUIRE(led.jumps[0].continuations.size() == 1);
      CHECK(led.jumps[0].continuations[0].mode == consistent_jumps(held, Vector{{0}}, 0).jumps[0].continuations[0].mode);
      CHECK(led.jumps[0].continuations[0].lambda == Vector{{rate < 0 ? 1.0 : 0.0}});
    }
  }

  TEST_CASE("where a jump leads a continuous solution starts: random systems with impulses of multipliers") {
    std::mt19937 engine(11);
    std::uniform_int_distribution<int> entry(-2, 2);
    const auto random = [&](Eigen::Index rows, Eigen::Index cols) {
      return Matrix(Matrix::NullaryExpr(rows, cols, [&] { return static_cast<double>(entry(engine)); }));
    };
    int seen = 0, with_impulses = 0;
    for (int k = 0; k < 2000; ++k) {
      const Lcs system{.A = random(2, 2), .B = random(2, 2), .b = Vector(random(2, 1)), .C = random(2, 2),
                       .D = k % 3 == 0 ? random(2, 2) : Matrix(Matrix::Zero(2, 2)),
                       .laws = {complementarity(), k % 2 == 0 ? complementarity() : sign()}};
      const Vector x = random(2, 1);
      const ConsistentJumps found = consistent_jumps(system, x, 0);
      for (const ConsistentJump& jump : found.jumps) {
        if (jump.is_continuum || jump.amplitude == 0) continue;
        if (4 * jump.x() != (4 * jump.x()).array().round().matrix()) continue;  // no double
        CAPTURE(k);
        const ConsistentJumps there = consistent_jumps(system, jump.x(), 0);
        REQUIRE(there.starts_continuously());
        for (const ContinuousStart& start : jump.continuations)
          CHECK(std::ranges::any_of(there.jumps, [&](const ConsistentJump& from) {
            const auto is_same = [&](const ContinuousStart& other) { return other.mode == start.mode; };
            return from.amplitude == 0 && std::ranges::any_of(from.continuations, is_same);
          }));
        ++seen;
        with_impulses += !jump.impulse_lambda.isZero(0);
      }
    }
    CHECK(seen > 100);
    CHECK(with_impulses > 100);
  }
}
