#include <gmp.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <perp/core/base/rational/rational_parts.hpp>

namespace perp {
namespace {

static_assert(sizeof(__mpz_struct) <= 2 * sizeof(void*) && alignof(__mpz_struct) <= alignof(void*));
static_assert(sizeof(__mpq_struct) <= 4 * sizeof(void*) && alignof(__mpq_struct) <= alignof(void*));
static_assert(sizeof(long) == sizeof(void*) && sizeof(mp_limb_t) == sizeof(long) &&
              sizeof(Wide) == 2 * sizeof(long));

mpz_ptr integer(std::byte* place) { return std::launder(reinterpret_cast<mpz_ptr>(place)); }
mpz_srcptr integer(const std::byte* place) {
  return std::launder(reinterpret_cast<mpz_srcptr>(place));
}

std::string digits(char* text) {
  std::string result(text);
  void (*release)(void*, std::size_t) = nullptr;
  mp_get_memory_functions(nullptr, nullptr, &release);
  release(text, result.size() + 1);
  return result;
}

constexpr long largest = std::numeric_limits<long>::max();

bool is_word(Wide value) { return -largest <= value && value <= largest; }
bool is_word(mpz_srcptr value) {
  return mpz_size(value) == 0 ||
         (mpz_size(value) == 1 && mpz_getlimbn(value, 0) <= static_cast<mp_limb_t>(largest));
}

void set_wide(mpz_ptr place, Wide value) {
  const bool is_negative = value < 0;
  const Wide size = is_negative ? -value : value;
  const mp_limb_t limbs[2] = {static_cast<mp_limb_t>(size), static_cast<mp_limb_t>(size >> 64)};
  mpz_import(place, 2, -1, sizeof(mp_limb_t), 0, 0, limbs);
  if (is_negative) mpz_neg(place, place);
}

/// The parts of a small number.
struct Words {
  long numerator, denominator;
};

Words words(const Rational& value) {
  return {RationalParts::numerator(value), RationalParts::denominator(value)};
}

bool are_small(const Rational& a, const Rational& b) {
  return RationalParts::is_small(a) && RationalParts::is_small(b);
}

/// value = a + b. With g = gcd(d, d') the sum t/lcm(d, d') has no divisors with its denominator in
/// common but those of g.
void set_sum(Rational& value, Words a, Words b) {
  const long g = common_divisor(a.denominator, b.denominator);
  const long own = a.denominator / g, other = b.denominator / g;
  const Wide t = Wide(a.numerator) * other + Wide(b.numerator) * own;
  const long divisor = g == 1 ? 1 : common_divisor(static_cast<long>(t % g), g);
  RationalParts::set(value, divisor == 1 ? t : t / divisor, Wide(own) * (b.denominator / divisor));
}

/// value = a b: common divisors stand across.
void set_product(Rational& value, Words a, Words b) {
  const long first = common_divisor(a.numerator, b.denominator);
  const long second = common_divisor(b.numerator, a.denominator);
  RationalParts::set(value, Wide(a.numerator / first) * (b.numerator / second),
                     Wide(a.denominator / second) * (b.denominator / first));
}

Words inverse(Words a) {
  if (a.numerator < 0) return {-a.denominator, -a.numerator};
  return {a.denominator, a.numerator};
}

/// value becomes operation(value, other), in numbers of GMP.
template <class Operation>
void apply(Rational& value, const Rational& other, const Operation& operation) {
  const GmpView second(other);
  mpq_ptr place = RationalParts::large(value);
  operation(place, place, second);
  RationalParts::settle(value);
}

}  // namespace

void RationalParts::set(Rational& value, Wide numerator, Wide denominator) {
  if (is_word(numerator) && is_word(denominator))
    return set(value, static_cast<long>(numerator), static_cast<long>(denominator));
  mpq_ptr parts = large(value);
  set_wide(mpq_numref(parts), numerator);
  set_wide(mpq_denref(parts), denominator);
}

mpq_ptr RationalParts::large(Rational& value) {
  if (!is_small(value)) return place(value);
  const Words own = words(value);
  mpq_ptr parts = new (value.place_) __mpq_struct;
  mpz_init_set_si(mpq_numref(parts), own.numerator);
  mpz_init_set_si(mpq_denref(parts), own.denominator);
  return parts;
}

void RationalParts::settle(Rational& value) {
  mpq_ptr parts = place(value);
  if (!is_word(mpq_numref(parts)) || !is_word(mpq_denref(parts))) return;
  const long numerator = mpz_get_si(mpq_numref(parts)), denominator = mpz_get_si(mpq_denref(parts));
  mpq_clear(parts);
  make_zero(value);
  set(value, numerator, denominator);
}

Integer::Integer(long value) { mpz_init_set_si(new (place_) __mpz_struct, value); }
Integer::Integer(unsigned long value) { mpz_init_set_ui(new (place_) __mpz_struct, value); }
Integer::Integer(const Integer& other) {
  mpz_init_set(new (place_) __mpz_struct, integer(other.place_));
}
Integer::~Integer() { mpz_clear(integer(place_)); }
void Integer::swap(Integer& other) noexcept { mpz_swap(integer(place_), integer(other.place_)); }

Integer& Integer::operator+=(const Integer& other) {
  mpz_add(integer(place_), integer(place_), integer(other.place_));
  return *this;
}

Integer& Integer::operator*=(const Integer& other) {
  mpz_mul(integer(place_), integer(place_), integer(other.place_));
  return *this;
}

int Integer::compare(const Integer& a, const Integer& b) {
  return mpz_cmp(integer(a.place_), integer(b.place_));
}

Integer::operator double() const { return mpz_get_d(integer(place_)); }

std::string Integer::str() const { return digits(mpz_get_str(nullptr, 10, integer(place_))); }

// -2^63 is no small number: its size is no word.
Rational::Rational(long value) : place_{} { RationalParts::set(*this, Wide(value), Wide(1)); }

Rational::Rational(long numerator, long denominator) : Rational(numerator) {
  *this /= Rational(denominator);
}

Rational::Rational(double value) : place_{} {
  if (!std::isfinite(value)) throw std::domain_error("no rational number is infinite");
  if (std::abs(value) < 0x1p53 && std::trunc(value) == value) {
    RationalParts::set(*this, static_cast<long>(value), 1);
    return;
  }
  mpq_set_d(RationalParts::large(*this), value);
  RationalParts::settle(*this);
}

void Rational::copy(const Rational& other) {
  mpq_ptr parts = new (place_) __mpq_struct;
  mpz_init_set(mpq_numref(parts), mpq_numref(RationalParts::place(other)));
  mpz_init_set(mpq_denref(parts), mpq_denref(RationalParts::place(other)));
}

void Rational::assign(const Rational& other) {
  if (!is_small() && !other.is_small())
    return mpq_set(RationalParts::place(*this), RationalParts::place(other));
  *this = Rational(other);
}

void Rational::clear() { mpq_clear(RationalParts::place(*this)); }

int Rational::large_sign() const { return mpq_sgn(RationalParts::place(*this)); }

Rational& Rational::operator+=(const Rational& other) {
  if (are_small(*this, other))
    set_sum(*this, words(*this), words(other));
  else if (sign() == 0)
    *this = other;
  else if (other.sign() != 0)
    apply(*this, other, mpq_add);
  return *this;
}

Rational& Rational::operator-=(const Rational& other) {
  if (are_small(*this, other))
    set_sum(*this, words(*this), {-other.numerator(), other.denominator()});
  else if (sign() == 0)
    *this = -other;
  else if (other.sign() != 0)
    apply(*this, other, mpq_sub);
  return *this;
}

Rational& Rational::operator*=(const Rational& other) {
  if (are_small(*this, other))
    set_product(*this, words(*this), words(other));
  else if (sign() != 0 && other.sign() == 0)
    *this = Rational();
  else if (sign() != 0)
    apply(*this, other, mpq_mul);
  return *this;
}

Rational& Rational::operator/=(const Rational& other) {
  if (other.sign() == 0) throw std::domain_error("division of a rational number by 0");
  if (are_small(*this, other))
    set_product(*this, words(*this), inverse(words(other)));
  else if (sign() != 0)
    apply(*this, other, mpq_div);
  return *this;
}

Rational operator-(Rational a) {
  if (a.is_small())
    RationalParts::set(a, -a.numerator(), a.denominator());
  else
    mpq_neg(RationalParts::place(a), RationalParts::place(a));
  return a;
}

Rational abs(Rational a) { return a.sign() < 0 ? -std::move(a) : a; }

Rational ldexp(Rational a, long exponent) {
  if (a.sign() == 0) return a;
  const auto shift = static_cast<mp_bitcnt_t>(std::abs(exponent));
  mpq_ptr parts = RationalParts::large(a);
  (exponent < 0 ? mpq_div_2exp : mpq_mul_2exp)(parts, parts, shift);
  RationalParts::settle(a);
  return a;
}

int Rational::compare(const Rational& a, const Rational& b) {
  if (!are_small(a, b)) return mpq_cmp(GmpView(a), GmpView(b));
  const Words first = words(a), second = words(b);
  const Wide left = Wide(first.numerator) * second.denominator,
             right = Wide(second.numerator) * first.denominator;
  return (left > right) - (left < right);
}

bool Rational::are_same(const Rational& a, const Rational& b) {
  return mpq_equal(RationalParts::place(a), RationalParts::place(b)) != 0;
}

int Rational::compare(const Rational& a, long b) { return compare(a, Rational(b)); }

Rational::operator double() const { return sign() == 0 ? 0 : mpq_get_d(GmpView(*this)); }

std::string Rational::str() const { return digits(mpq_get_str(nullptr, 10, GmpView(*this))); }

/// The quotient with at least 55 bits (two more than a double has) and a sticky last bit, then one
/// rounding; among subnormal numbers with two bits more than these have.
double to_double(const Rational& value) {
  constexpr long exact =
      1L << 53;  // doubles hold the integers up to it, whose quotient is rounded once
  if (value.is_small() && std::abs(value.numerator()) <= exact && value.denominator() <= exact)
    return static_cast<double>(value.numerator()) / static_cast<double>(value.denominator());
  const GmpView parts(value);
  Whole top(parts.numerator()), bottom(parts.denominator());
  mpz_abs(top, top);
  constexpr long finest = 1076;  // 2^-1074 is the least double
  const long shift = std::min(56 - binary_size(value), finest);
  const mpz_ptr shifted = shift > 0 ? top : bottom;
  mpz_mul_2exp(shifted, shifted, static_cast<mp_bitcnt_t>(std::abs(shift)));
  Whole quotient, rest;
  mpz_tdiv_qr(quotient, rest, top, bottom);
  if (mpz_sgn(rest.value) != 0) mpz_setbit(quotient, 0);
  // Of at most 58 bits: rounded once, to even.
  const double size =
      std::ldexp(static_cast<double>(mpz_get_ui(quotient)), static_cast<int>(-shift));
  return value.sign() < 0 ? -size : size;
}

long binary_size(const Rational& value) {
  const GmpView parts(value);
  const auto bits = [](mpz_srcptr part) { return static_cast<long>(mpz_sizeinbase(part, 2)); };
  return bits(parts.numerator()) - bits(parts.denominator());
}

unsigned long residue(const Rational& value, unsigned long modulus) {
  return mpz_fdiv_ui(GmpView(value).numerator(), modulus);
}

}  // namespace perp
