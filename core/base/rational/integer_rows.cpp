#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include <perp/core/base/rational/integer_rows.hpp>
#include <perp/core/base/rational/rational_parts.hpp>

namespace perp {
namespace {

/// A positive multiple of all denominators, where it is a word.
std::optional<long> small_multiple(const std::vector<Rational>& row) {
  Wide multiple = 1;
  for (const Rational& value : row) {
    if (!RationalParts::is_small(value)) return std::nullopt;
    const long denominator = RationalParts::denominator(value);
    multiple = multiple / common_divisor(static_cast<long>(multiple), denominator) * denominator;
    if (multiple > std::numeric_limits<long>::max()) return std::nullopt;
  }
  return static_cast<long>(multiple);
}

/// Their positive common divisor, where all numbers are small integers; 0 if all are 0.
std::optional<long> small_divisor(const std::vector<Rational>& row) {
  long divisor = 0;
  for (const Rational& value : row) {
    if (!RationalParts::is_small(value)) return std::nullopt;
    divisor = std::gcd(divisor, RationalParts::numerator(value));
  }
  return divisor;
}

}  // namespace

void make_integers(std::vector<Rational>& row) {
  if (const std::optional<long> multiple = small_multiple(row)) {
    for (Rational& value : row)
      RationalParts::set(
          value,
          Wide(RationalParts::numerator(value)) * (*multiple / RationalParts::denominator(value)),
          Wide(1));
    return;
  }
  Whole multiple;
  mpz_set_ui(multiple, 1);
  for (const Rational& value : row) mpz_lcm(multiple, multiple, GmpView(value).denominator());
  for (Rational& value : row) {
    if (value.sign() == 0) continue;
    mpq_ptr entry = RationalParts::large(value);
    mpz_divexact(mpq_denref(entry), multiple, mpq_denref(entry));
    mpz_mul(mpq_numref(entry), mpq_numref(entry), mpq_denref(entry));
    mpz_set_ui(mpq_denref(entry), 1);
    RationalParts::settle(value);
  }
}

void eliminate(std::vector<Rational>& row, const std::vector<Rational>& pivot, std::size_t column) {
  if (row[column].sign() == 0) return;
  const Rational ratio = row[column] / pivot[column];  // own/of_pivot in lowest terms
  const GmpView parts(ratio);
  const bool is_small = RationalParts::is_small(ratio);
  for (std::size_t j = 0; j < row.size(); ++j) {
    const bool changes = pivot[j].sign() != 0;
    if (row[j].sign() == 0 && !changes) continue;
    if (is_small && RationalParts::is_small(row[j]) && RationalParts::is_small(pivot[j])) {
      const Wide kept = Wide(RationalParts::numerator(row[j])) * RationalParts::denominator(ratio);
      RationalParts::set(
          row[j], kept - Wide(RationalParts::numerator(ratio)) * RationalParts::numerator(pivot[j]),
          Wide(1));
      continue;
    }
    const mpz_ptr entry = mpq_numref(RationalParts::large(row[j]));
    mpz_mul(entry, entry, parts.denominator());
    if (changes) mpz_submul(entry, parts.numerator(), GmpView(pivot[j]).numerator());
    RationalParts::settle(row[j]);
  }
}

void make_primitive(std::vector<Rational>& direction) {
  make_integers(direction);
  if (const std::optional<long> divisor = small_divisor(direction)) {
    if (*divisor > 1)
      for (Rational& value : direction)
        RationalParts::set(value, RationalParts::numerator(value) / *divisor, 1);
    return;
  }
  Whole divisor;
  for (const Rational& value : direction) mpz_gcd(divisor, divisor, GmpView(value).numerator());
  for (Rational& value : direction) {
    if (value.sign() == 0) continue;
    const mpz_ptr whole = mpq_numref(RationalParts::large(value));
    mpz_divexact(whole, whole, divisor);
    RationalParts::settle(value);
  }
}

}  // namespace perp
