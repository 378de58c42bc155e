#pragma once

#include <gmp.h>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>

#include <perp/core/base/rational.hpp>

namespace perp {

/// Twice a word: what sums and products of two small numbers need.
__extension__ using Wide = __int128;

/// An integer of GMP for the time of a computation.
struct Whole {
  Whole() { mpz_init(value); }
  explicit Whole(mpz_srcptr other) { mpz_init_set(value, other); }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  ~Whole() { mpz_clear(value); }
  operator mpz_ptr() { return value; }  // NOLINT
  mpz_t value;
};

/// What the sources of `Rational` see of its numbers.
struct RationalParts {
  static bool is_small(const Rational& value) { return value.is_small(); }
  static long numerator(const Rational& value) { return value.numerator(); }
  static long denominator(const Rational& value) { return value.denominator(); }

  static mpq_ptr place(Rational& value) {
    return std::launder(reinterpret_cast<mpq_ptr>(value.place_));
  }
  static mpq_srcptr place(const Rational& value) {
    return std::launder(reinterpret_cast<mpq_srcptr>(value.place_));
  }

  /// A small number becomes another one; both parts are of at most 63 bits, the second is positive.
  static void set(Rational& value, long numerator, long denominator) {
    const long extra = denominator - 1;
    std::memcpy(value.place_ + sizeof(long), &numerator, sizeof numerator);
    std::memcpy(value.place_ + 2 * sizeof(long), &extra, sizeof extra);
  }

  /// A small number becomes another one, in lowest terms, of parts of at most 127 bits.
  static void set(Rational& value, Wide numerator, Wide denominator);

  /// The number as one of GMP, to be changed; `settle` belongs behind it.
  static mpq_ptr large(Rational& value);

  /// A number of GMP whose parts fit into words is small again.
  static void settle(Rational& value);

  static void make_zero(Rational& value) { std::memset(value.place_, 0, sizeof value.place_); }
};

/// A number as GMP reads it, without memory of its own. It stays as it is meanwhile.
class GmpView {
 public:
  explicit GmpView(const Rational& value) : number_(RationalParts::place(value)) {
    if (!RationalParts::is_small(value)) return;
    const long numerator = RationalParts::numerator(value);
    limbs_[0] = static_cast<mp_limb_t>(std::abs(numerator));
    limbs_[1] = static_cast<mp_limb_t>(RationalParts::denominator(value));
    own_._mp_num = {
        ._mp_alloc = 0, ._mp_size = (numerator > 0) - (numerator < 0), ._mp_d = &limbs_[0]};
    own_._mp_den = {._mp_alloc = 0, ._mp_size = 1, ._mp_d = &limbs_[1]};
    number_ = &own_;
  }
  GmpView(const GmpView&) = delete;
  GmpView& operator=(const GmpView&) = delete;
  operator mpq_srcptr() const { return number_; }  // NOLINT
  [[nodiscard]] mpz_srcptr numerator() const { return mpq_numref(number_); }
  [[nodiscard]] mpz_srcptr denominator() const { return mpq_denref(number_); }

 private:
  mpq_srcptr number_;
  __mpq_struct own_{};
  mp_limb_t limbs_[2]{};
};

/// The greatest common divisor of a and b > 0; each is of at most 63 bits.
inline long common_divisor(long a, long b) {
  if (b == 1) return 1;
  const bool is_power = (b & (b - 1)) == 0;  // of two, as the denominators of doubles are
  if (!is_power || a == 0) return std::gcd(a, b);
  return (a & -a) < b ? a & -a : b;
}

}  // namespace perp
