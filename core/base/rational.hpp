#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace perp {

/// Integers of any size. GMP's, whose header no other header needs: `place_` is one of its numbers.
class Integer {
 public:
  Integer() : Integer(0L) {}
  template <std::signed_integral Number>
  Integer(Number value) : Integer(static_cast<long>(value)) {}  // NOLINT: a number is one
  template <std::unsigned_integral Number>
  Integer(Number value) : Integer(static_cast<unsigned long>(value)) {}  // NOLINT
  Integer(long value);                                                   // NOLINT
  Integer(unsigned long value);                                          // NOLINT
  Integer(const Integer& other);
  Integer(Integer&& other) noexcept : Integer() { swap(other); }
  Integer& operator=(Integer other) noexcept {
    swap(other);
    return *this;
  }
  ~Integer();
  void swap(Integer& other) noexcept;

  Integer& operator+=(const Integer& other);
  Integer& operator*=(const Integer& other);
  friend bool operator==(const Integer& a, const Integer& b) { return compare(a, b) == 0; }
  friend std::strong_ordering operator<=>(const Integer& a, const Integer& b) {
    return compare(a, b) <=> 0;
  }
  /// Rounded towards 0.
  explicit operator double() const;
  /// All its digits.
  [[nodiscard]] std::string str() const;

 private:
  static int compare(const Integer& a, const Integer& b);

  alignas(void*) std::byte place_[2 * sizeof(void*)];
};

/// Rational numbers without rounding, in lowest terms. GMP's, as `Integer`. An operation that has
/// no value throws std::domain_error.
class Rational {
 public:
  Rational() : Rational(0L) {}
  template <std::signed_integral Number>
  Rational(Number value) : Rational(static_cast<long>(value)) {}  // NOLINT: a number is one
  Rational(long value);                                           // NOLINT
  Rational(long numerator, long denominator);
  /// Exactly this double, which is finite.
  Rational(double value);           // NOLINT
  Rational(long double) = delete;   // holds more than a double
  Rational(const Rational& other);
  Rational(Rational&& other) noexcept {
    std::memcpy(place_, other.place_, sizeof place_);
    std::memset(other.place_, 0, sizeof place_);
  }
  Rational& operator=(const Rational& other);
  Rational& operator=(Rational&& other) noexcept {
    std::byte mine[sizeof place_];
    std::memcpy(mine, place_, sizeof place_);
    std::memcpy(place_, other.place_, sizeof place_);
    std::memcpy(other.place_, mine, sizeof place_);
    return *this;
  }
  ~Rational();

  Rational& operator+=(const Rational& other);
  Rational& operator-=(const Rational& other);
  Rational& operator*=(const Rational& other);
  Rational& operator/=(const Rational& other);
  friend Rational operator+(Rational a, const Rational& b) { return std::move(a += b); }
  friend Rational operator-(Rational a, const Rational& b) { return std::move(a -= b); }
  friend Rational operator*(Rational a, const Rational& b) { return std::move(a *= b); }
  friend Rational operator/(Rational a, const Rational& b) { return std::move(a /= b); }
  friend Rational operator-(Rational a);
  friend Rational abs(Rational a);
  /// a 2^exponent.
  friend Rational ldexp(Rational a, long exponent);

  /// -1, 0 or 1.
  [[nodiscard]] int sign() const;
  friend bool operator==(const Rational& a, const Rational& b);
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
    return compare(a, b) <=> 0;
  }
  template <std::signed_integral Number>
  friend bool operator==(const Rational& a, Number b) {
    return b == 0 ? a.sign() == 0 : compare(a, static_cast<long>(b)) == 0;
  }
  template <std::signed_integral Number>
  friend std::strong_ordering operator<=>(const Rational& a, Number b) {
    return (b == 0 ? a.sign() : compare(a, static_cast<long>(b))) <=> 0;
  }
  /// Rounded towards 0.
  explicit operator double() const;
  /// "numerator/denominator", or an integer.
  [[nodiscard]] std::string str() const;

 private:
  friend double to_double(const Rational& value);
  friend long binary_size(const Rational& value);
  friend void make_primitive(std::vector<Rational>& direction);
  friend unsigned long residue(const Rational& value, unsigned long modulus);
  static int compare(const Rational& a, const Rational& b);
  static int compare(const Rational& a, long b);

  alignas(void*) std::byte place_[4 * sizeof(void*)];  // all 0: the number 0
};

/// The double nearest to it, of two the even one; an infinity beyond the largest.
double to_double(const Rational& value);

/// Bits of the numerator less those of the denominator: |value| is near 2 to this power. Of a value
/// that is not 0.
long binary_size(const Rational& value);

/// The rest, from 0 to modulus - 1, of an integer.
unsigned long residue(const Rational& value, unsigned long modulus);

/// Makes the entries integers without a common divisor, by a positive factor.
void make_primitive(std::vector<Rational>& direction);

}  // namespace perp
