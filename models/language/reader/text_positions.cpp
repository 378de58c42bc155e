#include <algorithm>

#include <perp/models/language/reader/document.hpp>

namespace perp::reader {
namespace {

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

}  // namespace perp::reader
