#pragma once

#include <optional>
#include <string>
#include <vector>

namespace perp::io {

/// "u" of "u[3,4]"; empty: a name without indices.
std::string array_of(const std::string& name);

/// 3 and 4 of "u[3,4]"; nothing where something else is in the brackets, or there are none.
std::optional<std::vector<int>> indices_of(const std::string& name);

/// "u[1:100,1:100]" of the elements from u[1,1] to u[100,100], the last index changing first; empty where `count` names from the
/// first to the last are not one array.
std::string range_of_array(const std::string& first, const std::string& last, std::size_t count);

/// The names, separated by commas; of many those of one array in one.
std::string names_text(const std::vector<std::string>& names);

}  // namespace perp::io
