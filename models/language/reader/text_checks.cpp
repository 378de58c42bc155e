#include <fmt/format.h>

#include <perp/models/language/reader/document.hpp>

namespace perp::reader {
namespace {

unsigned byte_at(std::string_view text, std::size_t k) {
  return k < text.size() ? static_cast<unsigned char>(text[k]) : 0;
}

/// Length of the well-formed UTF-8 sequence at k, or 0.
std::size_t sequence_length(std::string_view text, std::size_t k) {
  const unsigned first = byte_at(text, k);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || k + length > text.size()) return 0;
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  const unsigned second = byte_at(text, k + 1);
  if (second < least || second > most) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte_at(text, k + i) & 0xC0U) != 0x80U) return 0;
  return length;
}

std::size_t end_of_line(std::string_view text, std::size_t k) {
  const std::size_t end = text.find('\n', k);
  return end == std::string_view::npos ? text.size() : end;
}

/// Length of the TOML string or the comment that begins at k; 0 where none does.
std::size_t quoted_length(std::string_view text, std::size_t k) {
  const char c = text[k];
  if (c == '#') return end_of_line(text, k) - k;
  if (c != '"' && c != '\'') return 0;
  const std::string three(3, c);
  const bool long_form = text.substr(k, 3) == three;
  for (std::size_t at = k + (long_form ? 3 : 1); at < text.size(); ++at) {
    if (c == '"' && text[at] == '\\') {
      ++at;
    } else if (long_form && text.substr(at, 3) == three) {
      at += 3;
      while (at < text.size() && text[at] == c) ++at;  // quotes at the end of the string
      return at - k;
    } else if (!long_form && (text[at] == c || text[at] == '\n')) {
      return at + 1 - k;
    }
  }
  return text.size() - k;
}

/// The parser recurses, and its tables are destroyed recursively: neither brackets nor the parts of
/// a key may be nested without end.
TextProblem check_nesting(std::string_view text) {
  constexpr int most_brackets = 32;
  constexpr int most_parts = 16;
  int brackets = 0;
  int dots = 0;
  for (std::size_t k = 0; k < text.size();) {
    if (const std::size_t length = quoted_length(text, k); length > 0) {
      k += length;
      continue;
    }
    const char c = text[k];
    if (c == '[' || c == '{') ++brackets;
    if ((c == ']' || c == '}') && brackets > 0) --brackets;
    if (std::string_view(",=[]{}\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '.') ++dots;
    if (brackets > most_brackets)
      return {k, fmt::format("brackets are nested deeper than {} levels", most_brackets)};
    if (dots >= most_parts) return {k, fmt::format("a key has more than {} parts", most_parts)};
    ++k;
  }
  return {};
}

}  // namespace

TextProblem check_text(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return {0, "the file is UTF-16; expected UTF-8"};
  bool something = false;
  bool comment = false;
  for (std::size_t k = text.starts_with("\xEF\xBB\xBF") ? 3 : 0; k < text.size();) {
    const std::size_t length = sequence_length(text, k);
    if (length == 0)
      return {k, fmt::format("byte 0x{:02X} is not UTF-8; expected a text file", byte_at(text, k))};
    const unsigned c = byte_at(text, k);
    if (c == 0 || (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F)
      return {k, fmt::format("control character 0x{:02X}; expected a text file", c)};
    if (c == '\n') comment = false;
    if (c == '#') comment = true;
    something = something || (!comment && c > 0x20);
    k += length;
  }
  if (!something)
    return {0, "there is nothing in the file; expected [parameters], [variables], [system], [run]"};
  return check_nesting(text);
}

}  // namespace perp::reader
