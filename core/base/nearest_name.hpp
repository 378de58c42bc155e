#pragma once

#include <span>
#include <string>
#include <string_view>

namespace perp {

/// The known name with the smallest edit distance (case differences cost half), or an empty string
/// if none is near enough to be meant.
std::string nearest_name(std::string_view found, std::span<const std::string> known);

/// "; did you mean 'sign'?" or an empty string.
std::string suggestion(std::string_view found, std::span<const std::string> known);

}  // namespace perp
