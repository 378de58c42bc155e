#include <doctest/doctest.h>
#include <cmath>

#include <perp/lcp/exact/exact_norm.hpp>
#include <perp/lcp/nearest/least_norm.hpp>

#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

namespace {

using Points = std::vector<std::vector<Rational>>;

Rational square(const Generators<Rational>& piece, const std::vector<Rational>& weights,
                const std::vector<Rational>& center) {
  ExactNorm norm{Points(center.size(), std::vector<Rational>(center.size(), Rational(0))), weights,
                 center};
  for (std::size_t i = 0; i < center.size(); ++i) norm.W[i][i] = 1;
  return exact_nearest(piece, norm).square;
}

}  // namespace

TEST_SUITE("lcp/exact_norm") {
  TEST_CASE("a segment, a wedge, a line: fractions by hand") {
    const auto plain = [](const Generators<Rational>& piece) {
      return square(piece, {1, 1}, {0, 0});
    };
    CHECK(plain({{{1, 0}, {0, 1}}, {}, {}}) == Rational(1, 2));
    CHECK(plain({{{Rational(1, 3), 0}}, {{-1, 2}}, {}}) == Rational(4, 45));
    CHECK(plain({{{1, 2}}, {}, {{0, 1}}}) == 1);
    CHECK(square({{{1, 2}}, {}, {}}, {0, Rational(1, 4)}, {0, -1}) == Rational(9, 4));
  }

  TEST_CASE("the root of a square has no rounding but its own, at any size") {
    CHECK(root(Rational(9, 4)) == 1.5);
    CHECK(root(0) == 0);
    const Rational tiny = Rational(0x1p-600) * Rational(0x1p-600) * 2;
    CHECK(root(tiny) == std::sqrt(2.0) * 0x1p-600);
    CHECK(root(1 / tiny) == std::sqrt(0.5) * 0x1p600);
  }

  TEST_CASE("random polyhedra: the same value as in floating point, to rounding") {
    test::RandomProblems random(51);
    for (int k = 0; k < 400; ++k) {
      const int n = random.integer(1, 4);
      Generators<Rational> piece;
      RealMatrix columns[3];
      for (int kind = 0; kind < 3; ++kind) {
        const int number = kind == 0 ? random.integer(1, 5) : random.integer(0, 2);
        columns[kind].resize(n, number);
        for (int j = 0; j < number; ++j) {
          std::vector<Rational> generator;
          for (int i = 0; i < n; ++i) {
            const int entry = random.integer(-4, 4);
            columns[kind](i, j) = entry;
            generator.emplace_back(entry);
          }
          if (kind == 0) piece.vertices.push_back(generator);
          if (kind == 1) piece.rays.push_back(generator);
          if (kind == 2) piece.lines.push_back(generator);
        }
      }
      std::vector<Rational> weights, reference_point;
      RealMatrix W = RealMatrix::Zero(n, n);
      RealVector center = RealVector::Zero(n);
      for (int i = 0; i < n; ++i) {
        const int factor = random.integer(0, 3);  // weight 0: the coordinate does not count
        const int reference = random.integer(-6, 6);
        weights.emplace_back(factor * factor);
        reference_point.emplace_back(reference);
        W(i, i) = factor;
        center[i] = reference;
      }
      const LeastNorm nearest = least_norm(columns[0], columns[1], columns[2], W, center);
      REQUIRE(nearest.converged);
      const auto wanted = static_cast<double>(nearest.norm * nearest.norm);
      const double found = to_double(square(piece, weights, reference_point));
      CHECK(std::abs(found - wanted) <= 1e-12 * (1 + wanted));
    }
  }
}
