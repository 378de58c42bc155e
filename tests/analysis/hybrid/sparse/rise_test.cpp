#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <perp/analysis/hybrid/sparse/rise.hpp>

namespace {

std::vector<double> with_zeros(const std::vector<double>& zeros, double factor) {
  std::vector<double> c{factor};
  for (const double zero : zeros) {
    c.insert(c.begin(), 0);
    for (std::size_t k = 0; k + 1 < c.size(); ++k) c[k] -= zero * c[k + 1];
  }
  return c;
}

TEST_CASE("the first rise is the first simple zero from below, whatever lies behind it") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(0.01, 1);
  for (int round = 0; round < 500; ++round) {
    std::vector<double> zeros;
    for (int k = 0; k < 1 + round % 5; ++k) zeros.push_back(place(random));
    std::sort(zeros.begin(), zeros.end());
    bool are_apart = true;
    for (std::size_t k = 1; k < zeros.size(); ++k) are_apart = are_apart && zeros[k] - zeros[k - 1] > 0.02;
    if (!are_apart) continue;
    // Negative at 0.
    const std::vector<double> c = with_zeros(zeros, zeros.size() % 2 == 1 ? 1 : -1);
    REQUIRE(c[0] < 0);
    const auto found = perp::first_rise(c.data(), static_cast<int>(c.size()) - 1, 1.0);
    REQUIRE(found);
    CHECK(*found == doctest::Approx(zeros[0]).epsilon(1e-9));
    CHECK_FALSE(perp::first_rise(c.data(), static_cast<int>(c.size()) - 1, 0.99 * zeros[0]));
  }
}

TEST_CASE("a polynomial that touches 0 from below, or falls from it, does not rise") {
  const std::vector<double> touches = with_zeros({0.5, 0.5}, -1), falls{0, -1, 0.5};
  const auto touch = perp::first_rise(touches.data(), 2, 1.0);
  // At the double zero itself rounding may tell otherwise.
  if (touch) CHECK(std::abs(*touch - 0.5) < 1e-7);
  CHECK_FALSE(perp::first_rise(falls.data(), 2, 1.0));
  const auto later = perp::first_rise(falls.data(), 2, 3.0);
  REQUIRE(later);
  CHECK(*later == doctest::Approx(2).epsilon(1e-14));
}

}  // namespace
