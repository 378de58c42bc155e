#include <doctest/doctest.h>
#include <cmath>

#include <perp/lcp/exact/exact_norm.hpp>

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

  TEST_CASE("random polyhedra: the point is one of them, and no generator leads downhill from it") {
    test::RandomProblems random(51);
    for (int k = 0; k < 400; ++k) {
      const int n = random.integer(1, 4);
      Generators<Rational> piece;
      const auto add = [&](Points& list, int number) {
        for (int j = 0; j < number; ++j) {
          list.emplace_back();
          for (int i = 0; i < n; ++i) list.back().emplace_back(random.integer(-4, 4));
        }
      };
      add(piece.vertices, random.integer(1, 5));
      add(piece.rays, random.integer(0, 2));
      add(piece.lines, random.integer(0, 2));
      ExactNorm norm;
      for (int i = 0; i < n; ++i) {
        norm.center.emplace_back(random.integer(-6, 6));
        norm.W.emplace_back(static_cast<std::size_t>(n), Rational(0));
        norm.W.back()[static_cast<std::size_t>(i)] = random.integer(0, 3);  // 0: does not count
      }
      norm.weights.assign(static_cast<std::size_t>(n), Rational(1));
      const ExactNearest nearest = exact_nearest(piece, norm);
      // With g = Wᵀ W (y - c): g · (v - y) >= 0, g · r >= 0, g · l = 0, and y · g is reached by a vertex
      // (the problem is convex: this is sufficient).
      CAPTURE(k);
      std::vector<Rational> gradient;
      Rational square = 0, of_point = 0;
      for (std::size_t i = 0; i < norm.center.size(); ++i) {
        const Rational part = norm.W[i][i] * (nearest.y[i] - norm.center[i]);
        square += part * part;
        gradient.push_back(norm.W[i][i] * part);
        of_point += gradient.back() * nearest.y[i];
      }
      CHECK(square == nearest.square);
      const auto slope = [&](const std::vector<Rational>& generator) {
        Rational sum = 0;
        for (std::size_t i = 0; i < generator.size(); ++i) sum += gradient[i] * generator[i];
        return sum;
      };
      bool reached = false;
      for (const auto& vertex : piece.vertices) {
        CHECK(slope(vertex) >= of_point);
        reached = reached || slope(vertex) == of_point;
      }
      for (const auto& ray : piece.rays) CHECK(slope(ray) >= 0);
      for (const auto& line : piece.lines) CHECK(slope(line) == 0);
      CHECK(reached);
    }
  }
}
