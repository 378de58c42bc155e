#include <doctest/doctest.h>
#include <cmath>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/nearest/nearest_search.hpp>
#include <perp/tests/lcp/compare_pieces.hpp>
#include <perp/tests/lcp/reference_problems.hpp>
#include <perp/tests/lcp/transformed_problem.hpp>

using namespace perp;

namespace {

/// Calls `check` with every reference problem in several other words.
template <class Check>
void in_other_words(bool exact, const Check& check) {
  unsigned seed = 1;
  for (const auto& reference : test::reference_problems()) {
    CAPTURE(reference.name);
    for (int k = 0; k < 3; ++k)
      for (const auto& [change, other] : test::transformations(reference.problem, seed++, exact)) {
        const auto& shown_change = change;
        CAPTURE(shown_change);
        CAPTURE(seed);
        check(reference, other);
      }
  }
}

void check_class(const test::ReferenceProblem& reference, const SolutionSet& set) {
  CHECK(set.complete);
  CHECK(to_string(multiplicity(set)) == reference.class_of_all);
  CHECK(count(set) == reference.count_of_all);
  CHECK(to_string(multiplicity_of_u(set)) == reference.class_of_u);
  CHECK(count_of_u(set) == reference.count_of_u);
}

/// The size below which differences of a norm are nothing.
double size_of_norm(const test::ReferenceProblem& reference) {
  return std::sqrt(reference.minimal_squared_norm) +
         1e-2 * (reference.norm.W * reference.norm.center).norm();
}

void check_branch_and_bound(const test::ReferenceProblem& reference, const Mlcp& problem,
                            const Norm& norm) {
  const ProvedNearest found = find_nearest(problem, norm);
  if (!reference.solvable) {
    CHECK(found.status == Status::no_solution);
    return;
  }
  REQUIRE(found.status == Status::solved);
  const double wanted = std::sqrt(reference.minimal_squared_norm);
  const double size = size_of_norm(reference);
  CHECK(std::abs(found.norm - wanted) <= 1e-7 * size + 1e-12);
  CHECK(found.bound <= wanted + 1e-9 * size + 1e-12);
  CHECK(found.bound >= wanted - 1e-6 * size - 1e-9);
  CHECK(residual(problem, found.solution.u, found.solution.lambda) <= solution_tolerance);
}

}  // namespace

TEST_SUITE("lcp/reference_invariance") {
  TEST_CASE("every reference problem in other words has the same class and the same pieces") {
    in_other_words(true,
                   [](const test::ReferenceProblem& reference, const test::Transformed& other) {
                     const SolutionSet set = enumerate(other.problem);
                     check_class(reference, set);
                     CHECK(test::difference(reference, other.back(pieces(set, 1000)), 1e-9) == "");
                   });
  }

  TEST_CASE("in rational arithmetic the pieces are the same to the last digit") {
    in_other_words(true,
                   [](const test::ReferenceProblem& reference, const test::Transformed& other) {
                     if (reference.family == "larger") return;  // its place is the test above
                     const SolutionSet set = enumerate_exact(other.problem);
                     check_class(reference, set);
                     CHECK(test::difference(reference, other.back(pieces(set, 1000)), 1e-15) == "");
                   });
  }

  TEST_CASE("every reference problem in units that differ by 2^60 has the same class") {
    unsigned seed = 1;
    for (const auto& reference : test::reference_problems()) {
      CAPTURE(reference.name);
      test::RandomProblems random(seed++);
      check_class(reference,
                  enumerate(test::Transformed(reference.problem).change_units(random, 30).problem));
    }
  }

  TEST_CASE("the minimal norm of the enumerated set is the same in other words") {
    in_other_words(
        true, [](const test::ReferenceProblem& reference, const test::Transformed& other) {
          const Nearest found =
              nearest(other.problem, enumerate(other.problem), other.norm(reference.norm));
          REQUIRE((found.status == Status::solved) == reference.solvable);
          if (!reference.solvable) return;
          CHECK(std::abs(found.norm - std::sqrt(reference.minimal_squared_norm)) <=
                1e-9 * size_of_norm(reference) + 1e-12);
        });
  }

  TEST_CASE("the minimal norm of every reference problem by branch and bound, with its bound") {
    int solved = 0;
    for (const auto& reference : test::reference_problems()) {
      CAPTURE(reference.name);
      check_branch_and_bound(reference, reference.problem, reference.norm);
      solved += reference.solvable;
    }
    CHECK(solved > 40);
  }

  TEST_CASE("branch and bound finds and proves the same minimal norm in other words") {
    in_other_words(true,
                   [](const test::ReferenceProblem& reference, const test::Transformed& other) {
                     check_branch_and_bound(reference, other.problem, other.norm(reference.norm));
                   });
  }
}
