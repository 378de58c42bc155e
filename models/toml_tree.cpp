// The only file that sees toml++. It is compiled in, with assertions that throw, because the parser
// of version 3.3 asserts on some malformed input and a packaged build of it runs on without.
#include <stdexcept>

namespace perp::reader {
struct TomlAssertion : std::logic_error {
  using std::logic_error::logic_error;
};
[[noreturn]] inline void toml_assertion_failed(const char* condition) {
  throw TomlAssertion(condition);
}
}  // namespace perp::reader

#undef NDEBUG
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::perp::reader::toml_assertion_failed(#condition))
#include <toml++/toml.h>

#include <algorithm>

#include <perp/models/reader/document.hpp>

namespace perp::reader {
namespace {

Position place(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

bool earlier(const Position& a, const Position& b) {
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

Value convert(const toml::node& node) {
  Value value;
  value.at = place(node.source());
  if (const auto* table = node.as_table()) {
    value.kind = Value::Kind::table;
    for (const auto& [key, child] : *table)
      value.members.push_back({std::string(key.str()), place(key.source()), convert(child)});
    // toml++ keeps tables in alphabetical order; a model's variables are in the order of the file.
    std::stable_sort(value.members.begin(), value.members.end(),
                     [](const Member& a, const Member& b) { return earlier(a.at, b.at); });
  } else if (const auto* array = node.as_array()) {
    value.kind = Value::Kind::list;
    for (const toml::node& child : *array) value.items.push_back(convert(child));
  } else if (const auto* text = node.as_string()) {
    value.kind = Value::Kind::text;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.number = static_cast<double>(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    value.number = number->get();
  } else {
    value.kind = node.is_boolean() ? Value::Kind::boolean : Value::Kind::date;
    value.number = node.value_or(false) ? 1 : 0;
  }
  return value;
}

/// What the parser says, with a hint where it is short of words.
std::string description(const toml::parse_error& error) {
  std::string text(error.description());
  constexpr std::string_view opening = "Error while parsing ";
  if (text.starts_with(opening)) text.erase(0, opening.size());
  if (text.find("could not determine value type") != std::string::npos)
    text += "; text and expressions stand in quotes";
  return text;
}

}  // namespace

TomlResult parse_toml(std::string_view text) {
  TomlResult result;
  try {
    result.root = convert(toml::parse(text));
  } catch (const toml::parse_error& error) {
    result.at = place(error.source());
    result.error = description(error);
  } catch (const TomlAssertion&) {
    result.error = "the parser stopped at something that TOML does not allow";
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  return result;
}

}  // namespace perp::reader
