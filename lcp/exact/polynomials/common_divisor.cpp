#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <perp/lcp/exact/polynomials/common_divisor.hpp>

namespace perp {
namespace {

using Residue = std::uint64_t;        // below a prime of 31 bits: a product is one of 62
using Image = std::vector<Residue>;  // a polynomial modulo a prime, the last factor not 0

constexpr std::size_t most_primes = 256;  ///< for factors of 7,900 bits; Euclid's algorithm serves beyond

Residue power(Residue base, Residue exponent, Residue modulus) {
  Residue result = 1;
  for (; exponent > 0; exponent /= 2, base = base * base % modulus)
    if (exponent % 2 == 1) result = result * base % modulus;
  return result;
}

/// By Miller's test, with bases that are enough below 3,215,031,751.
bool is_prime(Residue number) {
  Residue odd = number - 1;
  int twos = 0;
  for (; odd % 2 == 0; odd /= 2) ++twos;
  return std::ranges::all_of(std::initializer_list<Residue>{2, 3, 5, 7}, [&](Residue base) {
    Residue value = power(base, odd, number);
    bool passes = value == 1;
    for (int k = 0; k < twos && !passes; ++k, value = value * value % number) passes = value == number - 1;
    return passes;
  });
}

/// The largest ones below 2^31.
const std::vector<Residue>& primes() {
  static const std::vector<Residue> list = [] {
    std::vector<Residue> found;
    for (Residue number = (Residue{1} << 31) - 1; found.size() < most_primes; number -= 2)
      if (is_prime(number)) found.push_back(number);
    return found;
  }();
  return list;
}

/// Of integer factors. Nothing where the prime divides the last one: the degree would fall.
std::optional<Image> image(const Polynomial& a, Residue prime) {
  Image result;
  for (const Rational& value : a) result.push_back(residue(value, prime));
  if (result.back() == 0) return std::nullopt;
  return result;
}

Residue inverse(Residue value, Residue prime) { return power(value, prime - 2, prime); }

/// a - quotient b, of a smaller degree than b; the last factor of b is 1.
void take_rest(Image& a, const Image& b, Residue prime) {
  while (a.size() >= b.size()) {
    const Residue factor = prime - a.back();
    const std::size_t shift = a.size() - b.size();
    for (std::size_t k = 0; k < b.size(); ++k) a[k + shift] = (a[k + shift] + factor * b[k]) % prime;
    while (!a.empty() && a.back() == 0) a.pop_back();
  }
}

/// With the last factor 1.
void make_monic(Image& a, Residue prime) {
  const Residue factor = inverse(a.back(), prime);
  for (Residue& value : a) value = value * factor % prime;
}

Image common_divisor(Image a, Image b, Residue prime) {
  while (!b.empty()) {
    make_monic(b, prime);
    take_rest(a, b, prime);
    std::swap(a, b);
  }
  make_monic(a, prime);
  return a;
}

/// Of the common divisor modulo a prime. Nothing where the prime divides the last factor of one of them.
std::optional<Image> common_image(const Polynomial& a, const Polynomial& b, Residue prime) {
  std::optional<Image> of_a = image(a, prime), of_b = image(b, prime);
  if (!of_a || !of_b) return std::nullopt;
  return common_divisor(std::move(*of_a), std::move(*of_b), prime);
}

/// An integer polynomial of which more and more images are known: its factors are the smallest ones that have them.
class Lifted {
 public:
  /// Is it what it was before this image? `last`: its last factor.
  bool add(const Image& monic, const Rational& last, Residue prime) {
    if (monic.size() != factors_.size()) {
      factors_.assign(monic.size(), Rational());
      product_ = 1;
    }
    const Residue scale = residue(last, prime), from = inverse(residue(product_, prime), prime);
    bool stays = true;
    for (std::size_t k = 0; k < monic.size(); ++k) {
      const Residue off = (monic[k] * scale + prime - residue(factors_[k], prime)) % prime * from % prime;
      if (off == 0) continue;
      stays = false;
      const auto nearest = static_cast<long>(off) - (2 * off > prime ? static_cast<long>(prime) : 0);
      factors_[k] += Rational(nearest) * product_;
    }
    product_ *= Rational(static_cast<long>(prime));
    return stays;
  }
  [[nodiscard]] const Polynomial& polynomial() const { return factors_; }

 private:
  Polynomial factors_;
  Rational product_ = 1;  // of the primes
};

bool divides_both(const Polynomial& divisor, Polynomial a, Polynomial b) {
  divide(a, divisor);
  if (!a.empty()) return false;
  divide(b, divisor);
  return b.empty();
}

/// By Euclid's algorithm; integers without a common divisor keep the numbers of its rests short.
Polynomial by_euclid(Polynomial a, Polynomial b) {
  while (!b.empty()) {
    if (b.size() == 1) return {Rational(1)};
    divide(a, b);
    make_primitive(a);
    std::swap(a, b);
  }
  return a;
}

}  // namespace

Polynomial common_divisor(Polynomial a, Polynomial b) {
  if (a.size() == 1 || b.size() == 1) return {Rational(1)};
  make_primitive(a);
  make_primitive(b);
  // The last factor of a divisor divides those of both: this times the image with the last factor 1 is one of integers.
  const Rational last = abs(a.back()) < abs(b.back()) ? a.back() : b.back();
  Lifted lifted;
  std::size_t lowest = std::min(a.size(), b.size());  // number of factors of a divisor, at most
  for (const Residue prime : primes()) {
    const std::optional<Image> divisor = common_image(a, b, prime);
    if (!divisor || divisor->size() > lowest) continue;
    if (divisor->size() == 1) return {Rational(1)};
    lowest = divisor->size();
    if (!lifted.add(*divisor, last, prime)) continue;
    Polynomial candidate = lifted.polynomial();
    make_primitive(candidate);
    if (divides_both(candidate, a, b)) return candidate;
  }
  return by_euclid(std::move(a), std::move(b));
}

}  // namespace perp
