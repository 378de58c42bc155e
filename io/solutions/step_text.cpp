// One step looked at from all sides, as text and as JSON.
#include <fmt/format.h>

#include <perp/core/branches.hpp>
#include <perp/io/solutions/path_text.hpp>
#include <perp/io/solutions/solutions_text.hpp>
#include <perp/io/solutions/step_text.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

/// "x1 = 0, x2 = 1": of all variables, however many.
std::string all_values(const Model& model, const Vector& x) {
  std::string text;
  for (std::size_t j = 0; j < model.variables.size(); ++j)
    text += fmt::format("{}{} = {}", j > 0 ? ", " : "", model.variables[j].name,
                        short_number(x[static_cast<Eigen::Index>(j)]));
  return text;
}

/// The mode before the step; nothing of a model without laws.
std::string present_text(const Model& model, const PresentMode& present) {
  if (model.laws().empty()) return {};
  if (present.mode.empty()) return fmt::format("present   {}\n", present.reason);
  return fmt::format("present   {} ({})\n", describe_briefly(model.laws(), present.mode), present.reason);
}

/// What the selector takes.
std::string choice_text(const Model& model, const StepChoice& choice) {
  if (choice.status != Status::solved) return fmt::format("the selector chose none: {}\n", choice.message);
  return fmt::format("* chosen by {}: {}, norm {}\n", model.run.selector, all_values(model, choice.x),
                     short_number(choice.norm));
}

}  // namespace

std::string step_text(const Model& model, const StepAnswer& answer, double t) {
  const auto& [present, solutions, choice, is_listed, violations] = answer;
  std::string text = fmt::format("model     {}\n", title(model));
  text += fmt::format("step      from t = {:.10g} to {:.10g}, h = {:g}, scheme {}{}\n", t,
                      t + model.run.h, model.run.h, model.run.scheme,
                      model.run.scheme == "theta" ? fmt::format(" ({:g})", model.run.theta) : "");
  text += fmt::format("from      {}\n", all_values(model, model.x0()));
  text += fmt::format("selector  {}, norm ||E (x+ - x)||\n", model.run.selector);
  text += present_text(model, present);
  text += fmt::format("solutions {}\n", describe_class(solutions));
  if (solutions.note.empty() && solutions.set.complete)
    text += fmt::format("proof     {}\n", solutions.set.certificate);
  if (choice.path)
    text += fmt::format("path      {}\n", describe(*choice.path, present.mode, model.laws()));
  if (solutions.listed.empty()) return text;
  return text + table_of(solutions, model) + choice_text(model, choice);
}

Json to_json(const Model& model, const StepAnswer& answer, double t) {
  const auto& [present, solutions, choice, is_listed, violations] = answer;
  Json from = Json::object();
  for (const Variable& variable : model.variables) from[variable.name] = variable.start;
  Json json{{"version", PERP_VERSION},
            {"model", {{"name", model.name}, {"file", model.file}, {"hash", model.hash}}},
            {"t", t},
            {"h", model.run.h},
            {"scheme", model.run.scheme},
            {"from", from},
            {"selector", model.run.selector},
            {"norm", "||E (x+ - x)||_2"},
            {"present_mode",
             present.mode.empty() ? Json(nullptr) : Json(describe(model.laws(), present.mode))},
            {"present_mode_reason", present.reason}};
  const Json listed = to_json(solutions, model);
  for (const auto& [key, value] : listed.members()) json[key] = value;
  if (choice.status == Status::solved)
    json["chosen"] = {{"x", to_json(choice.x)},
                      {"lambda", to_json(choice.lambda)},
                      {"norm", to_json(choice.norm)}};
  else
    json["chosen"] = nullptr;
  if (choice.path) json["path"] = to_json(*choice.path, present.mode, model.laws());
  return json;
}

std::string violations_text(const Model& model, const StepAnswer& answer) {
  TextTable table({"mode", "misses a solution by (relative)"});
  for (const auto& [mode, violation] : answer.violations)
    table.add({describe(model.laws(), mode), fmt::format("{:.6g}", violation)});
  return table.text("  ");
}

}  // namespace perp::io
