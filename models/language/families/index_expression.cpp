// Whole numbers and conditions of the indices of families: expand_family decides with them.
#include <fmt/format.h>
#include <cmath>
#include <cstdlib>

#include <perp/models/language/families/index_expression.hpp>

namespace perp {

std::string_view word_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || !starts_word(text[at])) return {};
  std::size_t end = at;
  while (end < text.size() && continues_word(text[end])) ++end;
  return text.substr(at, end - at);
}

std::size_t end_of_number(std::string_view text, std::size_t at) {
  while (at < text.size() && (continues_word(text[at]) || text[at] == '.')) ++at;
  return at;
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

std::string text_of(const Indices& indices) {
  std::string text;
  for (const auto& [name, value] : indices)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

void IndexExpression::fail(std::size_t at, const std::string& message) const {
  const std::string where = text_of(indices_);
  throw FamilyError(message + (where.empty() ? "" : " (" + where + ")"), offset_ + at);
}

namespace {

/// Is it a word of the language of conditions and numbers?
bool is_operator(std::string_view word) {
  return word == "and" || word == "or" || word == "not" || word == "mod";
}

}  // namespace

/// Holds the text an index, and else indices and parameters alone?
bool IndexExpression::is_decidable() const {
  bool holds_index = false;
  for (std::size_t k = 0; k < text_.size();) {
    const std::string_view word = word_at(text_, k);
    if (word.empty()) {
      const bool is_number = std::isdigit(static_cast<unsigned char>(text_[k])) != 0;
      k = is_number ? end_of_number(text_, k) : k + 1;
      continue;
    }
    k += word.size();
    if (indices_.contains(word))
      holds_index = true;
    else if (!is_operator(word) && std::isnan(families_.parameter(word)))
      return false;
  }
  return holds_index;
}

bool IndexExpression::take(std::string_view symbol) {
  at_ = skip_space(text_, at_);
  if (text_.substr(at_, symbol.size()) != symbol) return false;
  if (starts_word(symbol[0]) && word_at(text_, at_) != symbol) return false;
  at_ += symbol.size();
  return true;
}

void IndexExpression::expect(std::string_view symbol) {
  if (!take(symbol))
    fail(at_, fmt::format("found '{}'; expected '{}'", text_.substr(at_, 1), symbol));
}

double IndexExpression::value() {
  const double result = sum();
  at_ = skip_space(text_, at_);
  if (at_ < text_.size())
    fail(at_, fmt::format("found '{}'; expected a whole number of indices and parameters",
                          text_.substr(at_)));
  return result;
}

double IndexExpression::sum() {
  double result = product();
  for (;;) {
    if (take("+"))
      result += product();
    else if (take("-"))
      result -= product();
    else
      return result;
  }
}

double IndexExpression::product() {
  double result = sign();
  for (;;) {
    if (take("*"))
      result *= sign();
    else if (take("/"))
      result /= sign();
    else
      return result;
  }
}

double IndexExpression::sign() {
  if (take("-")) return -sign();
  const double base = primary();
  return take("^") ? std::pow(base, sign()) : base;
}

/// The whole number a - b floor(a / b).
double IndexExpression::remainder(std::size_t start) {
  expect("(");
  const double a = sum();
  expect(",");
  const double b = sum();
  expect(")");
  if (!(b > 0) || a != std::floor(a) || b != std::floor(b))
    fail(start, fmt::format("mod({}, {}); expected whole numbers, the second one > 0", a, b));
  return a - b * std::floor(a / b);
}

double IndexExpression::primary() {
  at_ = skip_space(text_, at_);
  if (take("(")) {
    const double inner = sum();
    expect(")");
    return inner;
  }
  const std::string_view word = word_at(text_, at_);
  return word.empty() ? literal() : named_value(word);
}

double IndexExpression::named_value(std::string_view word) {
  const std::size_t start = at_;
  at_ += word.size();
  if (word == "mod") return remainder(start);
  if (const auto index = indices_.find(word); index != indices_.end())
    return static_cast<double>(index->second);
  const double parameter = families_.parameter(word);
  if (std::isnan(parameter))
    fail(start, fmt::format("'{}' is neither an index nor a parameter that is a number", word));
  return parameter;
}

double IndexExpression::literal() {
  const std::size_t end = end_of_number(text_, at_);
  const std::string number(text_.substr(at_, end - at_));
  char* stop = nullptr;
  const double result = std::strtod(number.c_str(), &stop);
  if (number.empty() || *stop != '\0')
    fail(at_, fmt::format("found '{}'; expected a number, an index or a parameter",
                          number.empty() ? text_.substr(at_, 1) : number));
  at_ = end;
  return result;
}

std::optional<bool> IndexExpression::condition() {
  if (!is_decidable()) return std::nullopt;
  const bool result = disjunction();
  at_ = skip_space(text_, at_);
  if (at_ < text_.size())
    fail(at_, fmt::format("found '{}'; expected the end of the condition", text_.substr(at_)));
  return result;
}

bool IndexExpression::disjunction() {
  bool result = conjunction();
  while (take("or")) result = conjunction() || result;
  return result;
}

bool IndexExpression::conjunction() {
  bool result = relation();
  while (take("and")) result = relation() && result;
  return result;
}

bool IndexExpression::relation() {
  if (take("not")) return !relation();
  const double left = sum();
  if (take("<=")) return left <= sum();
  if (take(">=")) return left >= sum();
  if (take("<")) return left < sum();
  if (take(">")) return left > sum();
  if (take("=")) return left == sum();
  fail(at_, "found no comparison; expected =, <, >, <= or >=");
}

double number_of(std::string_view text, const Indices& indices, const Families& families) {
  return IndexExpression(text, 0, indices, families).value();
}

long whole_number(std::string_view text, const Indices& indices, const Families& families) {
  const double value = number_of(text, indices, families);
  constexpr double largest = 1e15;
  if (!(std::abs(value) < largest) || value != std::floor(value))
    throw FamilyError(fmt::format("'{}' is {}; expected a whole number", trimmed(text), value), 0);
  return static_cast<long>(value);
}

}  // namespace perp
