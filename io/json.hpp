#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/base/types.hpp>

namespace perp::io {

/// A JSON value; the members of a table keep their order.
class Json {
 public:
  struct Member;
  using List = std::vector<Json>;
  using Table = std::vector<Member>;

  Json();  ///< null
  Json(std::nullptr_t);
  Json(bool value);
  Json(long long value);
  Json(unsigned long long value);
  Json(std::integral auto value) : Json(widest(value)) {}
  Json(double value);  ///< null where it is not finite; see to_json
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  /// A table where every entry is a list of a text and a value, otherwise a list.
  Json(std::initializer_list<Json> entries);
  template <class T>
  Json(const std::vector<T>& values);
  template <class T, std::size_t n>
  Json(const std::array<T, n>& values);
  template <class T>
  Json(const std::map<std::string, T>& members);
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  static Json array(std::initializer_list<Json> entries = {});
  static Json object();

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_whole() const;  ///< a number written without fraction and exponent
  [[nodiscard]] bool is_text() const;
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_table() const;

  // Of values of these kinds only.
  [[nodiscard]] double number() const;
  [[nodiscard]] long long whole() const;  ///< -1 beyond its range
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const List& list() const;
  [[nodiscard]] const Table& members() const;

  /// Entries of a list, members of a table; 0 for null, otherwise 1.
  [[nodiscard]] std::size_t size() const;
  /// Null is made a list.
  void push_back(Json value);
  [[nodiscard]] const Json& operator[](std::size_t index) const { return list()[index]; }
  [[nodiscard]] bool contains(std::string_view key) const;
  /// The member, null where there is none.
  [[nodiscard]] const Json& operator[](std::string_view key) const;
  /// The member, made where there is none; null is made a table.
  Json& operator[](std::string_view key);
  /// Adds a member whose key stands nowhere else in the table, without looking; null is made a table.
  void add(std::string key, Json value);
  void erase(std::string_view key);

  /// As text; with `indent` 0 or more one value a line.
  [[nodiscard]] std::string dump(int indent = -1) const;

 private:
  friend struct JsonText;
  static auto widest(std::integral auto value) {
    if constexpr (std::signed_integral<decltype(value)>)
      return static_cast<long long>(value);
    else
      return static_cast<unsigned long long>(value);
  }

  /// Whole numbers are of the first type where it holds them.
  std::variant<std::nullptr_t, bool, long long, unsigned long long, double, std::string, List,
               Table>
      value_;
};

struct Json::Member {
  std::string key;
  Json value{};
};

template <class T>
Json::Json(const std::vector<T>& values) : value_(List(values.begin(), values.end())) {}

template <class T, std::size_t n>
Json::Json(const std::array<T, n>& values) : value_(List(values.begin(), values.end())) {}

template <class T>
Json::Json(const std::map<std::string, T>& members) : Json(object()) {
  for (const auto& [key, value] : members) add(key, value);
}

/// A text that is no JSON.
struct JsonError : std::runtime_error {
  JsonError(const std::string& what, std::size_t place) : std::runtime_error(what), byte(place) {}
  std::size_t byte;  ///< where it was noticed, from 0
};

/// The value of a text. Throws JsonError, also where a key stands twice in a table.
Json parse_json(std::string_view text);

/// A number; those that JSON has no word for are the texts "inf" and "-inf", null is not known.
Json to_json(double value);
Json to_json(const Vector& values);

/// A number where a double holds it, otherwise all its digits as a text.
Json count_to_json(const Integer& number);

}  // namespace perp::io
