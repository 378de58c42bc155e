#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include <perp/analysis/hybrid/roots/block_roots.hpp>
#include <perp/analysis/hybrid/roots/real_roots.hpp>

namespace {

using namespace perp;

/// The elementary symmetric functions of the unknowns, less those of `numbers`: their roots are the
/// permutations of the numbers.
std::vector<int> symmetric_rows(Tape& tape, const std::vector<double>& numbers) {
  const std::size_t k = numbers.size();
  std::vector<int> sums(k + 1, tape.constant(0));
  std::vector<double> wanted(k + 1, 0);
  sums[0] = tape.constant(1);
  wanted[0] = 1;
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t degree = i + 1; degree > 0; --degree) {
      const int u = tape.input(static_cast<int>(i));
      sums[degree] = tape.apply(Operation::add, sums[degree],
                                tape.apply(Operation::multiply, u, sums[degree - 1]));
      wanted[degree] += numbers[i] * wanted[degree - 1];
    }
  std::vector<int> rows;
  for (std::size_t degree = 1; degree <= k; ++degree)
    rows.push_back(tape.apply(Operation::subtract, sums[degree], tape.constant(wanted[degree])));
  return rows;
}

TEST_CASE("k unknowns that multiply each other: all k! roots, each to rounding, and no others") {
  for (const std::vector<double>& numbers :
       {std::vector<double>{2, -5}, {1, 2, 3}, {-1e-3, 4, 7.5}, {1, 2, 3, -4}}) {
    Tape tape;
    const std::vector<int> rows = symmetric_rows(tape, numbers);
    std::vector<int> unknowns(numbers.size());
    std::iota(unknowns.begin(), unknowns.end(), 0);
    const BlockRoots found =
        block_roots(tape, rows, unknowns, std::vector<RunningError>(numbers.size()));
    CHECK(found.is_complete);
    std::vector<double> wanted = numbers;
    std::sort(wanted.begin(), wanted.end());
    std::size_t permutations = 0;
    do {
      ++permutations;
      CHECK(std::count_if(found.list.begin(), found.list.end(), [&](const auto& root) {
              for (std::size_t j = 0; j < root.size(); ++j)
                if (std::abs(root[j] - wanted[j]) > 1e-11 * std::abs(wanted[j])) return false;
              return true;
            }) == 1);
    } while (std::next_permutation(wanted.begin(), wanted.end()));
    CHECK(found.list.size() == permutations);
  }
}

TEST_CASE("roots that are not real are none, and roots that errors may make real leave the list open") {
  // u + v = 2, u v = c
  const auto roots_for = [](double c, double error) {
    Tape tape;
    const int u = tape.input(0), v = tape.input(1);
    const int sum = tape.apply(Operation::subtract, tape.apply(Operation::add, u, v),
                               tape.constant(2));
    const int product =
        tape.apply(Operation::subtract, tape.apply(Operation::multiply, u, v), tape.input(2));
    return block_roots(tape, {sum, product}, {0, 1},
                       {RunningError(), RunningError(), RunningError(c, error)});
  };
  CHECK(roots_for(2, 0).is_complete);
  CHECK(roots_for(2, 0).list.empty());
  CHECK(roots_for(2, 0.5).is_complete);
  CHECK(roots_for(0, 0.5).list.size() == 2);
  CHECK(roots_for(0, 0.5).is_complete);
  CHECK_FALSE(roots_for(1.25, 0.5).is_complete);
  CHECK_FALSE(roots_for(0.75, 0.5).is_complete);
}

TEST_CASE("what eliminates nothing is not called complete") {
  Tape tape;  // (u - 1) v = 0 twice: a continuum
  const int row = tape.apply(Operation::multiply, tape.input(1),
                             tape.apply(Operation::subtract, tape.input(0), tape.constant(1)));
  const int same = tape.apply(Operation::multiply, tape.constant(2), row);
  const BlockRoots found =
      block_roots(tape, {row, same}, {0, 1}, std::vector<RunningError>(2));
  CHECK(found.list.empty());
  CHECK_FALSE(found.is_complete);
}

TEST_CASE("real roots of polynomials in rational numbers: each once, whatever its multiplicity") {
  // (x - 1)^2 (x + 3) (x^2 + 1)
  const RationalPolynomial p{3, -5, 4, -4, 1, 1};
  const std::vector<Rational> roots = real_roots(p);
  REQUIRE(roots.size() == 2);
  CHECK(to_double(roots[0]) == -3);
  CHECK(to_double(roots[1]) == 1);
  CHECK(real_roots({1, 0, 1}).empty());
  CHECK(real_roots({}).empty());
  const std::vector<Rational> far = real_roots({-2, 0, Rational(0x1p-100)});
  REQUIRE(far.size() == 2);
  CHECK(to_double(far[1]) == doctest::Approx(std::sqrt(2) * 0x1p50).epsilon(1e-15));
}

}  // namespace
