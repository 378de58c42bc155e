#pragma once

#include <string>
#include <string_view>

namespace perp::reader {

/// Identity of what a model is read from: FNV-1a, 64 bits, over pieces of bytes, as 16 digits.
///@{
inline constexpr unsigned long long hash_of_nothing = 0xCBF29CE484222325ULL;
unsigned long long hash_with(unsigned long long hash, std::string_view bytes);
std::string hash_text(unsigned long long hash);
///@}

/// The hash of a model that holds data of a file, too.
std::string hash_with_file(const std::string& hash, std::string_view content);

}  // namespace perp::reader
