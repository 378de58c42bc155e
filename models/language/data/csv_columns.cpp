// CSV files of data: read_input_table takes their columns.
#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/models/language/data/csv_columns.hpp>

namespace perp::reader {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Of the header: what occurs there, outside of quotes.
char separator_of(std::string_view header) {
  bool is_quoted = false;
  std::string_view found;
  for (const char c : header) {
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == ',') return ',';
    if (c == ';' || (c == '\t' && found.empty())) found = c == ';' ? ";" : "\t";
  }
  return found.empty() ? ',' : found.front();
}

/// Where the field that begins at this byte ends: at a separator outside of quotes, or with the line.
std::size_t end_of_field(std::string_view line, std::size_t from, char separator) {
  bool is_quoted = false;
  std::size_t end = from;
  for (; end < line.size() && (is_quoted || line[end] != separator); ++end)
    if (line[end] == '"') is_quoted = !is_quoted;
  return end;
}

/// Appends the fields of a line, without spaces and quotes around them.
void split(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  for (std::size_t from = 0;;) {
    const std::size_t end = end_of_field(line, from, separator);
    std::string_view field = trimmed(line.substr(from, end - from));
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
      field = trimmed(field.substr(1, field.size() - 2));
    fields.push_back(field);
    if (end >= line.size()) return;
    from = end + 1;
  }
}

}  // namespace

CsvColumns::CsvColumns(std::string text, std::string name)
    : text_(std::move(text)), name_(std::move(name)) {
  std::string_view rest = text_;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  char separator = ',';
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (trimmed(line).empty() || trimmed(line).front() == '#') continue;
    if (header_.empty()) {
      separator = separator_of(line);
      std::vector<std::string_view> names;
      split(line, separator, names);
      header_.assign(names.begin(), names.end());
      continue;
    }
    const std::size_t before = fields_.size();
    split(line, separator, fields_);
    if (fields_.size() - before != header_.size())
      throw InvalidInput(fmt::format("{}:{}:1: found {} fields; expected {}, as in the header",
                                     name_, number, fields_.size() - before, header_.size()));
    lines_.push_back(number);
  }
  if (lines_.empty())
    throw InvalidInput(fmt::format(
        "{}:1:1: found no row of numbers; expected a line of names and rows below it", name_));
}

std::vector<double> CsvColumns::numbers(int column) const {
  std::vector<double> list;
  list.reserve(lines_.size());
  for (int row = 0; row < rows(); ++row) {
    std::string_view field = fields_[at(row) * header_.size() + at(column)];
    const std::string_view whole = field;
    if (field.starts_with('+')) field.remove_prefix(1);
    double value = 0;
    const auto result = std::from_chars(field.data(), field.data() + field.size(), value);
    if (field.empty() || result.ec != std::errc{} || result.ptr != field.data() + field.size() ||
        !std::isfinite(value))
      throw InvalidInput(fmt::format("{}:{}:1: found '{}' in column '{}'; expected a number", name_,
                                     line(row), whole, header_[at(column)]));
    list.push_back(value);
  }
  return list;
}

}  // namespace perp::reader
