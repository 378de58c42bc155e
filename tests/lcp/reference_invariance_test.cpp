#include <doctest/doctest.h>
#include <cmath>

#include <perp/lcp/enumerate.hpp>
#include <perp/lcp/nearest_search.hpp>
#include <perp/tests/lcp/random_problems.hpp>
#include <perp/tests/lcp/reference_problems.hpp>

using namespace perp;

namespace {

void check_class(const test::ReferenceProblem& reference, const Mlcp& problem) {
  const SolutionSet set = enumerate(problem);
  CHECK(set.complete);
  CHECK(to_string(multiplicity(set)) == reference.class_of_all);
  CHECK(count(set) == reference.count_of_all);
  CHECK(to_string(multiplicity_of_u(set)) == reference.class_of_u);
  CHECK(count_of_u(set) == reference.count_of_u);
}

}  // namespace

TEST_SUITE("lcp/reference_invariance") {
  TEST_CASE("every reference problem in another order of equations, unknowns and laws") {
    unsigned seed = 1;
    for (const auto& reference : test::reference_problems()) {
      CAPTURE(reference.name);
      for (int k = 0; k < 3; ++k) {
        test::RandomProblems random(seed++);
        Mlcp problem = reference.problem;
        std::vector<int> u, laws;
        random.permute(problem, u, laws);
        check_class(reference, problem);
      }
    }
  }

  TEST_CASE("every reference problem in other units of u, lambda and w") {
    unsigned seed = 1;
    for (const auto& reference : test::reference_problems()) {
      CAPTURE(reference.name);
      for (const int bits : {4, 12, 30}) {
        test::RandomProblems random(seed++);
        Mlcp problem = reference.problem;
        random.change_units(problem, bits);
        check_class(reference, problem);
      }
    }
  }

  TEST_CASE("every reference problem with its equations multiplied by positive factors") {
    unsigned seed = 1;
    for (const auto& reference : test::reference_problems()) {
      CAPTURE(reference.name);
      test::RandomProblems random(seed++);
      Mlcp problem = reference.problem;
      for (int i = 0; i < problem.p(); ++i) {
        const double factor = std::exp(random.integer(-9, 9));
        problem.M11.row(i) *= factor;
        problem.M12.row(i) *= factor;
        problem.q1[i] *= factor;
      }
      check_class(reference, problem);
    }
  }

  TEST_CASE("the minimal norm of every reference problem by branch and bound, with its bound") {
    int solved = 0;
    for (const auto& reference : test::reference_problems()) {
      CAPTURE(reference.name);
      const ProvedNearest found = find_nearest(reference.problem, reference.norm);
      if (!reference.solvable) {
        CHECK(found.status == Status::no_solution);
        continue;
      }
      REQUIRE(found.status == Status::solved);
      const double wanted = std::sqrt(reference.minimal_squared_norm);
      const double size = wanted + 1e-2 * (reference.norm.W * reference.norm.center).norm();
      CHECK(std::abs(found.norm - wanted) <= 1e-7 * size + 1e-12);
      CHECK(found.bound <= wanted + 1e-9 * size + 1e-12);
      CHECK(found.bound >= wanted - 1e-6 * size - 1e-9);
      ++solved;
    }
    CHECK(solved > 40);
  }
}
