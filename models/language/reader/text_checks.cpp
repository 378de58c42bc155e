#include <fmt/format.h>

#include <perp/models/language/reader/document.hpp>

namespace perp::reader {
namespace {

unsigned byte_at(std::string_view text, std::size_t k) {
  return k < text.size() ? static_cast<unsigned char>(text[k]) : 0;
}

/// Length of a UTF-8 sequence that begins with this byte; 0: none does.
std::size_t length_by_first(unsigned first) {
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  return first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
}

/// May the second byte of a sequence follow the first? No overlong forms, no surrogates, nothing above U+10FFFF.
bool may_follow(unsigned first, unsigned second) {
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  return second >= least && second <= most;
}

/// Length of the well-formed UTF-8 sequence at k, or 0.
std::size_t sequence_length(std::string_view text, std::size_t k) {
  const unsigned first = byte_at(text, k);
  const std::size_t length = length_by_first(first);
  if (length <= 1) return length;
  if (k + length > text.size() || !may_follow(first, byte_at(text, k + 1))) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte_at(text, k + i) & 0xC0U) != 0x80U) return 0;
  return length;
}

std::size_t end_of_line(std::string_view text, std::size_t k) {
  const std::size_t end = text.find('\n', k);
  return end == std::string_view::npos ? text.size() : end;
}

/// Length of the TOML string on one line that begins at k; the end of the line ends it too.
std::size_t short_string_length(std::string_view text, std::size_t k) {
  const char quote = text[k];
  for (std::size_t at = k + 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\')
      ++at;
    else if (text[at] == quote || text[at] == '\n')
      return at + 1 - k;
  }
  return text.size() - k;
}

/// Length of the TOML string in three quotes each that begins at k.
std::size_t long_string_length(std::string_view text, std::size_t k) {
  const char quote = text[k];
  const std::string three(3, quote);
  for (std::size_t at = k + 3; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text.substr(at, 3) == three) {
      at += 3;
      while (at < text.size() && text[at] == quote) ++at;  // quotes at the end of the string
      return at - k;
    }
  }
  return text.size() - k;
}

/// Length of the TOML string or the comment that begins at k; 0 where none does.
std::size_t quoted_length(std::string_view text, std::size_t k) {
  const char c = text[k];
  if (c == '#') return end_of_line(text, k) - k;
  if (c != '"' && c != '\'') return 0;
  const bool long_form = text.substr(k, 3) == std::string(3, c);
  return long_form ? long_string_length(text, k) : short_string_length(text, k);
}

/// How many brackets are open at a place, and how many dots the key before it holds.
struct Nesting {
  int brackets = 0;
  int dots = 0;

  void pass(char c) {
    if (c == '[' || c == '{') ++brackets;
    if ((c == ']' || c == '}') && brackets > 0) --brackets;
    if (std::string_view(",=[]{}\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '.') ++dots;
  }
};

/// The parser recurses, and its tables are destroyed recursively: neither brackets nor the parts of
/// a key may be nested without end.
TextProblem check_nesting(std::string_view text) {
  constexpr int most_brackets = 32;
  constexpr int most_parts = 16;
  Nesting nesting;
  for (std::size_t k = 0; k < text.size();) {
    if (const std::size_t length = quoted_length(text, k); length > 0) {
      k += length;
      continue;
    }
    nesting.pass(text[k]);
    if (nesting.brackets > most_brackets)
      return {k, fmt::format("brackets are nested deeper than {} levels", most_brackets)};
    if (nesting.dots >= most_parts)
      return {k, fmt::format("a key has more than {} parts", most_parts)};
    ++k;
  }
  return {};
}

/// Is it a character that stands in no text?
bool is_control(unsigned c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
}

/// Is it a character of one byte as most of a text are: a printed one of ASCII, or the end of a line?
bool is_plain(char c) { return (c >= 0x20 && c < 0x7F) || c == '\n'; }

/// Whether the bytes are UTF-8 and characters of a text.
TextProblem check_characters(std::string_view text) {
  for (std::size_t k = start_of_text(text); k < text.size();) {
    if (is_plain(text[k])) {
      ++k;
      continue;
    }
    const std::size_t length = sequence_length(text, k);
    if (length == 0)
      return {k, fmt::format("byte 0x{:02X} is not UTF-8; expected a text file", byte_at(text, k))};
    if (const unsigned c = byte_at(text, k); is_control(c))
      return {k, fmt::format("control character 0x{:02X}; expected a text file", c)};
    k += length;
  }
  return {};
}

/// Does anything stand in the text beside white space and comments?
bool holds_something(std::string_view text) {
  bool comment = false;
  for (const char c : text.substr(start_of_text(text))) {
    if (c == '\n') comment = false;
    if (c == '#') comment = true;
    if (!comment && static_cast<unsigned char>(c) > 0x20) return true;
  }
  return false;
}

}  // namespace

TextProblem check_text(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return {0, "the file is UTF-16; expected UTF-8"};
  if (TextProblem problem = check_characters(text); !problem.message.empty()) return problem;
  if (!holds_something(text))
    return {0, "there is nothing in the file; expected [parameters], [variables], [system], [run]"};
  return check_nesting(text);
}

}  // namespace perp::reader
