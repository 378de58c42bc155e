#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace perp::io {

/// A finite number; `what` names it in the message. Throws InvalidInput.
double parse_number(std::string_view text, std::string_view what);

/// A text without the blanks around it.
std::string_view trimmed(std::string_view text);

/// Line and column, counted from 1, of a byte of a text.
std::pair<int, int> line_and_column(std::string_view text, std::size_t byte);

/// The whole text of a file. Throws FileError for a missing file or a directory.
std::string read_file(const std::string& file);

}  // namespace perp::io
