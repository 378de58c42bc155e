// Evenly spaced values as they are written: called by the command line and by Python.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/sweep/sweep_points.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/sweep/spaced_values.hpp>

namespace perp::io {
namespace {

constexpr double most_values = 1e6;  // on one axis

std::vector<std::string> split_at_colons(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// How many values are asked for.
int count_of(const std::string& text, const std::string& what) {
  const double count = parse_number(text, what);
  if (!(count >= 2 && count <= most_values) || count != std::floor(count))
    throw InvalidInput(fmt::format("{}: the count is {}; expected a whole number from 2 to {:.0f}", what, count, most_values));
  return static_cast<int>(count);
}

}  // namespace

std::vector<double> spaced_values(const std::string& text, const std::string& what) {
  const std::vector<std::string> parts = split_at_colons(text);
  const bool is_log = parts.size() == 4 && parts[3] == "log";
  if (parts.size() != 3 && !is_log)
    throw InvalidInput(fmt::format("{}={}: expected FIRST:LAST:COUNT, FIRST:LAST:COUNT:log or a list v1,v2,...", what, text));
  const double first = parse_number(parts[0], what), last = parse_number(parts[1], what);
  const int count = count_of(parts[2], what);
  if (is_log && std::min(first, last) <= 0)
    throw InvalidInput(fmt::format("{}={}: expected ends > 0 on a logarithmic scale", what, text));
  return is_log ? log_spaced(first, last, count) : evenly_spaced(first, last, count);
}

}  // namespace perp::io
