#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace perp {

/// A number with a bound of its own error for the inner loops of eliminations, in any precision
/// (`RunningError` is the same for tapes of doubles):
///     |value - exact| ≤ error
/// An entry is certainly 0 only where value and error are: where nothing was ever added, or exactly.
/// What overflows has an error that is not finite, and decides nothing.
template <class Real>
struct Bounded {
  Real value = 0;
  Real error = 0;

  constexpr Bounded() = default;
  constexpr Bounded(double exact) : value(exact) {}  // NOLINT: implicit on purpose
  constexpr Bounded(Real v, Real e) : value(v), error(e) {}
};

namespace bounded {

template <class Real>
inline constexpr Real unit = std::numeric_limits<Real>::epsilon() / 2;

/// The error rounded up: at most seven roundings led to it, and each may have lost what is below the
/// smallest number.
template <class Real>
Real up(Real error) {
  return error * (1 + 16 * unit<Real>)+8 * std::numeric_limits<Real>::denorm_min();
}

/// Has a number, as its last `bits` binary digits, zeros alone?
template <class Real>
bool ends_in_zeros(Real value, unsigned bits) {
  const auto narrow = static_cast<double>(value);
  const std::uint64_t last = (std::uint64_t{1} << bits) - 1;
  return static_cast<Real>(narrow) == value && (std::bit_cast<std::uint64_t>(narrow) & last) == 0;
}

/// Is the product of two exact numbers surely exact: by a power of two, or of two short mantissas?
template <class Real>
bool is_exact_product(Real a, Real b, Real product) {
  if (!std::isnormal(product)) return false;
  constexpr unsigned all = 52, half = 27;
  return (ends_in_zeros(a, half) && (ends_in_zeros(b, half) || ends_in_zeros(a, all))) ||
         ends_in_zeros(b, all);
}

/// Was nothing lost in a + b (Knuth)?
template <class Real>
bool is_exact_sum(Real a, Real b, Real sum) {
  const Real of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b) == 0;
}

}  // namespace bounded

template <class Real>
bool is_zero(const Bounded<Real>& a) {
  return a.value == 0 && a.error == 0;
}

/// 1, -1: the exact number has this sign. 0: it is 0 if the error is, else undecided.
template <class Real>
int decided_sign(const Bounded<Real>& a) {
  if (a.value > a.error) return 1;
  return -a.value > a.error ? -1 : 0;
}

/// Is it 0, above or below: is the sign known?
template <class Real>
bool is_decided(const Bounded<Real>& a) {
  return a.value > a.error || -a.value > a.error || is_zero(a);
}

template <class Real>
Bounded<Real> operator-(const Bounded<Real>& a) {
  return {-a.value, a.error};
}

template <class Real>
Bounded<Real> operator+(const Bounded<Real>& a, const Bounded<Real>& b) {
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  const Real sum = a.value + b.value;
  if (a.error == 0 && b.error == 0 && bounded::is_exact_sum(a.value, b.value, sum)) return {sum, 0};
  return {sum, bounded::up(a.error + b.error + bounded::unit<Real> * std::abs(sum))};
}

template <class Real>
Bounded<Real> operator-(const Bounded<Real>& a, const Bounded<Real>& b) {
  return a + -b;
}

template <class Real>
Bounded<Real> operator*(const Bounded<Real>& a, const Bounded<Real>& b) {
  if (is_zero(a) || is_zero(b)) return {};
  const Real product = a.value * b.value;
  if (a.error == 0 && b.error == 0 && bounded::is_exact_product(a.value, b.value, product))
    return {product, 0};
  return {product, bounded::up(std::abs(a.value) * b.error +
                               (std::abs(b.value) + b.error) * a.error +
                               bounded::unit<Real> * std::abs(product))};
}

/// |a/b - x/y| ≤ (e_a + |a/b| e_b) / (|b| - e_b)
template <class Real>
Bounded<Real> operator/(const Bounded<Real>& a, const Bounded<Real>& b) {
  const Real quotient = a.value / b.value, size = std::abs(quotient);
  const Real divisor = std::abs(b.value) - b.error;
  if (!(divisor > 0)) return {quotient, std::numeric_limits<Real>::infinity()};
  if (is_zero(a)) return {};
  if (a.error == 0 && b.error == 0 && bounded::is_exact_product(quotient, b.value, a.value) &&
      quotient * b.value == a.value)
    return {quotient, 0};
  const Real passed = (a.error + size * b.error) / (divisor * (1 - 2 * bounded::unit<Real>));
  return {quotient, bounded::up(passed + bounded::unit<Real> * size)};
}

namespace bounded {

/// a - f g of exact numbers, where that is exact too; else nothing happens.
template <class Real>
[[gnu::noinline]] bool subtract_exactly(Bounded<Real>& a, Real f, Real g) {
  const Real product = f * g, value = a.value - product;
  if (!is_exact_product(f, g, product) || !is_exact_sum(a.value, -product, value)) return false;
  a.value = value;
  return true;
}

}  // namespace bounded

/// a - f g in one go: the inner loop of every elimination.
template <class Real>
inline void subtract_product(Bounded<Real>& a, const Bounded<Real>& f, const Bounded<Real>& g) {
  if (is_zero(f) || is_zero(g)) return;
  if (a.error == 0 && f.error == 0 && g.error == 0 &&
      bounded::subtract_exactly(a, f.value, g.value))
    return;
  const Real product = f.value * g.value, value = a.value - product;
  const Real passed = std::abs(f.value) * g.error + (std::abs(g.value) + g.error) * f.error;
  a.error = bounded::up(a.error + passed +
                        bounded::unit<Real> * (std::abs(product) + std::abs(value)));
  a.value = value;
}

}  // namespace perp
