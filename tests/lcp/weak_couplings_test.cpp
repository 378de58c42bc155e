#include <doctest/doctest.h>
#include <cmath>

#include <perp/lcp/enumeration/enumerate.hpp>

#include <perp/tests/lcp/compare_sets.hpp>
#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

TEST_SUITE("lcp/enumerate") {
  TEST_CASE("weak couplings along a chain hide no solution, in any units") {
    // Copies of a step with two solutions, each copy driven a little by the one before: 2^copies.
    test::RandomProblems random(41);
    const Vector near_kink{{0.01 - 0.1, 0.99, 1}};
    for (const double coupling : {1e-3, 1e-6, 0.1})
      for (const int copies : {2, 3, 4, 5}) {
        Mlcp problem = random.dense(3 * copies, 3 * copies, 0, 0);
        for (int k = 0; k < copies; ++k) {
          const int at = 3 * k;
          problem.M11.block(at, at, 3, 3) << 1, 0, 0.1, 0, 1, -0.05, 1, -1, 0;
          problem.M12.block(at, at, 3, 3) << 0, 0, 0, 0, 0, 0, 1, -1, 0;
          problem.M21.block(at, at, 3, 3) << 2, 0, 0, 1, 0, 0, 0, 0, 0;
          problem.M22.block(at, at, 3, 3) << 1, 0, 0, 0, 0, 1, 0, -1, 0;
          problem.q1.segment(at, 3) = near_kink;
          problem.q2[at + 2] = 2;
          if (k > 0) problem.M11(at, at - 3) = coupling;
        }
        if (copies % 2 == 1) random.change_units(problem, 20);
        const SolutionSet set = enumerate(problem);
        CAPTURE(coupling);
        CHECK(set.complete);
        REQUIRE(set.blocks.size() == 1);
        CHECK(set.blocks[0].pieces.size() == 1u << copies);
        if (copies < 5)
          CHECK(test::difference(set, enumerate_exact(problem), test::units(problem), 1e-9) == "");
      }
  }

  TEST_CASE("a q that rounding left of zero hides no solution") {
    test::RandomProblems random(43);
    for (int k = 0; k < 300; ++k) {
      const int m = 2 + k % 13;
      // diagonally dominant: exactly one solution
      Mlcp problem = random.dense(0, m, 1, 0.6);
      problem.M22 += 2 * m * Matrix::Identity(m, m);
      const int data = random.integer(0, m - 1);
      for (int i = 0; i < m; ++i) {
        problem.q2[i] = random.integer(1, 9) * (random.chance(0.5) ? 1 : -1);
        if (i != data && random.chance(0.9)) problem.q2[i] *= std::ldexp(1.0, -random.integer(52, 58));
      }
      const SolutionSet set = enumerate(problem);
      CAPTURE(k);
      CHECK(set.complete);
      CHECK(count(set) == 1);
    }
  }
}
