#include <algorithm>

#include <perp/models/language/reader/document.hpp>

namespace perp::reader {
namespace {

constexpr std::string_view white_space = " \t\r\n";

/// The place behind the character at k.
std::size_t next_character(std::string_view text, std::size_t k) {
  ++k;
  while (k < text.size() && is_continuation(text[k])) ++k;
  return k;
}

/// How many bytes of source and of decoded text the piece at k stands for.
struct Piece {
  std::size_t source = 1;
  std::size_t decoded = 1;
};

/// The number that at most so many hexadecimal digits at k stand for.
unsigned long code_point(std::string_view text, std::size_t k, std::size_t digits) {
  unsigned long code = 0;
  for (const char c : text.substr(std::min(k, text.size()), digits))
    code = code * 16 + static_cast<unsigned long>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  return code;
}

/// Number of bytes of a code point in UTF-8.
std::size_t encoded_length(unsigned long code) {
  return code < 0x80 ? 1U : code < 0x800 ? 2U : code < 0x10000 ? 3U : 4U;
}

/// The escape sequence at k.
Piece escaped_piece(std::string_view text, std::size_t k) {
  const char kind = k + 1 < text.size() ? text[k + 1] : '\0';
  if (kind == 'u' || kind == 'U') {
    const std::size_t digits = kind == 'u' ? 4 : 8;
    return {2 + digits, encoded_length(code_point(text, k + 2, digits))};
  }
  if (white_space.find(kind) != std::string_view::npos) {  // line continuation
    const std::size_t next = text.find_first_not_of(white_space, k + 1);
    return {std::min(next, text.size()) - k, 0};
  }
  return {2, 1};
}

/// Where the content of the string begins whose quotes begin at k: a line's end behind three quotes is no part of it.
std::size_t start_of_content(std::string_view text, std::size_t k) {
  if (text.substr(k, 3) != std::string(3, text[k])) return k + 1;
  k += 3;
  if (text.substr(k, 2) == "\r\n") return k + 2;
  return text.substr(k, 1) == "\n" ? k + 1 : k;
}

}  // namespace

std::size_t byte_offset(std::string_view text, Position at) {
  std::size_t k = 0;
  for (int line = 1; line < at.line; ++line) {
    k = text.find('\n', k);
    if (k == std::string_view::npos) return text.size();
    ++k;
  }
  if (at.line == 1) k = start_of_text(text);
  for (int column = 1; column < at.column && k < text.size() && text[k] != '\n'; ++column)
    k = next_character(text, k);
  return k;
}

Position position_of(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  Position at;
  std::size_t k = start_of_text(text);
  for (; k < offset; ++k) {
    if (text[k] == '\n') {
      ++at.line;
      at.column = 1;
    } else if (!is_continuation(text[k])) {
      ++at.column;
    }
  }
  return at;
}

Position position_in_literal(std::string_view text, Position at, std::size_t offset) {
  std::size_t k = byte_offset(text, at);
  if (k >= text.size() || (text[k] != '"' && text[k] != '\'')) return at;
  const char quote = text[k];
  k = start_of_content(text, k);
  for (std::size_t decoded = 0; k < text.size();) {
    const Piece piece = quote == '"' && text[k] == '\\' ? escaped_piece(text, k) : Piece{};
    if (decoded + piece.decoded > offset) break;
    decoded += piece.decoded;
    k += piece.source;
  }
  return position_of(text, k);
}

}  // namespace perp::reader
