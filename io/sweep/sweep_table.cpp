#include <algorithm>
#include <iterator>
#include <set>

#include <perp/analysis/run/columns.hpp>
#include <perp/io/provenance.hpp>
#include <perp/io/sweep/sweep_table.hpp>

namespace perp::io {
namespace {

/// The random numbers of a sweep.
void add_draws(const SweepPoints& points, Json& sweep) {
  Json draws = Json::array();
  for (const SweepDraw& draw : points.draws) draws.push_back({{"name", draw.name}, {"distribution", draw.text}});
  sweep["random"] = draws;
  sweep["runs"] = points.runs;
  sweep["seed"] = points.seed;
  sweep["sampling"] = to_string(points.sampling);
}

/// What made a sweep.
Json sweep_provenance(const SweepRequest& request, const Model& model, const std::vector<std::string>& set) {
  Json json = provenance(model, set);
  const SweepPoints& points = request.points;
  Json axes = Json::array();
  for (const SweepAxis& axis : points.axes) axes.push_back({{"name", axis.name}, {"values", axis.values}});
  Json sweep{{"axes", axes}, {"zip", points.side_by_side}, {"measures", request.measures}};
  if (!points.draws.empty()) add_draws(points, sweep);
  if (!request.after.empty()) sweep["after"] = request.after;
  if (!request.section.empty()) sweep["section"] = request.section;
  if (request.keeps) sweep["kept at"] = request.times.empty() ? Json("every step") : Json(request.times);
  if (request.skip > 0) sweep["skip"] = request.skip;
  constexpr const char* follow[] = {"none", "up", "down", "both"};
  sweep["follow"] = follow[static_cast<int>(request.follow)];
  json["sweep"] = sweep;
  return json;
}

/// One length for each axis, or for all where they stand side by side; of draws and directions where there are several.
std::vector<long> shape_of(const SweepRequest& request) {
  const SweepPoints& points = request.points;
  std::vector<long> shape;
  for (const SweepAxis& axis : points.axes)
    if (shape.empty() || !points.side_by_side) shape.push_back(static_cast<long>(axis.values.size()));
  if (!points.draws.empty()) shape.push_back(points.runs);
  if (request.follow == Follow::both) shape.push_back(2);
  return shape;
}

}  // namespace

SectionNames section_names(const SweepTable& table) {
  SectionNames names;
  std::set<std::string> taken{"run", "direction", "t", "row"};
  const auto add = [&](std::string name, std::vector<std::string>& list) {
    while (!taken.insert(name).second) name += "_";
    list.push_back(std::move(name));
  };
  for (const std::string& name : table.variables) add(name, names.variables);
  for (const std::string& name : table.names) {
    const bool is_start = std::ranges::find(table.variables, name) != table.variables.end();
    add(is_start ? name + "(0)" : name, names.varied);
  }
  std::vector<std::string> counter;
  add("k", counter);
  names.counter = counter.front();
  return names;
}

SweepTable sweep_head(const SweepRequest& request, const Model& model, const std::vector<std::string>& set, bool has_kept) {
  SweepTable head{.names = request.points.names(),
                  .has_directions = request.follow == Follow::both,
                  .measures = {},
                  .has_section = !request.section.empty(),
                  .has_kept = has_kept,
                  .variables = variable_names(model),
                  .shape = shape_of(request),
                  .provenance = sweep_provenance(request, model, set),
                  .runs = {}};
  for (const std::string& definition : request.measures)
    head.measures.push_back(definition.substr(0, definition.find('=')));
  return head;
}

SweepTable with_runs(SweepTable head, const SweepResult& result) {
  std::copy_if(result.runs.begin(), result.runs.end(), std::back_inserter(head.runs),
               [](const SweepRun& run) { return run.status != Status::never_run; });
  return head;
}

}  // namespace perp::io
