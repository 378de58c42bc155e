#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/lcp/exact/polynomials/positive_roots.hpp>

using namespace perp;

namespace {

/// The polynomial with these roots and this one factor.
Polynomial with_roots(const std::vector<double>& roots, double factor) {
  Polynomial p{Rational(factor)};
  for (const double root : roots) {
    Polynomial next(p.size() + 1);
    for (std::size_t k = 0; k < p.size(); ++k) {
      next[k + 1] += p[k];
      next[k] -= Rational(root) * p[k];
    }
    p = next;
  }
  return p;
}

}  // namespace

TEST_SUITE("lcp/positive_roots") {
  TEST_CASE("the smallest positive root is found to the bit, with any multiplicity and at any size") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> number(-2, 2);
    std::uniform_int_distribution<int> power(-300, 300), count(1, 5), times(1, 3);
    for (int trial = 0; trial < 200; ++trial) {
      std::vector<double> roots;
      double smallest = inf;
      for (int k = count(random); k > 0; --k) {
        const double root = std::ldexp(number(random), power(random));
        if (root > 0) smallest = std::min(smallest, root);
        for (int i = times(random); i > 0; --i) roots.push_back(root);
      }
      if (trial % 4 == 0) roots.push_back(0);
      const PositiveRoots found(with_roots(roots, number(random)));
      CAPTURE(trial);
      CHECK(found.smallest() == smallest);
      CHECK(found.has_root_to(inf) == std::isfinite(smallest));
      if (std::isinf(smallest)) continue;
      CHECK(found.has_root_to(smallest));
      CHECK_FALSE(found.has_root_to(std::nextafter(smallest, 0)));
    }
  }

  TEST_CASE("a root that is no double lies behind the double that is told") {
    const PositiveRoots found({Rational(-2), Rational(0), Rational(1)});  // x^2 = 2
    CHECK(found.smallest() == std::nextafter(std::sqrt(2.0), 0));
  }

  TEST_CASE("the polynomial 0 and constants have no roots to find") {
    CHECK(PositiveRoots({}).is_zero());
    CHECK(PositiveRoots({Rational(0), Rational(0)}).is_zero());
    CHECK(std::isinf(PositiveRoots({Rational(3)}).smallest()));
    CHECK(std::isinf(PositiveRoots({Rational(0), Rational(-3)}).smallest()));
  }
}
