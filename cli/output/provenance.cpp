#include <fmt/format.h>
#include <cmath>

#include <perp/cli/output/columns.hpp>
#include <perp/cli/output/provenance.hpp>

namespace perp::cli {
namespace {

Json events_to_json(const std::vector<Law>& laws, const std::vector<Event>& events) {
  Json list = Json::array();
  for (const Event& event : events) {
    const BranchTexts branches = branch_texts(laws, event);
    Json item{{"t", to_json(event.t)},
              {"type", to_string(event.kind)},
              {"t_before", to_json(event.t_before)},
              {"t_after", to_json(event.t_after)}};
    if (event.law >= 0) {
      item["law"] = branches.law;
      item["from"] = branches.from;
      item["to"] = branches.to;
    }
    if (event.x_before.size() > 0) item["x_before"] = to_json(event.x_before);
    if (event.x_after.size() > 0) item["x_after"] = to_json(event.x_after);
    if (event.size != 0) item["size"] = to_json(event.size);
    if (!event.note.empty()) item["note"] = event.note;
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace

Json to_json(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

Json to_json(const Vector& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(to_json(value));
  return list;
}

Json provenance(const Model& model, const std::vector<std::string>& set) {
  Json parameters = Json::object();
  for (const auto& [name, value] : model.parameters) parameters[name] = value;
  Json start = Json::object();
  for (const Variable& variable : model.variables) start[variable.name] = variable.start;
  return {{"program", "perp"},
          {"version", PERP_VERSION},
          {"model",
           {{"name", model.name},
            {"source", model.source},
            {"file", model.file},
            {"hash", model.hash},
            {"parameters", parameters},
            {"start", start}}},
          {"options",
           {{"set", set},
            {"t", {model.run.span.start, model.run.span.end}},
            {"h", model.run.h},
            {"scheme", model.run.scheme},
            {"selector", model.run.selector},
            {"policy", model.run.policy},
            {"solver", model.run.solver},
            {"theta", model.run.theta},
            {"tol", model.run.tol},
            {"split_at_events", model.run.split_at_events},
            {"cross_check", model.run.cross_check}}}};
}

Json provenance(const Model& model, const Trajectory& run, const std::vector<std::string>& set) {
  const Columns columns = columns_of(model);
  Json json = provenance(model, set);
  for (const auto& [key, value] : run.provenance) json["run"][key] = value;
  Json laws = Json::array();
  for (std::size_t i = 0; i < model.laws().size(); ++i) {
    Json branches = Json::array();
    for (const Branch& branch : model.laws()[i].branches) branches.push_back(describe(branch));
    laws.push_back(
        {{"name", model.laws()[i].name}, {"column", columns.lambda[i]}, {"branches", branches}});
  }
  json["laws"] = laws;
  json["status"] = to_string(run.status);
  json["message"] = run.message;
  json["counts"] = run.counts;
  json["events"] = events_to_json(model.laws(), run.events);
  return json;
}

}  // namespace perp::cli
