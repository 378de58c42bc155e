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

struct RationalParts;

/// Rational numbers without rounding, in lowest terms: two words where both parts fit, else numbers
/// of GMP, as `Integer`. An operation that has no value throws std::domain_error.
class Rational {
 public:
  Rational() noexcept : place_{} {}
  template <std::signed_integral Number>
  Rational(Number value) : Rational(static_cast<long>(value)) {}  // NOLINT: a number is one
  Rational(long value);                                           // NOLINT
  Rational(long numerator, long denominator);
  /// Exactly this double, which is finite.
  Rational(double value);          // NOLINT
  Rational(long double) = delete;  // holds more than a double
  Rational(const Rational& other) {
    if (other.is_small())
      std::memcpy(place_, other.place_, sizeof place_);
    else
      copy(other);
  }
  Rational(Rational&& other) noexcept {
    std::memcpy(place_, other.place_, sizeof place_);
    std::memset(other.place_, 0, sizeof place_);
  }
  Rational& operator=(const Rational& other) {
    if (is_small() && other.is_small())
      std::memcpy(place_, other.place_, sizeof place_);
    else
      assign(other);
    return *this;
  }
  Rational& operator=(Rational&& other) noexcept {
    std::byte mine[sizeof place_];
    std::memcpy(mine, place_, sizeof place_);
    std::memcpy(place_, other.place_, sizeof place_);
    std::memcpy(other.place_, mine, sizeof place_);
    return *this;
  }
  ~Rational() {
    if (!is_small()) clear();
  }

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
  [[nodiscard]] int sign() const {
    return is_small() ? (numerator() > 0) - (numerator() < 0) : large_sign();
  }
  friend bool operator==(const Rational& a, const Rational& b) {
    if (a.is_small() && b.is_small()) return std::memcmp(a.place_, b.place_, sizeof place_) == 0;
    return !a.is_small() && !b.is_small() && are_same(a, b);
  }
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
  friend struct RationalParts;
  friend double to_double(const Rational& value);
  static int compare(const Rational& a, const Rational& b);
  static int compare(const Rational& a, long b);
  static bool are_same(const Rational& a, const Rational& b);

  // A number of GMP begins with the words of memory of its numerator, of which it has some: it is
  // not 0.
  [[nodiscard]] bool is_small() const {
    int words = 0;
    std::memcpy(&words, place_, sizeof words);
    return words == 0;
  }
  [[nodiscard]] long numerator() const { return word(1); }
  [[nodiscard]] long denominator() const { return word(2) + 1; }
  [[nodiscard]] long word(std::size_t k) const {
    long value = 0;
    std::memcpy(&value, place_ + k * sizeof value, sizeof value);
    return value;
  }
  void copy(const Rational& other);
  void assign(const Rational& other);
  void clear();
  [[nodiscard]] int large_sign() const;

  // Of a small one: 0, the numerator, the denominator less 1, 0; so all 0 is the number 0. The
  // parts of others are not both of at most 63 bits.
  alignas(void*) std::byte place_[4 * sizeof(void*)];
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
