#include <fmt/format.h>
#include <algorithm>

#include <perp/core/base/error.hpp>
#include <perp/io/files/csv_file.hpp>
#include <perp/io/files/input_text.hpp>

namespace perp::io {
namespace {

bool has_quote(const std::string& line, std::size_t k) { return k < line.size() && line[k] == '"'; }

/// What stands between the commas of one line of CSV, quotes taken off.
std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (c == '"') {
      if (quoted && has_quote(line, k + 1))
        fields.back() += line[++k];
      else
        quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

/// Fields of one line of CSV.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields = split(line);
  for (std::string& field : fields) field = std::string(trimmed(field));
  return fields;
}

/// Calls take(line, number) for the lines from a byte on that are neither empty nor comments, until
/// it returns false. Returns the byte after the last line.
template <class Take>
std::size_t for_lines(const std::string& text, std::size_t from, int number, const Take& take) {
  while (from < text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, end - from);
    from = end + 1;
    ++number;
    if (line.empty() || line == "\r" || line[0] == '#') continue;
    if (!take(line, number)) break;
  }
  return from;
}

}  // namespace

CsvFile::CsvFile(const std::string& file, const std::string& first_column)
    : file_(file), text_(read_file(file)) {
  rows_at_ = for_lines(text_, 0, 0, [&](const std::string& line, int number) {
    header_ = fields_of(line);
    rows_from_ = number;
    return false;
  });
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; };
  for (const std::string& name : header_)
    if (std::any_of(name.begin(), name.end(), is_control))
      throw InvalidInput(fmt::format("{}:{}:1: is no text; expected a line with the names of columns", file, rows_from_));
  if (header_.empty())
    throw InvalidInput(
        fmt::format("{}:1:1: is empty; expected a line with the names of columns", file));
  if (header_.front() != first_column)
    throw InvalidInput(fmt::format("{}:{}:1: the first column is '{}'; expected {}", file,
                                   rows_from_, header_.front(), first_column));
}

int CsvFile::column(const std::string& name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  return found == header_.end() ? -1 : static_cast<int>(found - header_.begin());
}

void CsvFile::read(const std::function<void(const Row& row)>& take) const {
  for_lines(text_, rows_at_, rows_from_, [&](const std::string& line, int number) {
    const Row row{fmt::format("{}:{}:1", file_, number), fields_of(line)};
    if (row.fields.size() != header_.size())
      throw InvalidInput(fmt::format("{}: found {} fields; expected {}", row.place,
                                     row.fields.size(), header_.size()));
    take(row);
    return true;
  });
}

}  // namespace perp::io
