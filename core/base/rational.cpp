#include <gmp.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <perp/core/base/integer_rows.hpp>
#include <perp/core/base/rational.hpp>

namespace perp {
namespace {

static_assert(sizeof(__mpz_struct) <= 2 * sizeof(void*) && alignof(__mpz_struct) <= alignof(void*));
static_assert(sizeof(__mpq_struct) <= 4 * sizeof(void*) && alignof(__mpq_struct) <= alignof(void*));

mpz_ptr integer(std::byte* place) { return std::launder(reinterpret_cast<mpz_ptr>(place)); }
mpz_srcptr integer(const std::byte* place) {
  return std::launder(reinterpret_cast<mpz_srcptr>(place));
}
mpq_ptr rational(std::byte* place) { return std::launder(reinterpret_cast<mpq_ptr>(place)); }
mpq_srcptr rational(const std::byte* place) {
  return std::launder(reinterpret_cast<mpq_srcptr>(place));
}

// A rational number whose bytes are all 0 is 0: it has no memory of GMP, which matrices of many zeros would fill.
bool is_plain_zero(const std::byte* place) { return mpq_denref(rational(place))->_mp_d == nullptr; }

// Its bytes are its first and only member.
static_assert(std::is_standard_layout_v<Rational>);
mpq_ptr number(Rational& value) { return rational(reinterpret_cast<std::byte*>(&value)); }
mpq_srcptr number(const Rational& value) { return rational(reinterpret_cast<const std::byte*>(&value)); }

/// With memory of GMP.
mpq_ptr made(std::byte* place) {
  if (is_plain_zero(place)) mpq_init(rational(place));
  return rational(place);
}

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

std::string digits(char* text) {
  std::string result(text);
  void (*release)(void*, std::size_t) = nullptr;
  mp_get_memory_functions(nullptr, nullptr, &release);
  release(text, result.size() + 1);
  return result;
}

long bits(mpz_srcptr value) { return static_cast<long>(mpz_sizeinbase(value, 2)); }

}  // namespace

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

Rational::Rational(long value) : place_{} {
  new (place_) __mpq_struct{};
  if (value != 0) mpz_set_si(mpq_numref(made(place_)), value);
}

Rational::Rational(long numerator, long denominator) : Rational(numerator) {
  *this /= Rational(denominator);
}

Rational::Rational(double value) : Rational(0L) {
  if (!std::isfinite(value)) throw std::domain_error("no rational number is infinite");
  if (value != 0) mpq_set_d(made(place_), value);
}

Rational::Rational(const Rational& other) : Rational(0L) {
  if (other.sign() != 0) mpq_set(made(place_), rational(other.place_));
}

Rational& Rational::operator=(const Rational& other) {
  if (!is_plain_zero(other.place_))
    mpq_set(made(place_), rational(other.place_));
  else if (!is_plain_zero(place_))
    mpq_set_si(rational(place_), 0, 1);
  return *this;
}

Rational::~Rational() {
  if (!is_plain_zero(place_)) mpq_clear(rational(place_));
}

Rational& Rational::operator+=(const Rational& other) {
  if (other.sign() == 0) return *this;
  if (sign() == 0) return *this = other;
  mpq_add(rational(place_), rational(place_), rational(other.place_));
  return *this;
}

Rational& Rational::operator-=(const Rational& other) {
  if (other.sign() == 0) return *this;
  if (sign() == 0)
    mpq_neg(made(place_), rational(other.place_));
  else
    mpq_sub(rational(place_), rational(place_), rational(other.place_));
  return *this;
}

Rational& Rational::operator*=(const Rational& other) {
  if (sign() == 0) return *this;
  if (other.sign() == 0) return *this = Rational();
  mpq_mul(rational(place_), rational(place_), rational(other.place_));
  return *this;
}

Rational& Rational::operator/=(const Rational& other) {
  if (other.sign() == 0) throw std::domain_error("division of a rational number by 0");
  if (sign() != 0) mpq_div(rational(place_), rational(place_), rational(other.place_));
  return *this;
}

Rational operator-(Rational a) {
  if (a.sign() != 0) mpq_neg(rational(a.place_), rational(a.place_));
  return a;
}

Rational abs(Rational a) {
  if (a.sign() != 0) mpq_abs(rational(a.place_), rational(a.place_));
  return a;
}

Rational ldexp(Rational a, long exponent) {
  if (a.sign() == 0) return a;
  const auto shift = static_cast<mp_bitcnt_t>(std::abs(exponent));
  (exponent < 0 ? mpq_div_2exp : mpq_mul_2exp)(rational(a.place_), rational(a.place_), shift);
  return a;
}

int Rational::sign() const { return mpq_sgn(rational(place_)); }

bool operator==(const Rational& a, const Rational& b) {
  if (a.sign() == 0 || b.sign() == 0) return a.sign() == b.sign();
  return mpq_equal(rational(a.place_), rational(b.place_)) != 0;
}

int Rational::compare(const Rational& a, const Rational& b) {
  if (a.sign() == 0 || b.sign() == 0) return a.sign() - b.sign();
  return mpq_cmp(rational(a.place_), rational(b.place_));
}

int Rational::compare(const Rational& a, long b) {
  if (a.sign() == 0) return b < 0 ? 1 : b > 0 ? -1 : 0;
  return mpq_cmp_si(rational(a.place_), b, 1);
}

Rational::operator double() const { return sign() == 0 ? 0 : mpq_get_d(rational(place_)); }

std::string Rational::str() const { return sign() == 0 ? "0" : digits(mpq_get_str(nullptr, 10, rational(place_))); }

/// The quotient with at least 55 bits (two more than a double has) and a sticky last bit, then one
/// rounding; among subnormal numbers with two bits more than these have.
double to_double(const Rational& value) {
  if (value.sign() == 0) return 0;
  Whole top(mpq_numref(rational(value.place_))), bottom(mpq_denref(rational(value.place_)));
  mpz_abs(top, top);
  constexpr long finest = 1076;  // 2^-1074 is the least double
  const long shift = std::min(56 - (bits(top) - bits(bottom)), finest);
  const mpz_ptr shifted = shift > 0 ? top : bottom;
  mpz_mul_2exp(shifted, shifted, static_cast<mp_bitcnt_t>(std::abs(shift)));
  Whole quotient, rest;
  mpz_tdiv_qr(quotient, rest, top, bottom);
  if (mpz_sgn(rest.value) != 0) mpz_setbit(quotient, 0);
  // Of at most 58 bits: rounded once, to even.
  const double size = std::ldexp(static_cast<double>(mpz_get_ui(quotient)), static_cast<int>(-shift));
  return value.sign() < 0 ? -size : size;
}

long binary_size(const Rational& value) {
  return bits(mpq_numref(rational(value.place_))) - bits(mpq_denref(rational(value.place_)));
}

unsigned long residue(const Rational& value, unsigned long modulus) {
  return value.sign() == 0 ? 0 : mpz_fdiv_ui(mpq_numref(rational(value.place_)), modulus);
}

void make_integers(std::vector<Rational>& row) {
  Whole multiple;
  mpz_set_ui(multiple, 1);
  for (const Rational& value : row)
    if (value.sign() != 0) mpz_lcm(multiple, multiple, mpq_denref(number(value)));
  for (Rational& value : row) {
    if (value.sign() == 0) continue;
    mpq_ptr entry = number(value);
    mpz_divexact(mpq_denref(entry), multiple, mpq_denref(entry));
    mpz_mul(mpq_numref(entry), mpq_numref(entry), mpq_denref(entry));
    mpz_set_ui(mpq_denref(entry), 1);
  }
}

void eliminate(std::vector<Rational>& row, const std::vector<Rational>& pivot, std::size_t column) {
  if (row[column].sign() == 0) return;
  Whole own(mpq_numref(number(row[column]))), of_pivot(mpq_numref(number(pivot[column]))), common;
  mpz_gcd(common, own, of_pivot);
  mpz_divexact(own, own, common);
  mpz_divexact(of_pivot, of_pivot, common);
  for (std::size_t j = 0; j < row.size(); ++j) {
    const bool is_there = row[j].sign() != 0, changes = pivot[j].sign() != 0;
    if (!is_there && !changes) continue;
    const mpz_ptr entry = mpq_numref(made(reinterpret_cast<std::byte*>(&row[j])));
    if (is_there) mpz_mul(entry, entry, of_pivot);
    if (changes) mpz_submul(entry, own, mpq_numref(number(pivot[j])));
  }
}

void make_primitive(std::vector<Rational>& direction) {
  make_integers(direction);
  Whole divisor;
  for (const Rational& value : direction)
    if (value.sign() != 0) mpz_gcd(divisor, divisor, mpq_numref(rational(value.place_)));
  if (mpz_sgn(divisor.value) == 0) return;
  for (Rational& value : direction) {
    if (value.sign() == 0) continue;
    const mpz_ptr whole = mpq_numref(rational(value.place_));
    mpz_divexact(whole, whole, divisor);
  }
}

}  // namespace perp
