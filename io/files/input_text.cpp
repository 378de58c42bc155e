// Files and numbers as they are read, with the place of what is wrong.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <perp/core/base/error.hpp>
#include <perp/io/files/input_text.hpp>

namespace perp::io {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

double parse_number(std::string_view text, std::string_view what) {
  const std::string number(trimmed(text));
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || !std::isfinite(value))
    throw InvalidInput(fmt::format("{} is '{}'; expected a finite number", what, text));
  return value;
}

std::pair<int, int> line_and_column(std::string_view text, std::size_t byte) {
  int line = 1;
  int column = 1;
  for (std::size_t k = 0; k < std::min(byte, text.size()); ++k) {
    if (text[k] == '\n') {
      ++line;
      column = 1;
    } else if ((static_cast<unsigned char>(text[k]) & 0xC0U) != 0x80U) {
      ++column;
    }
  }
  return {line, column};
}

std::string read_file(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw FileError(fmt::format("{}:1:1: is a directory; expected a file", file));
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw FileError(fmt::format("{}:1:1: cannot be opened; expected a file", file));
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) throw FileError(fmt::format("{}:1:1: cannot be read", file));
  return text;
}

}  // namespace perp::io
