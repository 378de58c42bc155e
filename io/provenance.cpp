#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include <perp/analysis/run/columns.hpp>
#include <perp/io/provenance.hpp>
#include <perp/models/language/run_options.hpp>
#include <perp/models/language/scheme_table.hpp>

namespace perp::io {
namespace {

Json events_to_json(const std::vector<Law>& laws, const std::vector<Event>& events) {
  Json list = Json::array();
  const EventTexts texts_of(laws);
  for (const Event& event : events) {
    const BranchTexts branches = texts_of(event);
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

Json measures_to_json(const std::vector<Measure>& measures) {
  Json list = Json::array();
  for (const Measure& measure : measures) {
    Json item{{"name", measure.name}, {"formula", measure.text}};
    item["value"] = measure.result.value ? Json(*measure.result.value) : Json(nullptr);
    if (!measure.result.value) item["reason"] = measure.result.reason;
    list.push_back(std::move(item));
  }
  return list;
}

/// The value of an option, wherever it stands.
template <class Member>
auto value_of(const RunOptions& run, const char* /*key*/, Member member) {
  return run.*member;
}
double value_of(const RunOptions& run, const char* key, RunOption::Own /*own*/) {
  return run.own.at(key);
}

/// As `has_effect`: a rule that options share is asked once.
class Effects {
 public:
  explicit Effects(const Model& model) : model_(model), scheme_(find_scheme(model.run.scheme)) {}

  bool operator()(const std::string& key) {
    const RunOption* option = scheme_ == nullptr ? nullptr : scheme_->option(key);
    if (option == nullptr || option->without_effect == nullptr) return has_effect(model_, key);
    const auto known = std::ranges::find(rules_, option->without_effect, &Rule::first);
    if (known != rules_.end()) return known->second;
    rules_.emplace_back(option->without_effect, has_effect(model_, key));
    return rules_.back().second;
  }

 private:
  using Rule = std::pair<decltype(RunOption::without_effect), bool>;

  const Model& model_;
  const SchemeEntry* scheme_;
  std::vector<Rule> rules_;
};

/// The options that have an effect on the run.
Json options_to_json(const Model& model, const std::vector<std::string>& set) {
  const RunOptions& run = model.run;
  Json json{{"set", set}, {"t", {run.span.start, run.span.end}}};
  Effects has_effect(model);
  for (const RunOption& option : run_options())
    if (has_effect(option.key))
      std::visit([&](auto member) { json[option.key] = value_of(run, option.key, member); },
                 option.member);
  return json;
}

}  // namespace

Json provenance(const Model& model, const std::vector<std::string>& set) {
  Json parameters = Json::object();
  for (const auto& [name, value] : model.parameters) parameters.add(name, value);
  Json start = Json::object();
  for (const Variable& variable : model.variables) start.add(variable.name, variable.start);
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
           options_to_json(model, set)}};
}

Json provenance(const Model& model, const Trajectory& run, const std::vector<std::string>& set,
                const std::vector<Measure>& measures) {
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
  if (const auto units = column_units(model); !units.empty()) json["units"] = units;
  json["status"] = to_string(run.status);
  json["message"] = run.message;
  json["counts"] = run.counts;
  json["events"] = events_to_json(model.laws(), run.events);
  if (!measures.empty()) json["measures"] = measures_to_json(measures);
  return json;
}

}  // namespace perp::io
