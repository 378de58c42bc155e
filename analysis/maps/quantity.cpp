#include <perp/analysis/maps/quantity_table.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp {

const std::vector<MapQuantity>& map_quantities() {
  static const std::vector<MapQuantity> all = [] {
    std::vector<MapQuantity> list;
    for (const MapQuantities* file : quantity_files::quantity_table())
      list.insert(list.end(), file->begin(), file->end());
    return list;
  }();
  return all;
}

const MapQuantity& map_quantity(const std::string& name) {
  std::vector<std::string> names;
  for (const MapQuantity& item : map_quantities()) names.emplace_back(item.name);
  return map_quantities()[find_name(name, names, "--what")];
}

}  // namespace perp
