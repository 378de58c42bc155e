#include <algorithm>

#include <perp/io/maps/map_provenance.hpp>

namespace perp::io {
namespace {

Json axes_to_json(const std::vector<MapAxis>& axes) {
  Json list = Json::array();
  for (const MapAxis& axis : axes)
    list.push_back(
        {{"name", axis.name}, {"first", axis.first}, {"last", axis.last}, {"count", axis.count}});
  return list;
}

/// As written: the value of a state may be an expression.
Json states_to_json(const std::vector<std::vector<Override>>& states) {
  Json list = Json::array();
  for (const std::vector<Override>& state : states) {
    Json item = Json::object();
    for (const Override& assignment : state) item[assignment.key] = assignment.value;
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace

Json map_provenance(const MapRequest& request, const Model& model, const ParameterMap& map,
                    const std::vector<std::string>& set) {
  Json regions = Json::array();
  for (std::size_t k = 0; k < map.regions.size(); ++k)
    regions.push_back(
        {{"name", map.regions[k]},
         {"points", std::count(map.region.begin(), map.region.end(), static_cast<int>(k))}});
  Json json = provenance(model, set);
  json["map"] = {{"quantity", request.quantity->name},
                 {"meaning", request.quantity->meaning},
                 {"axes", axes_to_json(map.axes)},
                 {"at", states_to_json(request.states)},
                 {"columns", map.columns},
                 {"regions", regions},
                 {"not_decided", map.not_proved}};
  return json;
}

}  // namespace perp::io
