#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <perp/models/language/read_model.hpp>

namespace perp::cli {

/// The parts of "a,b(1,2),c" at the commas outside of parentheses, without spaces around them.
std::vector<std::string> split_list(std::string_view text);

/// NAME=VALUE. Throws InvalidInput; `option` is named in the message.
Override parse_assignment(std::string_view text, std::string_view option);

/// Times "0,0.5,1", or a file with one time a line or separated by commas or blanks; '#' starts a
/// comment. They must increase. `texts`, if given, become what stands there for each. Throws
/// InvalidInput, FileError.
std::vector<double> parse_times(const std::string& text,
                                std::vector<std::string>* texts = nullptr);

/// The parts of FIRST:LAST:COUNT; nothing: there are fewer.
std::optional<std::array<std::string, 3>> split_points(const std::string& range);
/// Is it a whole number from 2 to `most`?
bool is_count(double number, double most);

/// Throws InvalidInput unless --max-nodes, where it is given, is positive.
void check_max_nodes(const std::optional<long>& max_nodes);

/// Seconds of "10s", "500ms", "5min", "2h" or "10", above 0. Throws InvalidInput.
double parse_duration(const std::string& text, const std::string& option);

/// Step lengths "0.1,0.05" or FIRST:LAST:COUNT, evenly spaced on a logarithmic scale; positive,
/// different, largest first. Throws InvalidInput.
std::vector<double> parse_step_lengths(const std::string& text);

}  // namespace perp::cli
