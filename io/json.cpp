// JSON values, as a tree of ours; the library that reads and writes the text stands here alone.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include <perp/io/json.hpp>

namespace perp::io {
namespace {

using Library = nlohmann::ordered_json;

constexpr long exact_in_json = 1L << 53;  // readers of JSON take numbers as doubles
constexpr int deepest = 100;              // values are read and freed by recursion

bool is_member(const Json& entry) {
  return entry.is_list() && entry.size() == 2 && entry[std::size_t{0}].is_text();
}

Json from_library(const Library& value);

Json list_from(const Library& value) {
  Json list = Json::array();
  for (const Library& entry : value) list.push_back(from_library(entry));
  return list;
}

Json table_from(const Library& value) {
  Json table = Json::object();
  for (const auto& member : value.items())
    table[member.key()] = from_library(member.value());
  return table;
}

Json from_library(const Library& value) {
  switch (value.type()) {
    case Library::value_t::boolean: return value.get<bool>();
    case Library::value_t::number_integer: return value.get<long long>();
    case Library::value_t::number_unsigned: return value.get<unsigned long long>();
    case Library::value_t::number_float: return value.get<double>();
    case Library::value_t::string: return value.get<std::string>();
    case Library::value_t::array: return list_from(value);
    case Library::value_t::object: return table_from(value);
    default: return nullptr;
  }
}

/// A key that stands twice in a table would silently win over the first one.
class Keys {
 public:
  void see(Library::parse_event_t event, const Library& value) {
    if (event == Library::parse_event_t::object_start) open_.emplace_back();
    if (event == Library::parse_event_t::object_end) open_.pop_back();
    if (event != Library::parse_event_t::key) return;
    const auto key = value.get<std::string>();
    if (!open_.back().insert(key).second)
      throw JsonError(fmt::format("the key '{}' stands twice", key), 0);
  }

 private:
  std::vector<std::set<std::string>> open_;  // of the tables that are open
};

}  // namespace

struct JsonText {
  Library operator()(const Json::List& list) const {
    Library result = Library::array();
    for (const Json& entry : list) result.push_back(std::visit(*this, entry.value_));
    return result;
  }
  Library operator()(const Json::Table& table) const {
    Library result = Library::object();
    auto& members = result.get_ref<Library::object_t&>();
    members.reserve(table.size());
    // To the end, without a look at those before it.
    for (const auto& [key, value] : table) members.emplace_back(key, std::visit(*this, value.value_));
    return result;
  }
  Library operator()(const auto& value) const { return value; }

  static Library of(const Json& json) { return std::visit(JsonText(), json.value_); }
};

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(bool value) : value_(value) {}
Json::Json(long long value) : value_(value) {}
Json::Json(unsigned long long value) : value_(value) {
  if (std::in_range<long long>(value)) value_ = static_cast<long long>(value);
}
Json::Json(double value) : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::initializer_list<Json> entries) {
  if (!std::all_of(entries.begin(), entries.end(), is_member)) {
    value_ = List(entries);
    return;
  }
  Table table;
  for (const Json& entry : entries)
    table.push_back({entry[std::size_t{0}].text(), entry[std::size_t{1}]});
  value_ = std::move(table);
}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json Json::array(std::initializer_list<Json> entries) {
  Json json;
  json.value_ = List(entries);
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Table();
  return json;
}

bool Json::is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
bool Json::is_boolean() const { return std::holds_alternative<bool>(value_); }
bool Json::is_number() const { return is_whole() || std::holds_alternative<double>(value_); }
bool Json::is_whole() const {
  return std::holds_alternative<long long>(value_) ||
         std::holds_alternative<unsigned long long>(value_);
}
bool Json::is_text() const { return std::holds_alternative<std::string>(value_); }
bool Json::is_list() const { return std::holds_alternative<List>(value_); }
bool Json::is_table() const { return std::holds_alternative<Table>(value_); }

double Json::number() const {
  if (const auto* whole = std::get_if<long long>(&value_)) return static_cast<double>(*whole);
  if (const auto* large = std::get_if<unsigned long long>(&value_))
    return static_cast<double>(*large);
  return std::get<double>(value_);
}

long long Json::whole() const {
  const auto* value = std::get_if<long long>(&value_);
  return value != nullptr ? *value : -1;
}

const std::string& Json::text() const { return std::get<std::string>(value_); }
const Json::List& Json::list() const { return std::get<List>(value_); }
const Json::Table& Json::members() const { return std::get<Table>(value_); }

std::size_t Json::size() const {
  if (is_list()) return list().size();
  if (is_table()) return members().size();
  return is_null() ? 0 : 1;
}

void Json::push_back(Json value) {
  if (is_null()) value_ = List();
  std::get<List>(value_).push_back(std::move(value));
}

bool Json::contains(std::string_view key) const {
  return is_table() && std::any_of(members().begin(), members().end(),
                                   [&](const Member& member) { return member.key == key; });
}

const Json& Json::operator[](std::string_view key) const {
  static const Json nothing;
  for (const Member& member : members())
    if (member.key == key) return member.value;
  return nothing;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Table();
  auto& table = std::get<Table>(value_);
  for (Member& member : table)
    if (member.key == key) return member.value;
  return table.emplace_back(Member{std::string(key)}).value;
}

void Json::add(std::string key, Json value) {
  if (is_null()) value_ = Table();
  std::get<Table>(value_).push_back({std::move(key), std::move(value)});
}

void Json::erase(std::string_view key) {
  std::erase_if(std::get<Table>(value_), [&](const Member& member) { return member.key == key; });
}

std::string Json::dump(int indent) const { return JsonText::of(*this).dump(indent); }

Json parse_json(std::string_view text) {
  Keys keys;
  try {
    const auto watch = [&](int depth, Library::parse_event_t event, const Library& value) {
      if (depth > deepest)
        throw JsonError(
            fmt::format("not JSON that can be read: nested more than {} deep", deepest), 0);
      keys.see(event, value);
      return true;
    };
    return from_library(Library::parse(text, watch));
  } catch (const Library::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: what ..."
    std::string what = error.what();
    const std::size_t start = what.find(": ");
    if (start != std::string::npos) what = what.substr(start + 2);
    throw JsonError("not JSON: " + what, error.byte > 0 ? error.byte - 1 : 0);
  } catch (const Library::out_of_range& error) {
    // "... number overflow parsing '1e999'": the library does not say where.
    const std::string what = error.what();
    const std::size_t quote = what.find('\'');
    const std::string number = quote == std::string::npos ? "" : what.substr(quote + 1, what.rfind('\'') - quote - 1);
    const std::size_t place = number.empty() ? std::string::npos : text.find(number);
    throw JsonError(fmt::format("not JSON that can be read: {} is no double", number), place == std::string::npos ? 0 : place);
  }
}

Json to_json(double value) {
  if (std::isnan(value)) return nullptr;  // not known
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

Json to_json(const Vector& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(to_json(value));
  return list;
}

Json count_to_json(const Integer& number) {
  if (number <= exact_in_json) return std::stol(number.str());
  return number.str();
}

}  // namespace perp::io
