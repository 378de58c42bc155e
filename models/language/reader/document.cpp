#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/models/language/reader/document.hpp>

namespace perp::reader {
namespace {

/// White space as wide as a text, its tabs kept: what stands before the caret below it.
std::string space_below(std::string_view text) {
  std::string space;
  for (const char c : text)
    if (!is_continuation(c)) space += c == '\t' ? '\t' : ' ';
  return space;
}

/// The line of a place and a caret under it; long lines are cut around the place.
std::string excerpt_of(std::string_view text, Position at) {
  constexpr std::size_t width = 100;
  const std::size_t place = byte_offset(text, at);
  const std::size_t start = byte_offset(text, {at.line, 1});
  const std::size_t end = std::min(text.find_first_of("\r\n", start), text.size());
  if (start >= end || place > end) return {};
  std::size_t from = place - start > width - 20 ? place - (width - 20) : start;
  while (from > start && is_continuation(text[from])) --from;
  std::string line(text.substr(from, std::min(end, from + width) - from));
  std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; }, ' ');
  return line + "\n" + space_below(text.substr(from, place - from)) + "^";
}

/// Whatever a message quotes, it stays one line.
std::string one_line(std::string_view message) {
  std::string line(message);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return line;
}

}  // namespace

const Member* Value::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &*found;
}

std::string hash_of(Digest file, const std::vector<Override>& overrides) {
  for (const Override& item : overrides) {
    file.add(std::string_view("\0", 1));
    file.add(item.key + "=" + item.value);
  }
  return file.text();
}

const char* describe(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::number: return "a number";
    case Value::Kind::text: return "text";
    case Value::Kind::boolean: return "true or false";
    case Value::Kind::date: return "a date";
    case Value::Kind::list: return "a list";
    case Value::Kind::table: return "a table";
  }
  return "nothing";
}

Document::Document(std::string text, std::string name, const std::vector<Override>& overrides) {
  sources_.push_back({std::move(name), std::move(text)});
  add_overrides(overrides);
  const std::string& file_text = sources_[0].text;
  digest_.add(file_text);
  if (const TextProblem problem = check_text(file_text); !problem.message.empty())
    fail(0, position_of(file_text, problem.offset), problem.message);
  TomlResult result = parse_toml(file_text);
  if (!result.error.empty()) fail(0, result.at, "not TOML: " + result.error);
  root_ = std::make_shared<const Value>(std::move(result.root));
}

Document Document::with(const std::vector<Override>& overrides) const {
  Document other;
  other.sources_.push_back(sources_[0]);
  other.digest_ = digest_;
  other.root_ = root_;
  other.add_overrides(overrides);
  return other;
}

Document Document::with_root(Value root) const {
  Document other = *this;
  other.root_ = std::make_shared<const Value>(std::move(root));
  return other;
}

void Document::add_overrides(const std::vector<Override>& overrides) {
  overrides_ = overrides;
  for (const Override& item : overrides_) {
    const std::string assignment = item.key + "=" + item.value;
    sources_.push_back({"--set " + one_line(assignment), assignment});
    if (const TextProblem problem = check_text(assignment + " "); !problem.message.empty())
      fail(static_cast<int>(sources_.size()) - 1, position_of(assignment, problem.offset),
           problem.message);
  }
}

Value Document::override_value(std::size_t k) const {
  Value value;
  value.kind = Value::Kind::text;
  value.source = static_cast<int>(k) + 1;
  value.at = position_of(sources_[k + 1].text, overrides_[k].key.size() + 1);
  value.text = overrides_[k].value;
  return value;
}

std::string Document::literal(const Value& number) const {
  const std::string_view text = sources_[static_cast<std::size_t>(number.source)].text;
  std::string_view rest = text.substr(byte_offset(text, number.at));
  constexpr double largest = 0x1p53;  // up to here every whole number is a double
  const std::string_view digits = rest.substr(rest.find_first_not_of("+-"));
  if (digits.starts_with("0x") || digits.starts_with("0o") || digits.starts_with("0b")) {
    if (std::abs(number.number) > largest)
      fail(number, "a number in another base is above 2^53; expected it as a decimal number");
    return fmt::format("{:.0f}", number.number);
  }
  std::string literal(rest.substr(0, rest.find_first_not_of("0123456789+-._eE")));
  std::erase(literal, '_');
  if (literal.starts_with('+')) literal.erase(0, 1);
  return literal;
}

void Document::fail(const Value& value, const std::string& message) const {
  fail(value.source, value.at, message);
}

void Document::fail(const Member& member, const std::string& message) const {
  fail(member.value.source, member.at, message);
}

void Document::fail(const Value& value, std::size_t offset, const std::string& message) const {
  const std::string& text = sources_[static_cast<std::size_t>(value.source)].text;
  if (!value.instance.empty())
    fail(value.source, value.at, fmt::format("{} (in '{}', {})", message, value.text, value.instance));
  if (value.source > 0)
    fail(value.source, position_of(text, byte_offset(text, value.at) + offset), message);
  fail(0, position_in_literal(text, value.at, offset), message);
}

void Document::fail_override(std::size_t k, const std::string& message) const {
  fail(static_cast<int>(k) + 1, {1, 1}, message);
}

void Document::fail(int source, Position at, const std::string& message) const {
  const Source& place = sources_[static_cast<std::size_t>(source)];
  throw ModelError(fmt::format("{}:{}:{}: {}", place.name, at.line, at.column, one_line(message)),
                   excerpt_of(place.text, at));
}

}  // namespace perp::reader
