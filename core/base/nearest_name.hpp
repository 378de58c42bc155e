#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perp {

/// The known name with the smallest edit distance (case differences cost half), or an empty string
/// if none is near enough to be meant.
std::string nearest_name(std::string_view found, std::span<const std::string> known);

/// "; did you mean 'sign'?" or an empty string.
std::string suggestion(std::string_view found, std::span<const std::string> known);

/// Index of a name. Throws InvalidInput with the nearest known one; `kind` is e.g. "variable".
std::size_t find_name(const std::string& name, const std::vector<std::string>& known,
                      std::string_view kind);

}  // namespace perp
