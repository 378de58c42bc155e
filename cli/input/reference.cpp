#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/reference.hpp>
#include <perp/core/error.hpp>

namespace perp::cli {
namespace {

/// Fields of one line of CSV.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (c == '"') {
      if (quoted && k + 1 < line.size() && line[k + 1] == '"')
        fields.back() += line[++k];
      else
        quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) {
    const std::size_t first = field.find_first_not_of(" \t");
    field = first == std::string::npos
                ? ""
                : field.substr(first, field.find_last_not_of(" \t") - first + 1);
  }
  return fields;
}

}  // namespace

Vector csv_row_at(const std::string& file, double t, const std::vector<std::string>& names) {
  const std::string text = read_file(file);
  const double tolerance = 1e-9 * std::max(1.0, std::abs(t));
  std::vector<std::string> header;
  Vector row;
  double nearest = inf;
  int number = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, end - from);
    from = end + 1;
    ++number;
    if (line.empty() || line == "\r" || line[0] == '#') continue;
    const std::vector<std::string> fields = fields_of(line);
    if (header.empty()) {
      if (fields.front() != "t")
        throw InvalidInput(fmt::format("{}:{}:1: the first column is '{}'; expected t", file,
                                       number, fields.front()));
      header = fields;
      continue;
    }
    const std::string place = fmt::format("{}:{}:1", file, number);
    if (fields.size() != header.size())
      throw InvalidInput(
          fmt::format("{}: found {} fields; expected {}", place, fields.size(), header.size()));
    const double distance = std::abs(parse_number(fields[0], place + ": t") - t);
    if (distance > tolerance || distance > nearest) continue;
    nearest = distance;
    row = Vector::Constant(static_cast<Eigen::Index>(names.size()), nan);
    for (std::size_t j = 0; j < names.size(); ++j) {
      const auto column = std::find(header.begin(), header.end(), names[j]);
      if (column == header.end()) continue;
      const std::string& field = fields[static_cast<std::size_t>(column - header.begin())];
      row[static_cast<Eigen::Index>(j)] = parse_number(field, place + ": " + names[j]);
    }
  }
  if (row.size() == 0)
    throw InvalidInput(fmt::format("{}: there is no row at t = {:.17g}", file, t));
  return row;
}

}  // namespace perp::cli
