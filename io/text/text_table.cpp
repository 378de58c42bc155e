#include <fmt/format.h>
#include <algorithm>

#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string TextTable::text(const std::string& indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], width_of(row[j]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = indent;
    for (std::size_t j = 0; j < row.size(); ++j) {
      line += row[j];
      if (j + 1 < row.size()) line.append(widths[j] - width_of(row[j]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string short_number(double value) {
  return fmt::format("{:.10g}", value == 0 ? 0.0 : value);  // no "-0"
}

}  // namespace perp::io
