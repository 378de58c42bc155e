#pragma once

#include <array>
#include <vector>

#include <perp/lcp/exact/arithmetic.hpp>

namespace perp {

/// A number that depends on a step length h > 0 that may be made as small as we please:
///     h^order (c_0 + c_1 h + ... + c_7 h⁷ + ...),   c_0 ≠ 0, or 0.
/// These numbers are an ordered field: a < b if that holds for all h small enough. What holds in it
/// for a step of a scheme holds for all short steps, so the limit h → 0 needs no small number to be
/// chosen. Coefficients that are left by cancellation are 0 (see Arithmetic<long double>).
class Laurent {
 public:
  static constexpr int terms = 8;

  Laurent() = default;
  Laurent(long double value) : Laurent(0, value) {}  // NOLINT: implicit on purpose
  Laurent(int value) : Laurent(0, value) {}          // NOLINT: implicit on purpose
  Laurent(double value) : Laurent(0, value) {}       // NOLINT: implicit on purpose
  Laurent(int order, long double value);             ///< value h^order

  /// The power of h that it goes with; 0 for the number 0.
  [[nodiscard]] int order() const { return order_; }
  /// The factor of h^power.
  [[nodiscard]] long double coefficient(int power) const;
  [[nodiscard]] bool is_zero() const { return c_[0] == 0; }

  /// Coefficients by their absolute values: the size of the terms of a sum, power by power.
  [[nodiscard]] Laurent magnitude() const;

  friend Laurent operator+(const Laurent& a, const Laurent& b);
  friend Laurent operator-(const Laurent& a);
  friend Laurent operator-(const Laurent& a, const Laurent& b) { return a + (-b); }
  friend Laurent operator*(const Laurent& a, const Laurent& b);
  friend Laurent operator/(const Laurent& a, const Laurent& b);  ///< b must not be 0
  Laurent& operator+=(const Laurent& b) { return *this = *this + b; }
  Laurent& operator-=(const Laurent& b) { return *this = *this - b; }
  Laurent& operator*=(const Laurent& b) { return *this = *this * b; }
  Laurent& operator/=(const Laurent& b) { return *this = *this / b; }

  friend bool operator==(const Laurent& a, const Laurent& b) { return (a - b).is_zero(); }
  friend bool operator<(const Laurent& a, const Laurent& b) { return (a - b).c_[0] < 0; }
  friend bool operator>(const Laurent& a, const Laurent& b) { return b < a; }
  friend bool operator<=(const Laurent& a, const Laurent& b) { return !(b < a); }
  friend bool operator>=(const Laurent& a, const Laurent& b) { return !(a < b); }

 private:
  void normalise();

  int order_ = 0;
  std::array<long double, terms> c_{};
};

template <>
struct Arithmetic<Laurent> {
  static constexpr bool exact = false;
  static Laurent difference(const Laurent& a, const Laurent& b) { return a - b; }
  static bool no_pivot(const Laurent& value, const Laurent& size) {
    return is_small(value, size, 1e-12L);
  }
  static bool vanishes(const Laurent& value, const Laurent& size) {
    return is_small(value, size, static_cast<long double>(solution_tolerance));
  }
  static Laurent size(const Laurent& value) { return value.magnitude(); }
  /// Divides by the leading term of the largest entry.
  static void normalise(std::vector<Laurent>& direction);

 private:
  /// Is every coefficient 0 beside that of the size?
  static bool is_small(const Laurent& value, const Laurent& size, long double tol);
};

}  // namespace perp
