#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <perp/core/base/digest.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp::reader {

/// A place in a text; both count from 1, columns in code points.
struct Position {
  int line = 1;
  int column = 1;
};

struct Member;

/// One value of a model file: the tree that all readers work on, in the order of the file.
struct Value {
  enum class Kind { number, text, boolean, date, list, table };

  Kind kind = Kind::number;
  int source = 0;  ///< index of the text it stands in: 0 the file, k the k-th override
  Position at{};
  double number = 0;  // a boolean is 0 or 1
  std::string text{};
  /// Of a text that is not as it stands in the file: which element of a family it is.
  std::string instance{};
  std::vector<Value> items;     // of a list
  std::vector<Member> members;  // of a table, in the order of the file

  /// The member of that key, or nullptr.
  [[nodiscard]] const Member* find(std::string_view key) const;
};

struct Member {
  std::string key;
  Position at{};
  Value value{};
};

/// Of a file and overrides of it, as Model::hash is.
std::string hash_of(Digest file, const std::vector<Override>& overrides);

/// "a number", "text", "a list", ...
const char* describe(Value::Kind kind);

/// A model file and the overrides: the texts, for messages that name the place, and the tree.
class Document {
 public:
  /// Throws ModelError where the text is not UTF-8 or not TOML.
  Document(std::string text, std::string name, const std::vector<Override>& overrides);

  /// The same file with other overrides; it is not parsed again.
  [[nodiscard]] Document with(const std::vector<Override>& overrides) const;

  /// The same file with another tree, whose values stand where they did.
  [[nodiscard]] Document with_root(Value root) const;

  [[nodiscard]] const Value& root() const { return *root_; }
  [[nodiscard]] const std::vector<Override>& overrides() const { return overrides_; }
  [[nodiscard]] const std::string& file() const { return sources_[0].name; }
  /// Of the file.
  [[nodiscard]] const std::string& text() const { return sources_[0].text; }
  /// Of this text.
  [[nodiscard]] const Digest& digest() const { return digest_; }
  /// A number of the file as it stands there, in the words of expressions.
  [[nodiscard]] std::string literal(const Value& number) const;
  /// Override k as messages call it: "--set KEY=VALUE".
  [[nodiscard]] const std::string& override_name(std::size_t k) const { return sources_[k + 1].name; }
  /// The value of override k as text, at its place behind '='.
  [[nodiscard]] Value override_value(std::size_t k) const;

  /// Throw a ModelError that names the place.
  [[noreturn]] void fail(const Value& value, const std::string& message) const;
  [[noreturn]] void fail(const Member& member, const std::string& message) const;
  /// At byte `offset` of a text value.
  [[noreturn]] void fail(const Value& value, std::size_t offset, const std::string& message) const;
  /// At the key of override k.
  [[noreturn]] void fail_override(std::size_t k, const std::string& message) const;

 private:
  struct Source {
    std::string name;
    std::string text;
  };

  Document() = default;
  void add_overrides(const std::vector<Override>& overrides);
  [[noreturn]] void fail(int source, Position at, const std::string& message) const;

  std::vector<Source> sources_;
  Digest digest_;
  std::vector<Override> overrides_;
  std::shared_ptr<const Value> root_;
};

/// Is it a byte within a sequence of UTF-8, not the first one?
inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Where a text begins: behind its byte order mark, if it has one.
inline std::size_t start_of_text(std::string_view text) { return text.starts_with("\xEF\xBB\xBF") ? 3 : 0; }

/// Place of byte `offset` of the decoded string whose literal starts at `at` in `text`.
Position position_in_literal(std::string_view text, Position at, std::size_t offset);

/// Byte offset of a place in a text; its size where the place is outside.
std::size_t byte_offset(std::string_view text, Position at);

/// Place of a byte.
Position position_of(std::string_view text, std::size_t offset);

/// A problem of the text before any TOML: an encoding that is not UTF-8, a control character,
/// nothing in it, or nesting without end. `message` is empty where there is none.
struct TextProblem {
  std::size_t offset = 0;
  std::string message{};
};
TextProblem check_text(std::string_view text);

/// What a TOML parser has to say against a text, or the tree.
struct TomlResult {
  Value root{};
  Position at{};
  std::string error{};  ///< empty: the tree is whole
};
TomlResult parse_toml(std::string_view text);

}  // namespace perp::reader
