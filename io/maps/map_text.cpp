// The summary of a map.
#include <fmt/format.h>

#include <perp/io/maps/map_text.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {

std::string map_text(const Model& model, const MapRequest& request, const ParameterMap& map) {
  std::string text = fmt::format("model    {}\nmap      {}: {}\n", title(model),
                                 request.quantity->name, request.quantity->meaning);
  for (const MapAxis& axis : map.axes)
    text += fmt::format("over     {} from {} to {}, {} values\n", axis.name, axis.first, axis.last,
                        axis.count);
  std::vector<long> counts(map.regions.size(), 0);
  for (const int region : map.region) ++counts[static_cast<std::size_t>(region)];
  TextTable table({"points", "region"});
  for (std::size_t k = 0; k < counts.size(); ++k)
    table.add({fmt::format("{}", counts[k]), map.regions[k]});
  return text + table.text();
}

}  // namespace perp::io
