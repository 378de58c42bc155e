#include <fmt/format.h>
#include <algorithm>
#include <iterator>

#include <perp/core/base/nearest_name.hpp>
#include <perp/core/expression/expression_functions.hpp>
#include <perp/core/expression/expression_parser.hpp>

namespace perp {
namespace {

/// Is the character of the same token as its first one: a name, a number, bytes of UTF-8?
bool continues_token(char first, char c) {
  if (starts_name(first)) return starts_name(c) || is_digit(c);
  if (is_digit(first) || first == '.') return is_digit(c) || c == '.';
  return (static_cast<unsigned char>(first) & 0x80U) != 0 &&
         (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// How a sign of other texts or languages is written here; nothing where it is none.
std::string_view spelling_hint(std::string_view found, char before) {
  if (found == "\u2212" || found == "\u2013") return "; write '-' for minus";
  if (found == "\u00B7" || found == "\u00D7") return "; write '*' for times";
  if (found == "*" && before == '*') return "; write '^' for powers";
  return {};
}

/// Where a sign that equations have may stand.
std::string_view equation_hint(std::string_view found, char before) {
  if (found == "<" || found == ">")
    return "; a comparison stands in a condition only, as in if(x < 0, a, b)";
  if (found == "=" && before == '=') return "; an equation has one '='";
  return {};
}

}  // namespace

std::optional<int> Scope::index(std::string_view name) const {
  if (const auto alias = aliases.find(name); alias != aliases.end()) return alias->second;
  if (has_all_aliases) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<int>(found - names.begin());
}

void ExpressionParser::require_value(int line, std::size_t start) const {
  if (forms_ != nullptr && forms_->is_condition(tape_, line))
    fail(start, at_ - start,
         "a comparison is no number; expected it in a condition only, as in if(x < 0, a, b)");
}

void ExpressionParser::check_count(std::string_view name, int least, int most, int count,
                                   std::size_t start) const {
  if (count >= least && count <= most) return;
  fail(start, at_ - start,
       fmt::format("{} takes {}{} argument{} but has {}", name, most > least ? "at least " : "",
                   least, least == 1 ? "" : "s", count));
}

bool ExpressionParser::is_known_value(std::string_view name) const {
  return name == "pi" || name == "inf" || scope_.index(name).has_value();
}

std::vector<std::string> ExpressionParser::known_functions() const {
  std::vector<std::string> names = function_names();
  if (forms_ != nullptr)
    for (const FormFunction& form : form_functions())
      if (find_function(form.name) == nullptr) names.emplace_back(form.name);
  std::sort(names.begin(), names.end());
  return names;
}

bool ExpressionParser::is_offered(const std::string& name) const {
  return (!scope_.aliases.contains(name) || is_name(name)) && !scope_.elsewhere.contains(name);
}

std::vector<std::string> ExpressionParser::offered_names() const {
  std::vector<std::string> names;
  std::ranges::copy_if(scope_.names, std::back_inserter(names), [this](const std::string& name) { return is_offered(name); });
  return names;
}

std::string ExpressionParser::expected_names() const {
  constexpr std::size_t most = 8;
  const std::vector<std::string> names = offered_names();
  if (names.empty()) return "a number (there are no names to use here)";
  if (names.size() == 1) return names[0];
  std::string list;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    list += (i > 0 ? ", " : "") + names[i];
  return (names.size() > most ? "one of " + list + ", ..." : "one of " + list);
}

void ExpressionParser::fail_not_a_function(std::string_view name, std::size_t start) const {
  if (is_known_value(name))
    fail(at_, 1, fmt::format("'{}' is not a function; expected an operator before '('", name));
  const std::vector<std::string> functions = known_functions();
  fail(start, name.size(),
       fmt::format("unknown function '{}'; expected one of {}{}", name, fmt::join(functions, ", "),
                   suggestion(name, functions)));
}

void ExpressionParser::fail_equation_word(std::string_view name, std::size_t start) const {
  if (forms_ == nullptr)
    fail(start, name.size(),
         fmt::format("'{}' belongs to equations; expected an expression of single values", name));
  if (name == "hysteresis" || name == "relay")
    fail(start, name.size(),
         fmt::format("'{0}' is a law; expected it in laws, as in \"y in {0}(x, -1, 1)\"", name));
  fail(
      start, name.size(),
      fmt::format("'{}' is a word of the language; expected a number, a name or a function", name));
}

void ExpressionParser::expect_close() {
  if (!take(')')) fail_at_token(misplaced("')' or an operator"));
}

bool ExpressionParser::take(char c) {
  if (at_end() || text_[at_] != c) return false;
  ++at_;
  skip_space();
  return true;
}

bool ExpressionParser::take(std::string_view symbol) {
  if (text_.substr(at_, symbol.size()) != symbol) return false;
  at_ += symbol.size();
  skip_space();
  return true;
}

bool ExpressionParser::take_word(std::string_view word) {
  if (next_name() != word) return false;
  take_name();
  return true;
}

std::string_view ExpressionParser::next_name() const {
  if (at_end() || !starts_name(text_[at_])) return {};
  std::size_t end = at_;
  while (end < text_.size() && (starts_name(text_[end]) || is_digit(text_[end]))) ++end;
  return text_.substr(at_, end + index_length(text_.substr(end)) - at_);
}

std::string_view ExpressionParser::take_name() {
  const std::string_view name = next_name();
  at_ += name.size();
  skip_space();
  return name;
}

void ExpressionParser::skip_space() {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

std::size_t ExpressionParser::token_length() const {
  if (at_end()) return 0;
  std::size_t end = at_ + 1;
  while (end < text_.size() && continues_token(text_[at_], text_[end])) ++end;
  return end - at_;
}

std::string ExpressionParser::token() const {
  if (at_end()) return "the end";
  return fmt::format("'{}'", text_.substr(at_, token_length()));
}

std::string ExpressionParser::misplaced(std::string_view expected) const {
  std::string message = fmt::format("found {}; expected {}", token(), expected);
  const std::string_view found = text_.substr(at_, token_length());
  const char before = at_ > 0 ? text_[at_ - 1] : '\0';
  message += spelling_hint(found, before);
  if (forms_ != nullptr) message += equation_hint(found, before);
  return message;
}

void ExpressionParser::fail_at_token(const std::string& message) const {
  fail(at_, token_length(), message);
}

void ExpressionParser::fail(std::size_t offset, std::size_t length, const std::string& message) {
  throw ExpressionError(message, offset, length);
}

}  // namespace perp
