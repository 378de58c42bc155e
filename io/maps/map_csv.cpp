#include <fmt/format.h>
#include <cmath>

#include <perp/io/files/output_file.hpp>
#include <perp/io/maps/map_csv.hpp>

namespace perp::io {
namespace {

/// The names of the columns.
void append_header(const ParameterMap& map, fmt::memory_buffer& buffer) {
  const auto to = std::back_inserter(buffer);
  for (const MapAxis& axis : map.axes) fmt::format_to(to, "{},", quoted(axis.name));
  for (const std::string& column : map.columns) fmt::format_to(to, "{},", quoted(column));
  fmt::format_to(to, "region\n");
}

}  // namespace

std::vector<std::string> write_csv(const std::string& file, const ParameterMap& map,
                                   const Json& provenance) {
  OutputFile out(file);
  fmt::memory_buffer& buffer = out.buffer();
  const auto to = std::back_inserter(buffer);
  append_header(map, buffer);
  std::vector<std::string> regions;
  for (const std::string& region : map.regions) regions.push_back(quoted(region));
  const double* number = map.numbers.data();
  for (std::size_t point = 0; point < map.points(); ++point) {
    for (std::size_t k = 0; k < map.axes.size(); ++k)
      fmt::format_to(to, "{},", map.axes[k].value(map.index(point, k)));
    for (std::size_t k = 0; k < map.columns.size(); ++k, ++number)
      if (std::isnan(*number))
        buffer.push_back(',');  // not known, or no number: the region says which
      else
        fmt::format_to(to, "{},", *number);
    fmt::format_to(to, "{}\n", regions[static_cast<std::size_t>(map.region[point])]);
    out.end_record();
  }
  out.close();
  if (file == "-") return {};
  write_file(file + ".json", provenance.dump(1) + "\n");
  return {file, file + ".json"};
}

}  // namespace perp::io
