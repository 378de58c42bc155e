#pragma once

#include <vector>

#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/polynomials/polynomial.hpp>

namespace perp {

/// A rational function of √h with rational coefficients, where h > 0 may be made as small as we
/// please:
///     √h^order (a_0 + a_1 √h + ...) / (1 + b_1 √h + ...),   a_0 ≠ 0, in lowest terms, or 0.
/// These numbers are an ordered field: a < b if that holds for all h small enough. What holds in it
/// for a step of a scheme holds for all short steps, so the limit h → 0 needs no small number to be
/// chosen. Nothing is rounded or left out. Of half powers 1/√h serves as a bound: it is beyond all
/// that stays finite, and below all that grows like 1/h.
class RationalFunction {
 public:
  RationalFunction() = default;
  RationalFunction(Rational value)
      : RationalFunction(0, std::move(value)) {}                      // NOLINT: implicit on purpose
  RationalFunction(int value) : RationalFunction(Rational(value)) {}  // NOLINT: implicit on purpose
  /// Exactly this double, which is finite.
  RationalFunction(double value)
      : RationalFunction(Rational(value)) {}    // NOLINT: implicit on purpose
  RationalFunction(int order, Rational value);  ///< value √h^order

  /// The power of √h that it goes with; 0 for the number 0.
  [[nodiscard]] int order() const { return order_; }
  /// The factor of √h^power in its series.
  [[nodiscard]] Rational coefficient(int power) const;
  /// The factor of √h^order; 0 for the number 0.
  [[nodiscard]] Rational leading() const { return is_zero() ? Rational() : numerator_.front(); }
  [[nodiscard]] bool is_zero() const { return numerator_.empty(); }
  /// -1, 0 or 1.
  [[nodiscard]] int sign() const { return is_zero() ? 0 : numerator_.front().sign(); }

  friend RationalFunction operator+(const RationalFunction& a, const RationalFunction& b);
  friend RationalFunction operator-(RationalFunction a);
  friend RationalFunction operator-(const RationalFunction& a, const RationalFunction& b) {
    return a + (-b);
  }
  friend RationalFunction operator*(const RationalFunction& a, const RationalFunction& b);
  friend RationalFunction operator/(const RationalFunction& a,
                                    const RationalFunction& b);  ///< b must not be 0
  RationalFunction& operator+=(const RationalFunction& b) { return *this = *this + b; }
  RationalFunction& operator-=(const RationalFunction& b) { return *this = *this - b; }
  RationalFunction& operator*=(const RationalFunction& b) { return *this = *this * b; }
  RationalFunction& operator/=(const RationalFunction& b) { return *this = *this / b; }

  friend bool operator==(const RationalFunction& a, const RationalFunction& b) {
    return compare(a, b) == 0;
  }
  friend bool operator<(const RationalFunction& a, const RationalFunction& b) {
    return compare(a, b) < 0;
  }
  friend bool operator>(const RationalFunction& a, const RationalFunction& b) {
    return compare(a, b) > 0;
  }
  friend bool operator<=(const RationalFunction& a, const RationalFunction& b) {
    return compare(a, b) <= 0;
  }
  friend bool operator>=(const RationalFunction& a, const RationalFunction& b) {
    return compare(a, b) >= 0;
  }

 private:
  static int compare(const RationalFunction& a, const RationalFunction& b);
  /// √h^order numerator / denominator in lowest terms.
  static RationalFunction reduced(int order, Polynomial numerator, Polynomial denominator);

  int order_ = 0;
  Polynomial numerator_, denominator_{Rational(1)};
};

template <>
struct Arithmetic<RationalFunction> {
  static constexpr bool exact = true;
  static RationalFunction difference(const RationalFunction& a, const RationalFunction& b) {
    return a - b;
  }
  static bool no_pivot(const RationalFunction& value, const RationalFunction&) {
    return value.is_zero();
  }
  static bool vanishes(const RationalFunction& value, const RationalFunction&) {
    return value.is_zero();
  }
  static RationalFunction size(const RationalFunction& value) {
    return value.sign() < 0 ? -value : value;
  }
  /// Divides by the leading term of the largest entry.
  static void normalise(std::vector<RationalFunction>& direction);
};

}  // namespace perp
