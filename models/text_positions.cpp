#include <fmt/format.h>
#include <algorithm>

#include <perp/models/reader/document.hpp>

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

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// How many bytes of source and of decoded text the piece at k stands for.
struct Piece {
  std::size_t source = 1;
  std::size_t decoded = 1;
};

Piece escaped_piece(std::string_view text, std::size_t k) {
  const char kind = k + 1 < text.size() ? text[k + 1] : '\0';
  if (kind == 'u' || kind == 'U') {
    const std::size_t digits = kind == 'u' ? 4 : 8;
    unsigned long code = 0;
    for (std::size_t i = 0; i < digits && k + 2 + i < text.size(); ++i) {
      const char c = text[k + 2 + i];
      code = code * 16 + static_cast<unsigned long>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return {2 + digits, code < 0x80 ? 1U : code < 0x800 ? 2U : code < 0x10000 ? 3U : 4U};
  }
  if (kind == '\n' || kind == '\r' || kind == ' ' || kind == '\t') {  // line continuation
    const std::size_t next = text.find_first_not_of(" \t\r\n", k + 1);
    return {(next == std::string_view::npos ? text.size() : next) - k, 0};
  }
  return {2, 1};
}

}  // namespace

std::size_t byte_offset(std::string_view text, Position at) {
  std::size_t k = 0;
  for (int line = 1; line < at.line; ++line) {
    k = text.find('\n', k);
    if (k == std::string_view::npos) return text.size();
    ++k;
  }
  if (at.line == 1 && text.starts_with("\xEF\xBB\xBF")) k = 3;
  for (int column = 1; column < at.column && k < text.size() && text[k] != '\n'; ++column) {
    ++k;
    while (k < text.size() && is_continuation(text[k])) ++k;
  }
  return k;
}

Position position_of(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  Position at;
  std::size_t k = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
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
  const bool long_form = text.substr(k, 3) == std::string(3, quote);
  k += long_form ? 3 : 1;
  if (long_form && text.substr(k, 2) == "\r\n")
    k += 2;
  else if (long_form && text.substr(k, 1) == "\n")
    k += 1;
  for (std::size_t decoded = 0; k < text.size();) {
    const Piece piece = quote == '"' && text[k] == '\\' ? escaped_piece(text, k) : Piece{};
    if (decoded + piece.decoded > offset) break;
    decoded += piece.decoded;
    k += piece.source;
  }
  return position_of(text, k);
}

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
  return {};
}

}  // namespace perp::reader
