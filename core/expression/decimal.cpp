// Decimal numbers as intervals; called where model texts become enclosures.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <perp/core/error.hpp>
#include <perp/core/expression/decimal.hpp>

namespace perp::enclosure {
namespace {

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return is_decimal_digit(c) || is_name(std::string_view(&c, 1)); }

/// 0.d1d2d3… · 10^exponent, the first and the last digit not 0; no digits: 0.
struct Digits {
  std::string digits{};
  long exponent = 0;
};

/// Of a number without sign that from_chars accepts.
Digits digits_of(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  long exponent = 0;
  if (mark < text.size()) {
    std::string_view power = text.substr(mark + 1);
    const bool negative = power.starts_with('-');
    if (negative || power.starts_with('+')) power.remove_prefix(1);
    constexpr long beyond = 1'000'000'000;
    for (const char c : power) exponent = std::min(beyond, exponent * 10 + (c - '0'));
    if (negative) exponent = -exponent;
  }
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

Interval enclose_decimal(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '_');
  const bool negative = plain.starts_with('-');
  if (negative || plain.starts_with('+')) plain.erase(0, 1);
  if (plain.empty() || !(is_decimal_digit(plain[0]) || plain[0] == '.'))
    throw InvalidInput(fmt::format("found '{}'; expected a decimal number", text));
  const Interval size = enclose_positive(plain);
  return negative ? -size : size;
}

std::string ExactLiterals::name_of(std::string_view literal) {
  const Interval value = enclose_decimal(literal);
  if (value.is_point()) return std::string(literal);
  const auto known = std::find(literals_.begin(), literals_.end(), literal);
  if (known != literals_.end()) return names_[static_cast<std::size_t>(known - literals_.begin())];
  std::string name;
  for (std::size_t k = names_.size() + 1;
       name.empty() || std::find(taken_.begin(), taken_.end(), name) != taken_.end(); ++k)
    name = fmt::format("decimal_{}", k);
  double nearest = 0;
  std::from_chars(literal.data(), literal.data() + literal.size(), nearest);
  literals_.emplace_back(literal);
  names_.push_back(name);
  taken_.push_back(name);
  values_.push_back(value);
  nearest_.push_back(nearest);
  return name;
}

// Numbers begin where the parser lets them begin and end where it lets them end: at from_chars.
std::string ExactLiterals::replaced(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    if (is_decimal_digit(text[at]) || text[at] == '.') {
      double ignored = 0;
      const auto [end, error] =
          std::from_chars(text.data() + at, text.data() + text.size(), ignored);
      if (error != std::errc::invalid_argument) {
        at = static_cast<std::size_t>(end - text.data());
        result += name_of(text.substr(start, at - start));
        continue;
      }
    }
    do ++at;
    while (is_letter_or_digit(text[start]) && at < text.size() && is_letter_or_digit(text[at]));
    result += text.substr(start, at - start);
  }
  return result;
}

Interval enclose_expression(std::string_view text, const std::vector<std::string>& names,
                            const std::vector<Interval>& values) {
  ExactLiterals literals(names);
  const std::string exact = literals.replaced(text);
  Scope scope{names};
  scope.names.insert(scope.names.end(), literals.names().begin(), literals.names().end());
  std::vector<Interval> inputs = values;
  inputs.insert(inputs.end(), literals.values().begin(), literals.values().end());
  const Expression expression(exact, scope);
  return expression.evaluate(std::span<const Interval>(inputs));
}

}  // namespace perp::enclosure
