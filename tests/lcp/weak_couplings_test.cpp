#include <doctest/doctest.h>

#include <perp/lcp/enumerate.hpp>

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
}
