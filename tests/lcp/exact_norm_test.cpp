#include <doctest/doctest.h>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

#include <perp/lcp/exact_norm.hpp>
#include <perp/lcp/least_norm.hpp>

#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

namespace {

double value(const std::string& fraction) {
  return static_cast<double>(boost::multiprecision::cpp_rational(fraction));
}

}  // namespace

TEST_SUITE("lcp/exact_norm") {
  TEST_CASE("a segment, a wedge, a line: fractions by hand") {
    const WeightedNorm plain{{0, 1}, {1, 1}, {0, 0}};
    CHECK(exact_least_square({{{{"1", "0"}, {"0", "1"}}, {}, {}}}, plain) == "1/2");
    CHECK(exact_least_square({{{{"1/3", "0"}}, {{-1, 2}}, {}}}, plain) == "4/45");
    CHECK(exact_least_square({{{{"1", "2"}}, {}, {{0, 1}}}}, plain) == "1");
    CHECK(exact_least_square({{{{"1", "2"}}, {}, {}}, {{{"1", "1/2"}}, {}, {}}}, plain) == "5/4");
    CHECK(exact_least_square({{{{"1", "2"}}, {}, {}}}, {{1}, {0.25}, {-1}}) == "9/4");
    CHECK(exact_least_square({}, plain).empty());
    CHECK(exact_least_square({{{{"1", "2"}}, {{0x1p54, 1}}, {}}}, plain).empty());
  }

  TEST_CASE("random polyhedra: the same value as in floating point, to rounding") {
    test::RandomProblems random(51);
    for (int k = 0; k < 400; ++k) {
      const int n = random.integer(1, 4);
      ExactGenerators piece;
      RealMatrix columns[3];
      for (int kind = 0; kind < 3; ++kind) {
        const int number = kind == 0 ? random.integer(1, 5) : random.integer(0, 2);
        columns[kind].resize(n, number);
        for (int j = 0; j < number; ++j) {
          std::vector<double> direction;
          std::vector<std::string> vertex;
          for (int i = 0; i < n; ++i) {
            const int entry = random.integer(-4, 4);
            columns[kind](i, j) = entry;
            direction.push_back(entry);
            vertex.push_back(std::to_string(entry));
          }
          if (kind == 0) piece.vertices.push_back(vertex);
          if (kind == 1) piece.rays.push_back(direction);
          if (kind == 2) piece.lines.push_back(direction);
        }
      }
      WeightedNorm norm;
      RealMatrix W = RealMatrix::Zero(n, n);
      RealVector center = RealVector::Zero(n);
      for (int i = 0; i < n; ++i) {
        const int root = random.integer(0, 3);  // weight 0: the coordinate does not count
        const int reference = random.integer(-6, 6);
        norm.indices.push_back(i);
        norm.weights.push_back(root * root);
        norm.center.push_back(reference);
        W(i, i) = root;
        center[i] = reference;
      }
      const LeastNorm nearest = least_norm(columns[0], columns[1], columns[2], W, center);
      REQUIRE(nearest.converged);
      const auto square = static_cast<double>(nearest.norm * nearest.norm);
      CHECK(std::abs(value(exact_least_square({piece}, norm)) - square) <= 1e-12 * (1 + square));
    }
  }
}
