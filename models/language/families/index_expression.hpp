#pragma once

#include <cctype>
#include <optional>
#include <string>
#include <string_view>

#include <perp/models/language/families/family_text.hpp>

namespace perp {

inline bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
inline bool continues_word(char c) {
  return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}
/// The name at this byte, empty: none begins there.
std::string_view word_at(std::string_view text, std::size_t at);
/// The end of the digits, letters and points at this byte, as in 1.5e3.
std::size_t end_of_number(std::string_view text, std::size_t at);
std::size_t skip_space(std::string_view text, std::size_t at);
std::string_view trimmed(std::string_view text);
/// "i = 3, j = 1"
std::string text_of(const Indices& indices);

/// Numbers and conditions of indices and parameters, which are known when a file is read. Offsets
/// of errors are those of the whole text, in which this one begins at `offset`.
class IndexExpression {
 public:
  IndexExpression(std::string_view text, std::size_t offset, const Indices& indices,
                  const Families& families)
      : text_(text), offset_(offset), indices_(indices), families_(families) {}

  double value();
  /// Of a condition; none where it holds anything else, or no index.
  std::optional<bool> condition();

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& message) const;
  [[nodiscard]] bool is_decidable() const;
  double sum();
  double product();
  double sign();
  double primary();
  /// An index, a parameter or a call of mod.
  double named_value(std::string_view word);
  /// A number as it is written.
  double literal();
  double remainder(std::size_t start);
  bool disjunction();
  bool conjunction();
  bool relation();
  bool take(std::string_view symbol);
  void expect(std::string_view symbol);

  std::string_view text_;
  std::size_t offset_;
  const Indices& indices_;
  const Families& families_;
  std::size_t at_ = 0;
};

}  // namespace perp
