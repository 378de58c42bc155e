#pragma once

#include <string>
#include <string_view>

namespace perp::reader {

/// The hash of a model that holds data of a file, too.
std::string hash_with_file(const std::string& hash, std::string_view content);

}  // namespace perp::reader
