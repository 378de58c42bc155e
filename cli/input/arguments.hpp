#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <perp/models/language/read_model.hpp>

namespace perp::cli {

/// A finite number; `what` names it in the message. Throws InvalidInput.
double parse_number(std::string_view text, std::string_view what);

/// The parts of "a,b(1,2),c" at the commas outside of parentheses, without spaces around them.
std::vector<std::string> split_list(std::string_view text);

/// NAME=VALUE. Throws InvalidInput; `option` is named in the message.
Override parse_assignment(std::string_view text, std::string_view option);

/// Times "0,0.5,1", or a file with one time a line or separated by commas or blanks; '#' starts a
/// comment. They must increase. `texts`, if given, become what stands there for each. Throws
/// InvalidInput, FileError.
std::vector<double> parse_times(const std::string& text,
                                std::vector<std::string>* texts = nullptr);

/// Step lengths "0.1,0.05" or FIRST:LAST:COUNT, evenly spaced on a logarithmic scale; positive,
/// different, largest first. Throws InvalidInput.
std::vector<double> parse_step_lengths(const std::string& text);

/// Index of a name. Throws InvalidInput with the nearest known one; `kind` is e.g. "variable".
std::size_t find_name(const std::string& name, const std::vector<std::string>& known,
                      std::string_view kind);

/// Line and column, counted from 1, of a byte of a text.
std::pair<int, int> line_and_column(std::string_view text, std::size_t byte);

/// The whole text of a file. Throws FileError for a missing file or a directory.
std::string read_file(const std::string& file);

}  // namespace perp::cli
