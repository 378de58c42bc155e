// Where jumps by impulses of multipliers lead, continuous solutions start.
#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
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

  TEST_CASE("jumps are told by what E sees of them, where variables of a combination have impulses") {
    // d = x1 - x: d' = x, d - l = 0, l in sign(x): from d = 0 it stays, or jumps to -1 and 1
    const auto combined = [](double b) {
      return Lcs{.E = Matrix{{1, -1}, {0, 0}}, .A = Matrix{{0, 1}, {1, -1}}, .B = Matrix{{0}, {-1}}, .b = Vector{{b, 0}}, .C = Matrix{{0, 1}}, .laws = {sign()}};
    };
    const auto own = [](double b) {
      return Lcs{.E = Matrix{{1, 0}, {0, 0}}, .A = Matrix{{0, 1}, {1, 0}}, .B = Matrix{{0}, {-1}}, .b = Vector{{b, 0}}, .C = Matrix{{0, 1}}, .laws = {sign()}};
    };
    for (const double b : {0.0, -1.0, 1.0})
      for (const double d : {-2.0, -1.0, -0.5, 0.0, 1.0, 2.0}) {
        CAPTURE(b);
        CAPTURE(d);
        const ConsistentJumps found = consistent_jumps(combined(b), Vector{{d, 0}}, 0), same = consistent_jumps(own(b), Vector{{d, 0}}, 0);
        CHECK(found.status == same.status);
        REQUIRE(found.jumps.size() == same.jumps.size());
        for (std::size_t k = 0; k < found.jumps.size(); ++k) {
          CHECK(found.jumps[k].x().allFinite());
          CHECK(found.jumps[k].x()[0] - found.jumps[k].x()[1] == same.jumps[k].x()[0]);
          CHECK(found.jumps[k].amplitude == same.jumps[k].amplitude);
          CHECK(found.jumps[k].continuations.size() == same.jumps[k].continuations.size());
        }
      }
    CHECK(consistent_jumps(combined(0), Vector{{0, 0}}, 0).jumps.size() == 3);
  }

  TEST_CASE("the amplitude of a jump is the norm of all rows of E, dependent ones too") {
    const Lcs twice{.E = Matrix{{1, 0}, {1, 0}}, .A = Matrix{{0, 0}, {0, 1}}, .B = Matrix{{1}, {0}}, .C = Matrix{{1, 0}}, .q = Vector{{-1}}, .laws = {complementarity()}};
    const ConsistentJumps found = consistent_jumps(twice, Vector{{0, 0}}, 0);
    REQUIRE(found.jumps.size() == 1);
    CHECK(found.jumps[0].amplitude == std::sqrt(2.0));
  }

  TEST_CASE("of infinitely many jumps the smallest is that to the nearest point, at rest where the state is one") {
    // s' = z, 0 = l, l in dead_zone(s, -1, 1): all of [-1, 1]
    const Lcs zone{.E = Matrix{{1, 0}, {0, 0}}, .A = Matrix{{0, 1}, {0, 0}}, .B = Matrix{{0}, {1}}, .C = Matrix{{1, 0}}, .laws = {dead_zone(-1, 1)}};
    for (const double s : {-4.0, -1.0, 0.5, 0.75, 3.0}) {
      const ConsistentJumps found = consistent_jumps(zone, Vector{{s, 0}}, 0);
      CAPTURE(s);
      REQUIRE_FALSE(found.jumps.empty());
      CHECK(found.jumps[0].amplitude == std::max(0.0, std::abs(s) - 1));
      CHECK(found.starts_continuously() == (std::abs(s) <= 1));
      CHECK(found.jumps[0].x()[0] == std::clamp(s, -1.0, 1.0));
    }
    // x' = z alone: any x is reached, x itself is nearest
    const Lcs free{.E = Matrix{{1, 0}, {0, 0}}, .A = Matrix{{0, 1}, {0, 0}}, .B = Matrix(2, 0), .C = Matrix(0, 2)};
    for (const double x : {0.0, 1.0, 3.0}) {
      const ConsistentJumps found = consistent_jumps(free, Vector{{x, 0}}, 0);
      CHECK(found.has_continuum());
      CHECK(found.starts_continuously());
      CHECK(found.jumps[0].x()[0] == x);
    }
  }
}
