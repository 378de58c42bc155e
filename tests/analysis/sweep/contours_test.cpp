#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <perp/analysis/sweep/contours.hpp>

using namespace perp;

namespace {

double length_of(const std::vector<std::array<double, 4>>& pieces) {
  double sum = 0;
  for (const auto& piece : pieces) sum += std::hypot(piece[2] - piece[0], piece[3] - piece[1]);
  return sum;
}

/// f at the points of a grid of count × count over [-a, a]².
template <class F>
std::vector<std::array<double, 4>> of_function(int count, double a, double level, const F& f) {
  std::vector<double> x, values;
  for (int k = 0; k < count; ++k) x.push_back(a * (2.0 * k / (count - 1) - 1));
  for (const double at : x)
    for (const double up : x) values.push_back(f(at, up));
  return contour(x, x, values, level);
}

}  // namespace

TEST_SUITE("analysis/sweep") {
  TEST_CASE("contours of a plane are exact, of a circle of second order, and scale with their units to the bit") {
    const auto plane = of_function(7, 1, 0.1, [](double x, double y) { return x + 2 * y; });
    CHECK(length_of(plane) == doctest::Approx(std::sqrt(5.0)).epsilon(1e-14));
    for (const auto& piece : plane) {
      CHECK(piece[0] + 2 * piece[1] == doctest::Approx(0.1).epsilon(1e-13));
      CHECK(piece[2] + 2 * piece[3] == doctest::Approx(0.1).epsilon(1e-13));
    }
    const auto circle = [](double x, double y) { return x * x + y * y; };
    const double coarse = 2 * M_PI - length_of(of_function(20, 2, 1, circle));
    const double fine = 2 * M_PI - length_of(of_function(39, 2, 1, circle));
    CHECK(std::abs(fine) < 0.35 * std::abs(coarse));
    const auto large = of_function(20, 2 * 0x1p30, 0x1p60, circle), small = of_function(20, 2, 1, circle);
    REQUIRE(large.size() == small.size());
    for (std::size_t k = 0; k < small.size(); ++k)
      for (std::size_t j = 0; j < 4; ++j) CHECK(large[k][j] == 0x1p30 * small[k][j]);
  }

  TEST_CASE("in a saddle's cell pieces never cross, and cells without a number have none") {
    for (const double level : {-0.2, 0.2}) {
      const auto pieces = contour({0, 1}, {0, 1}, {1, -1, -1, 1}, level);
      REQUIRE(pieces.size() == 2);
      for (const auto& piece : pieces)  // both ends in one half of the cell, on the side of the corner that is cut off
        CHECK((level > 0 ? (piece[0] + piece[1] - 1) * (piece[2] + piece[3] - 1) > 0 : (piece[0] - piece[1]) * (piece[2] - piece[3]) > 0));
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    CHECK(contour({0, 1, 2}, {0, 1}, {none, 0, 1, 1, 0, 0}, 0.5).size() == 1);
    CHECK(contour({0, 1}, {0, 1}, {none, 0, 1, 1}, 0.5).empty());
    CHECK(contour({0}, {0, 1}, {0, 1}, 0.5).empty());
  }

  TEST_CASE("levels are round numbers within the values, four to nine of them, whatever the unit") {
    for (const double unit : {1e-30, 1.0, 3e12})
      for (double high = 1; high < 10; high += 0.37) {
        const ContourLevels levels = contour_levels(-0.3 * unit, high * unit);
        CHECK(levels.values.size() >= 3);
        CHECK(levels.values.size() <= 9);
        for (const double level : levels.values) CHECK((level > -0.3 * unit && level < high * unit));
      }
    CHECK(contour_levels(0, 1).step == doctest::Approx(0.2));
    CHECK(contour_levels(2, 2).values.empty());
  }

  TEST_CASE("values that differ by rounding alone have few levels, each of them once and between the values") {
    for (const double low : {1.0, -1.0, 0.3, 7e99, -2e-300})
      for (const int ulps : {1, 2, 3, 7, 40, 1000}) {
        const double high = low + ulps * (std::nextafter(low, 1e300) - low);
        const auto levels = contour_levels(low, high).values;
        CHECK(levels.size() <= 9);
        CHECK(std::ranges::adjacent_find(levels, std::greater_equal<>()) == levels.end());
        for (const double level : levels) CHECK((level > low && level < high));
      }
    CHECK(contour_levels(0, std::numeric_limits<double>::denorm_min()).values.empty());
  }
}
