// Decimal numbers as intervals; called where model texts become enclosures.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/interval/rational_tape.hpp>
#include <perp/core/interval/decimal.hpp>

namespace perp::enclosure {
namespace {

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return is_decimal_digit(c) || is_name(std::string_view(&c, 1)); }

/// 0.d1d2d3… · 10^exponent, the first and the last digit not 0; no digits: 0.
struct Digits {
  std::string digits{};
  long exponent = 0;
};

/// Of "-12" behind the mark of a power, at most beyond those of all doubles.
long exponent_of(std::string_view power) {
  constexpr long beyond = 1'000'000'000;
  const bool negative = power.starts_with('-');
  if (negative || power.starts_with('+')) power.remove_prefix(1);
  long exponent = 0;
  for (const char c : power) exponent = std::min(beyond, exponent * 10 + (c - '0'));
  return negative ? -exponent : exponent;
}

/// Of a number without sign that from_chars accepts.
Digits digits_of(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  long exponent = mark < text.size() ? exponent_of(text.substr(mark + 1)) : 0;
  Digits number;
  bool behind_point = false;
  for (const char c : text.substr(0, mark)) {
    if (c == '.') {
      behind_point = true;
      continue;
    }
    if (!behind_point) ++exponent;
    if (c == '0' && number.digits.empty())
      --exponent;  // a leading zero
    else
      number.digits += c;
  }
  while (number.digits.ends_with('0')) number.digits.pop_back();
  number.exponent = exponent;
  return number;
}

/// −1, 0, 1 as a < b, a = b, a > b.
int compare(const Digits& a, const Digits& b) {
  if (a.digits.empty() || b.digits.empty())
    return static_cast<int>(!a.digits.empty()) - static_cast<int>(!b.digits.empty());
  if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
  const int order = a.digits.compare(b.digits);
  return (order > 0) - (order < 0);
}

/// Every double is a decimal number of at most 767 digits, which are printed here.
Digits exact_digits(double x) {
  std::array<char, 1024> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x,
                                 std::chars_format::scientific, 800)
                       .ptr;
  return digits_of({buffer.data(), end});
}

Interval enclose_positive(std::string_view text) {
  double nearest = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nearest);
  if (error == std::errc::invalid_argument || end != text.data() + text.size() ||
      !std::isfinite(nearest))
    throw InvalidInput(fmt::format("found '{}'; expected a decimal number", text));
  const Digits number = digits_of(text);
  if (error == std::errc::result_out_of_range) {
    if (number.digits.empty()) return Interval(0);
    return number.exponent > 0 ? Interval(directed::largest, directed::infinity)
                               : Interval(0, directed::next_up(0));
  }
  const int order = compare(number, exact_digits(nearest));
  if (order == 0) return Interval(nearest);
  return order > 0 ? Interval(nearest, directed::next_up(nearest))
                   : Interval(directed::next_down(nearest), nearest);
}

}  // namespace

namespace {

/// A number without its sign and the marks that group its digits; true: it is negative.
std::pair<std::string, bool> without_sign(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '_');
  const bool negative = plain.starts_with('-');
  if (negative || plain.starts_with('+')) plain.erase(0, 1);
  if (plain.empty() || !(is_decimal_digit(plain[0]) || plain[0] == '.'))
    throw InvalidInput(fmt::format("found '{}'; expected a decimal number", text));
  return {plain, negative};
}

Rational power_of_ten(long exponent) {
  Rational result = 1, square = 10;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= square;
    square *= square;
  }
  return result;
}

}  // namespace

Interval enclose_decimal(std::string_view text) {
  const auto [plain, negative] = without_sign(text);
  const Interval size = enclose_positive(plain);
  return negative ? -size : size;
}

std::optional<Rational> exact_number(std::string_view text) {
  constexpr long most_power = 5000, digits_at_once = 15;
  const auto [plain, negative] = without_sign(text);
  const Digits number = digits_of(plain);
  Rational value = 0;
  const auto count = static_cast<long>(number.digits.size());
  if (std::abs(number.exponent) > most_power || count > most_power) return std::nullopt;
  for (long k = 0; k < count; k += digits_at_once) {
    const std::string part = number.digits.substr(static_cast<std::size_t>(k), digits_at_once);
    value = value * power_of_ten(static_cast<long>(part.size())) + Rational(std::stol(part));
  }
  const long power = number.exponent - count;
  value = power < 0 ? value / power_of_ten(-power) : value * power_of_ten(power);
  return negative ? -value : value;
}

void ExactLiterals::add_literal(std::string_view literal) {
  if (std::find(texts_.begin(), texts_.end(), literal) != texts_.end()) return;
  const Interval value = enclose_decimal(literal);
  if (value.is_point()) return;
  double nearest = 0;
  std::from_chars(literal.data(), literal.data() + literal.size(), nearest);
  add(std::string(literal), value, nearest);
  numbers_.back() = exact_number(literal);
}

int ExactLiterals::add(std::string name, const Interval& value, double nearest) {
  texts_.push_back(std::move(name));
  values_.push_back(value);
  nearest_.push_back(nearest);
  numbers_.emplace_back();
  return static_cast<int>(texts_.size()) - 1;
}

void ExactLiterals::extend(Scope& scope) const {
  for (const std::string& text : texts_) {
    scope.aliases[text] = static_cast<int>(scope.names.size());
    scope.names.push_back(text);
  }
}

/// Numbers begin where the parser lets them begin and end where it lets them end: at from_chars. False: none is here;
/// else `at` is behind it.
bool ExactLiterals::take_number(std::string_view text, std::size_t& at) {
  if (!is_decimal_digit(text[at]) && text[at] != '.') return false;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) return false;
  const std::size_t start = std::exchange(at, static_cast<std::size_t>(end - text.data()));
  // What is outside of the range of doubles is the parser's to refuse.
  if (error == std::errc()) add_literal(text.substr(start, at - start));
  return true;
}

void ExactLiterals::add(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (take_number(text, at)) continue;
    const bool is_word = is_letter_or_digit(text[at]);
    do ++at;
    while (is_word && at < text.size() && is_letter_or_digit(text[at]));
  }
}

namespace {

/// The scope with the literals of a text that are no doubles behind its names.
Scope with_literals(std::string_view text, Scope scope, ExactLiterals& literals) {
  literals.add(text);
  literals.extend(scope);
  return scope;
}

}  // namespace

Interval enclose_expression(std::string_view text, const Scope& scope,
                            const std::vector<Interval>& values) {
  ExactLiterals literals;
  const Scope extended = with_literals(text, scope, literals);
  std::vector<Interval> inputs = values;
  inputs.insert(inputs.end(), literals.values().begin(), literals.values().end());
  const Expression expression(text, extended);
  return expression.evaluate(std::span<const Interval>(inputs));
}

ExactFormula exact_formula(std::string_view text, const Scope& scope) {
  ExactLiterals literals;
  const Scope extended = with_literals(text, scope, literals);
  ExactFormula formula{.names = static_cast<int>(scope.names.size()), .literals = literals.values()};
  formula.line = parse_expression(text, extended, formula.tape);
  return formula;
}

std::optional<Rational> exact_expression(std::string_view text, const Scope& scope,
                                         const std::vector<std::optional<Rational>>& values) {
  ExactLiterals literals;
  const Scope extended = with_literals(text, scope, literals);
  std::vector<std::optional<Rational>> inputs = values;
  inputs.insert(inputs.end(), literals.numbers().begin(), literals.numbers().end());
  const Expression expression(text, extended);
  return exact_value(expression.tape(), expression.line(), inputs);
}

namespace {

constexpr std::size_t printed_digits = 20;

/// As people write it: with a power of ten where there would be many zeros.
std::string written(const Digits& number) {
  constexpr long most_before_point = 15, most_zeros = 4;
  const auto size = static_cast<long>(number.digits.size());
  if (number.exponent > most_before_point || number.exponent < -most_zeros)
    return fmt::format("{}{}{}e{}", number.digits[0], size > 1 ? "." : "", number.digits.substr(1),
                       number.exponent - 1);
  if (number.exponent <= 0)
    return "0." + std::string(static_cast<std::size_t>(-number.exponent), '0') + number.digits;
  if (number.exponent >= size)
    return number.digits + std::string(static_cast<std::size_t>(number.exponent - size), '0');
  const auto point = static_cast<std::size_t>(number.exponent);
  return number.digits.substr(0, point) + "." + number.digits.substr(point);
}

/// Adds one unit to the last of the digits.
void increment(Digits& number) {
  std::size_t k = number.digits.size();
  while (k > 0 && number.digits[k - 1] == '9') number.digits[--k] = '0';
  if (k > 0) {
    ++number.digits[k - 1];
    return;
  }
  number.digits.insert(number.digits.begin(), '1');
  ++number.exponent;
}

/// x > 0 in 20 digits, cut off or rounded away from 0.
std::string twenty_digits(double x, bool away) {
  Digits number = exact_digits(x);
  if (number.digits.size() > printed_digits) {
    number.digits.resize(printed_digits);
    if (away) increment(number);
    while (number.digits.ends_with('0')) number.digits.pop_back();
  }
  return written(number);
}

}  // namespace

std::string exact_decimal(double x) {
  if (x == 0) return "0";
  return (x < 0 ? "-" : "") + written(exact_digits(std::abs(x)));
}

std::string decimal_below(double x) {
  if (x == 0) return "0";
  return x > 0 ? twenty_digits(x, false) : "-" + twenty_digits(-x, true);
}

std::string decimal_above(double x) {
  if (x == 0) return "0";
  return x > 0 ? twenty_digits(x, true) : "-" + twenty_digits(-x, false);
}

}  // namespace perp::enclosure
