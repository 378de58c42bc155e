// Elementary functions in double-word arithmetic, called by the functions of intervals.
#include <array>
#include <cmath>
#include <cstdint>

#include <perp/core/interval/elementary.hpp>

namespace perp::enclosure::elementary {
namespace {

/// What is cut off the series below, relative to their first term.
constexpr double truncation = 0x1p-111;

// Two roundings to nearest: |π/2 − high − low| ≤ ulp(low)/2, and likewise.
constexpr DoubleWord exact_half_pi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, 0x1p-107};
constexpr DoubleWord exact_ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1p-109};
constexpr DoubleWord exact_ln10{0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53, 0x1p-106};

/// Coefficients made by the arithmetic itself, which bounds their errors: none can be mistyped.
using Coefficients = std::array<DoubleWord, 28>;

Coefficients make_reciprocals(bool factorials) {
  Coefficients list;
  DoubleWord divisor(1);
  for (int k = 0; k < static_cast<int>(list.size()); ++k) {
    if (k > 0) divisor = factorials ? divisor * DoubleWord(k) : DoubleWord(k);
    list[static_cast<std::size_t>(k)] = DoubleWord(1) / divisor;
  }
  return list;
}

/// 1/k!
const DoubleWord& inverse_factorial(int k) {
  static const Coefficients list = make_reciprocals(true);
  return list[static_cast<std::size_t>(k)];
}

/// Σ_k c_k x^k by Horner's rule, k < count.
template <class Coefficient>
DoubleWord horner(const DoubleWord& x, int count, const Coefficient& coefficient) {
  DoubleWord sum = coefficient(count - 1);
  for (int k = count - 2; k >= 0; --k) sum = sum * x + coefficient(k);
  return sum;
}

/// 1/(2k + 1)
const DoubleWord& inverse_odd(int k) {
  static const Coefficients list = [] {
    Coefficients odd;
    for (int i = 0; i < static_cast<int>(odd.size()); ++i)
      odd[static_cast<std::size_t>(i)] = DoubleWord(1) / DoubleWord(2 * i + 1);
    return odd;
  }();
  return list[static_cast<std::size_t>(k)];
}

/// x Σ_k (±x²)^k / (2k + 1): atan for −, artanh for +. The rest of an alternating series is below
/// its first term, that of the other below it by 1/(1 − x²). With 21 terms: |x| ≤ 0.1716 leaves
/// 0.1716^42 / 43 / (1 − 0.03) < 2^−112 of x.
DoubleWord odd_series(const DoubleWord& x, double sign) {
  const DoubleWord square = scaled(x * x, sign);
  const DoubleWord sum = horner(square, 21, inverse_odd) * x;
  return widened(sum, truncation * std::abs(x.high));
}

/// atan x = 2 atan(x / (1 + √(1 + x²))), three times: x ≤ 1 becomes at most tan(π/32) < 0.1.
DoubleWord atan_by_halving(DoubleWord x) {
  for (int k = 0; k < 3; ++k) x = x / (DoubleWord(1) + sqrt(DoubleWord(1) + x * x));
  return scaled(odd_series(x, -1), 8);
}

/// atan x = atan c + atan((x − c)/(1 + x c)) with c = k/8 next to x ∈ [0, 1 + 2^−40]: the argument
/// left is at most 1/16.
DoubleWord atan_up_to_one(const DoubleWord& x) {
  static const std::array<DoubleWord, 9> at_eighths = [] {
    std::array<DoubleWord, 9> list;
    for (int k = 1; k <= 8; ++k)
      list[static_cast<std::size_t>(k)] = atan_by_halving(DoubleWord(k / 8.0));
    return list;
  }();
  const int k = std::min(8, static_cast<int>(std::floor(x.high * 8 + 0.5)));
  if (k <= 0) return odd_series(x, -1);
  const DoubleWord c(k / 8.0);
  return at_eighths[static_cast<std::size_t>(k)] +
         odd_series((x - c) / (DoubleWord(1) + x * c), -1);
}

// 2/π = Σ limb_i 2^(−32 (i + 1)), cut off.
constexpr std::array<std::uint32_t, 40> two_over_pi{
    0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
    0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484,
    0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B,
    0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20, 0x9AF4361D};

constexpr int window = 8;                               // limbs of 2/π that are used
using Product = std::array<std::uint32_t, window + 2>;  // least limb first

/// factor · (the window of 2/π from limb `first`)
Product window_product(std::uint64_t factor, int first) {
  const std::uint64_t part[2] = {factor & 0xFFFFFFFFU, factor >> 32U};
  Product product{};
  for (std::size_t j = 0; j < 2; ++j) {
    std::uint64_t carry = 0;
    for (int i = 0; i < window; ++i) {
      auto& place = product[static_cast<std::size_t>(i) + j];
      const std::uint64_t limb = two_over_pi[static_cast<std::size_t>(first + window - 1 - i)];
      carry += part[j] * limb + place;  // ≤ (2^32 − 1)² + 2 (2^32 − 1) < 2^64
      place = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    product[window + j] = static_cast<std::uint32_t>(carry);
  }
  return product;
}

bool bit(const Product& product, int k) {
  return (product[static_cast<std::size_t>(k / 32)] >> (static_cast<unsigned>(k) % 32U) & 1U) != 0;
}

/// (product mod 2^bits) 2^−bits as a number in [−1/2, 1/2): the complement where the half bit is
/// set.
DoubleWord signed_fraction(Product product, int bits) {
  const bool negative = bit(product, bits - 1);
  for (int k = 0; k < static_cast<int>(product.size()); ++k) {
    auto& limb = product[static_cast<std::size_t>(k)];
    if (negative) limb = ~limb;  // 2^bits − 1 − product: one unit less than the complement
    const int rest = bits - 32 * k;
    if (rest < 32)
      limb = rest <= 0 ? 0 : limb & ((std::uint32_t{1} << static_cast<unsigned>(rest)) - 1U);
  }
  DoubleWord sum;
  for (int k = static_cast<int>(product.size()) - 1; k >= 0; --k)
    sum = sum + DoubleWord(std::ldexp(product[static_cast<std::size_t>(k)], 32 * k - bits));
  if (!negative) return sum;
  return widened(-sum, std::ldexp(1.0, -bits));
}

}  // namespace

DoubleWord half_pi() { return exact_half_pi; }
DoubleWord ln10() { return exact_ln10; }

// x = k ln 2 + 16 s, |s| ≤ 0.0225: e^x = 2^k (e^s)^16. Of Σ s^i/i! 14 terms leave
// 0.0225^14/14! e^0.0225 < 2^−112.
Scaled exp(const DoubleWord& x) {
  const double k = std::floor(x.high / exact_ln2.high + 0.5);
  const DoubleWord s = scaled(x - DoubleWord(k) * exact_ln2, 1.0 / 16);
  DoubleWord power = widened(horner(s, 14, inverse_factorial), truncation);
  for (int i = 0; i < 4; ++i) power = power * power;
  return {power, static_cast<int>(k)};
}

// x = 2^e m, √½ ≤ m ≤ √2:  log x = e ln 2 + 2 artanh z, z = (m − 1)/(m + 1), |z| ≤ 0.1716.
// The two summands never cancel: |2 artanh z| ≤ ln(2)/2.
DoubleWord log(double x) {
  int e = 0;
  double m = std::frexp(x, &e);
  if (m < 0.70710678118654757) {
    m *= 2;
    --e;
  }
  const DoubleWord z = exact_sum(m, -1) / exact_sum(m, 1);
  const DoubleWord of_mantissa = scaled(odd_series(z, 1), 2);
  return e == 0 ? of_mantissa : DoubleWord(e) * exact_ln2 + of_mantissa;
}

// |x| = M 2^E with whole M < 2^53. y = |x| 2/π modulo 4: limbs of 2/π that contribute multiples of
// 4 are left out, those behind the window are worth less than M units of it: with s bits behind the
// point, y ∈ [Q, Q + M) 2^−s, s ≥ 32 · 8 − 33 = 223, so y is known to 2^−170; doubles stay away
// from multiples of π/2 by 2^−62.
QuarterTurns quarter_turns(double x) {
  if (std::abs(x) < 0.78) return {0, DoubleWord(x)};
  int exponent = 0;
  const auto whole = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(x), &exponent), 53));
  exponent -= 53;
  const int first = exponent < 2 ? 0 : (exponent - 2) / 32;
  const int bits = 32 * (first + window) - exponent;
  const Product product = window_product(whole, first);
  const int floor = (bit(product, bits) ? 1 : 0) + (bit(product, bits + 1) ? 2 : 0);
  const int nearest = floor + (bit(product, bits - 1) ? 1 : 0);
  const DoubleWord fraction = widened(signed_fraction(product, bits), std::ldexp(1.0, 53 - bits));
  const DoubleWord rest = fraction * exact_half_pi;
  if (x > 0) return {nearest % 4, rest};
  return {(4 - nearest % 4) % 4, -rest};
}

// x Σ (−x²)^k/(2k+1)!, alternating and falling: 13 terms leave 0.8^26/27! < 2^−101 of x, 14 terms
// 0.8^28/29! < 2^−111.
DoubleWord sin_near_zero(const DoubleWord& x) {
  const DoubleWord square = -(x * x);
  const DoubleWord sum = horner(square, 14, [](int k) {
    static const Coefficients odd = [] {
      Coefficients list;
      DoubleWord factorial(1);
      for (int i = 0; i < 15; ++i) {
        list[static_cast<std::size_t>(i)] = DoubleWord(1) / factorial;
        factorial = factorial * DoubleWord((2.0 * i + 2) * (2.0 * i + 3));
      }
      return list;
    }();
    return odd[static_cast<std::size_t>(k)];
  });
  return widened(sum * x, truncation * std::abs(x.high));
}

// Σ (−x²)^k/(2k)!: 14 terms leave 0.8^28/28! < 2^−106.
DoubleWord cos_near_zero(const DoubleWord& x) {
  const DoubleWord square = -(x * x);
  return widened(horner(square, 14, [](int k) { return inverse_factorial(2 * k); }), 0x1p-106);
}

// x Σ x^2k/(2k+1)!: 12 terms leave 0.4^24/25! / (1 − 0.001) < 2^−115 of x.
DoubleWord sinh_near_zero(const DoubleWord& x) {
  const DoubleWord sum = horner(x * x, 12, [](int k) { return inverse_factorial(2 * k + 1); });
  return widened(sum * x, truncation * std::abs(x.high));
}

// Beyond the diagonal the complement: atan(y/x) = π/2 − atan(x/y).
DoubleWord angle(const DoubleWord& y, const DoubleWord& x) {
  if (y.high <= x.high) return atan_up_to_one(y / x);
  return exact_half_pi - atan_up_to_one(x / y);
}

}  // namespace perp::enclosure::elementary
