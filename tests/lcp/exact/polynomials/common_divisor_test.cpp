#include <doctest/doctest.h>
#include <cstddef>
#include <random>
#include <utility>

#include <perp/lcp/exact/polynomials/common_divisor.hpp>

using perp::Polynomial;
using perp::Rational;

namespace {

Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (std::size_t k = 0; k < a.size(); ++k) perp::add(result, b, k, a[k]);
  return result;
}

/// With doubles of up to `bits` bits as factors, the first and the last of which are not 0.
Polynomial random_polynomial(std::size_t degree, int bits, std::mt19937_64& random) {
  Polynomial result;
  for (std::size_t k = 0; k <= degree; ++k) {
    const auto number = static_cast<long>(random() >> (64 - bits)) * 2 + 1;
    result.push_back(ldexp(Rational(random() % 2 == 0 ? number : -number), -static_cast<long>(random() % 60)));
    if (k > 0 && k < degree && random() % 4 == 0) result.back() = 0;
  }
  return result;
}

/// The number of factors of the last rest of Euclid's algorithm that is not 0.
std::size_t size_by_euclid(Polynomial a, Polynomial b) {
  while (!b.empty()) {
    perp::divide(a, b);
    std::swap(a, b);
  }
  return a.size();
}

/// What is left of a behind its division.
Polynomial rest(Polynomial a, const Polynomial& b) {
  perp::divide(a, b);
  return a;
}

}  // namespace

TEST_SUITE("lcp/common_divisor") {
  TEST_CASE("it divides both polynomials and has the degree of Euclid's") {
    std::mt19937_64 random(3);
    for (int k = 0; k < 300; ++k) {
      const int bits = 3 + static_cast<int>(random() % 50);
      const Polynomial common = random_polynomial(random() % 4, bits, random);
      const Polynomial a = product(common, random_polynomial(1 + random() % 4, bits, random));
      const Polynomial b = product(common, random_polynomial(1 + random() % 4, bits, random));
      const Polynomial divisor = perp::common_divisor(a, b);
      CHECK(divisor.size() == size_by_euclid(a, b));
      CHECK(rest(a, divisor).empty());
      CHECK(rest(b, divisor).empty());
      Polynomial primitive = divisor;
      make_primitive(primitive);
      CHECK(primitive == divisor);
    }
  }

  TEST_CASE("factors that a prime divides, and images of a higher degree, mislead it not") {
    // Modulo 2^31 - 1, the first prime, x - 1 divides x - p - 1, and p x - 1 has no last factor.
    const Rational p(2147483647L);
    const Polynomial a{Rational(-1), Rational(1)}, shifted{Rational(-1) - p, Rational(1)}, scaled{Rational(-1), p};
    const Polynomial other{Rational(5), Rational(3)};
    CHECK(perp::common_divisor(product(a, other), shifted) == Polynomial{Rational(1)});
    CHECK(perp::common_divisor(product(a, other), product(shifted, other)) == other);
    CHECK(perp::common_divisor(product(a, scaled), product(other, scaled)) == scaled);
  }

  TEST_CASE("factors of thousands of bits are found, and those of more than all primes hold") {
    for (const long bits : {900L, 3000L, 12000L}) {
      const Rational large = ldexp(Rational(3), bits) + 1;
      const Polynomial common{large, Rational(-7), large - 2};
      const Polynomial a = product(common, {Rational(1), large}), b = product(common, {large, Rational(2)});
      const Polynomial divisor = perp::common_divisor(a, b);
      CHECK(divisor.size() == 3);
      CHECK(rest(common, divisor).empty());
    }
  }
}
