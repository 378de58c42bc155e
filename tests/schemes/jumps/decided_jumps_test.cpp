#include <doctest/doctest.h>
#include <cmath>
#include <memory>

#include <perp/schemes/jumps/consistent_jumps.hpp>

using namespace perp;

namespace {

/// ẋ1 = -0.5 + 2 z, ẋ2 = -1.3 z + 0.76 x1 - x2, 0 = x2 + 0.5 x1 with x1 and x2 in units that are
/// 2^-k1 and 2^-k2 times as large.
Lcs held(int k1, int k2, double b1 = -0.5) {
  const double s1 = std::ldexp(1, k1), s2 = std::ldexp(1, k2);
  return {.E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
          .A = Matrix{{0, 0, 2 * s1}, {0.76 * s2 / s1, -1, -1.3 * s2}, {0.5 / s1, 1 / s2, 0}},
          .B = Matrix(3, 0),
          .b = Vector{{b1 * s1, 0, 0}},
          .C = Matrix(0, 3)};
}

}  // namespace

TEST_SUITE("schemes/decided_jumps") {
  TEST_CASE("an index-2 system goes on from every consistent state, however large, in all units") {
    for (const double size : {1e-20, 1e-9, 1.0, 6e11, 1e12, 1e13, 6.377339e13, 1e16, 1e20, 1e70})
      for (const auto& [k1, k2] :
           {std::pair{0, 0}, {40, 0}, {0, 40}, {-40, 0}, {0, -40}, {40, -40}}) {
        CAPTURE(size);
        const auto& shown_k1 = k1;
        CAPTURE(shown_k1);
        const auto& shown_k2 = k2;
        CAPTURE(shown_k2);
        const double x1 = std::ldexp(-size, k1), x2 = std::ldexp(0.5 * size, k2);
        const Lcs lcs = held(k1, k2);
        const ConsistentJumps found = consistent_jumps(lcs, Vector{{x1, x2, 0}}, 0);
        CHECK(found.status == Status::solved);
        REQUIRE(found.starts_continuously());
        CHECK(found.jumps.size() == 1);
        CHECK(found.jumps[0].x()[0] == x1);
        // 0.3 z = 0.76 x1 - x2 - 0.25
        CHECK(found.jumps[0].x()[2] == doctest::Approx((-0.76 * size - 0.5 * size - 0.25) / 0.3));
        // beside the constraint: along (2, -1.3) onto it, 2 σ 0.5 - 1.3 σ = -size / 8
        const ConsistentJumps off =
            consistent_jumps(lcs, Vector{{x1, std::ldexp(0.625 * size, k2), 0}}, 0);
        CHECK(off.status == Status::solved);
        REQUIRE(off.jumps.size() == 1);
        CHECK(off.jumps[0].amplitude > 0);
        CHECK(off.jumps[0].impulse_x[2] == doctest::Approx(size / 8 / 0.3));
      }
  }

  TEST_CASE(
      "constraints that exclude each other are, by one unit in the last place of a large state") {
    // ẋ = z, 0 = x - c, 0 = x - d with a further variable that no equation holds
    for (const double c : {1e-20, 1.0, 1e13, 1e20})
      for (const double d : {c, std::nextafter(c, inf)}) {
        const Lcs twice{.E = Matrix{{1, 0, 0}, {0, 0, 0}, {0, 0, 0}},
                        .A = Matrix{{0, 1, 1}, {1, 0, 0}, {1, 0, 0}},
                        .B = Matrix(3, 0),
                        .b = Vector{{0, -c, -d}},
                        .C = Matrix(0, 3)};
        CAPTURE(c);
        CHECK((consistent_jumps(twice, Vector{{c, 0, 0}}, 0).status == Status::no_solution) ==
              (c != d));
      }
  }

  TEST_CASE("none is proved for all that rounding leaves open of entries that depend on time") {
    Tape tape;  // t, and t cos t / cos t, which is rounded
    const int t = tape.input(0), cosine = tape.apply(Operation::cos, t);
    const int other =
        tape.apply(Operation::divide, tape.apply(Operation::multiply, t, cosine), cosine);
    const auto shared = std::make_shared<const Tape>(tape);
    const auto system = [&](const Signal& b) {  // 0 = x - t in two ways
      return Lcs{.E = Matrix{{1, 0, 0}, {0, 0, 0}, {0, 0, 0}},
                 .A = Matrix{{0, 1, 1}, {-1, 0, 0}, {-1, 0, 0}},
                 .B = Matrix(3, 0),
                 .b = b,
                 .C = Matrix(0, 3)};
    };
    int open = 0;
    for (int k = 1; k < 40; ++k) {
      const double now = k / 7.0;
      const Status status = consistent_jumps(system({Vector::Zero(3), {1, 2}, shared, {t, other}}),
                                             Vector{{now, 0, 0}}, now)
                                .status;
      CHECK(status != Status::no_solution);  // they are equal
      open += status == Status::not_enumerated ? 1 : 0;
    }
    CHECK(open > 0);
    const Signal apart(Vector{{0, 0, -5}}, {1}, shared, {t});
    CHECK(consistent_jumps(system(apart), Vector{{1, 0, 0}}, 1).status == Status::no_solution);
    // a function that is no expression has no bounds
    const Signal unknown(Vector{{0, 0, -5}}, {1}, [](double now, Vector& b) { b[1] = now; });
    CHECK(consistent_jumps(system(unknown), Vector{{1, 0, 0}}, 1).status == Status::not_enumerated);
  }
}
