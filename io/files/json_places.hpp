#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace perp::io {

/// A step into a JSON value: a member's key, or an index into a list.
struct JsonStep {
  std::string key;
  std::size_t index = 0;
  bool is_index = false;

  JsonStep(const char* member) : key(member) {}             // NOLINT: implicit on purpose
  JsonStep(std::string member) : key(std::move(member)) {}  // NOLINT
  JsonStep(std::size_t position) : index(position), is_index(true) {}  // NOLINT
};
using JsonPath = std::vector<JsonStep>;

/// First byte of the value at `path` in a text that is known to be JSON, or of the deepest value on
/// the way that is there. JSON libraries forget where a value stood.
std::size_t json_place(std::string_view text, const JsonPath& path);

}  // namespace perp::io
