#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <map>

#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/schemes.hpp>
#include <perp/lcp/selector.hpp>
#include <perp/lcp/solver.hpp>

namespace perp::cli {
namespace {

KnownNames known_names() {
  KnownNames known;
  known.schemes.clear();
  for (const SchemeEntry& entry : schemes()) known.schemes.emplace_back(entry.name);
  for (const MlcpSolver* method : solvers()) known.solvers.emplace_back(method->name);
  return known;
}

/// Messages about an override speak of "--set KEY=VALUE:1:COLUMN"; where the user wrote another
/// option, that option is named.
std::string in_users_words(const std::string& message,
                           const std::map<std::string, std::string>& written) {
  for (const auto& [set, option] : written) {
    if (!message.starts_with(set)) continue;
    const std::size_t rest = message.find(": ", set.size());
    if (rest != std::string::npos) return option + message.substr(rest);
  }
  return message;
}

}  // namespace

void ModelOptions::add_to(CLI::App& app) {
  app.add_option("MODEL", model, "a model file, or a name of the zoo (perp list models)")
      ->required()
      ->type_name("");
  add_set_to(app);
}

void ModelOptions::add_set_to(CLI::App& app) {
  app.add_option("--set", set,
                 "override a parameter, a start value or a key (run.h=0.01); repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void ModelOptions::add_step_to(CLI::App& app) {
  app.add_option("--h", h, "step length")->type_name("H");
}

void ModelOptions::add_span_to(CLI::App& app) {
  app.add_option("--t", t, "time span instead of the model's")->type_name("T0,T");
}

void ModelOptions::add_scheme_to(CLI::App& app) {
  app.add_option("--selector", selector,
                 "rule that chooses between several solutions: " + selector_names())
      ->type_name("NAME");
  app.add_option("--policy", policy,
                 "scheme located: the continuation taken where several start: minimal_norm, stay, "
                 "all (minimal_norm, and the tree of solutions)")
      ->type_name("NAME");
  app.add_option("--scheme", scheme, "see perp list schemes")->type_name("NAME");
  app.add_flag("--cross-check", cross_check,
               "scheme located: compare every choice of a mode with a short implicit Euler step");
  app.add_option("--theta", theta, "theta of the theta-method, in [0.5, 1]")->type_name("NUMBER");
  app.add_option("--solver", solver, "method for selector first, see perp list solvers")
      ->type_name("NAME");
  app.add_option("--tol", tol,
                 "largest accepted residual of a step; scheme located: relative error")
      ->type_name("NUMBER");
}

ModelReader::ModelReader(const ModelOptions& options)
    : text_(read_model_file(find_model(options.model), known_names())) {
  for (const std::string& assignment : options.set)
    set_.push_back(parse_assignment(assignment, "--set"));
  const auto shortcut = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    shortcuts_.push_back({fmt::format("run.{}", key), value});
    written_[fmt::format("--set run.{}={}:", key, value)] = fmt::format("--{} {}", key, value);
  };
  shortcut("h", options.h);
  shortcut("selector", options.selector);
  shortcut("policy", options.policy);
  shortcut("scheme", options.scheme);
  shortcut("theta", options.theta);
  shortcut("solver", options.solver);
  shortcut("t", options.t);
  shortcut("tol", options.tol);
  if (options.cross_check) shortcuts_.push_back({"run.cross_check", "true"});
}

Model ModelReader::operator()(const std::vector<Override>& set, const std::vector<Override>& more,
                              const std::string& more_option) const {
  std::vector<Override> overrides = set_;
  overrides.insert(overrides.end(), shortcuts_.begin(), shortcuts_.end());
  overrides.insert(overrides.end(), set.begin(), set.end());
  for (const Override& item : more) overrides.push_back({"variables." + item.key, item.value});
  try {
    Model model = text_.read(overrides);
    if (model.run.h == 0) model.run.h = (model.run.span.end - model.run.span.start) / 1000;
    return model;
  } catch (const ModelError& error) {
    std::map<std::string, std::string> written = written_;
    for (const Override& item : more)
      written[fmt::format("--set variables.{}={}:", item.key, item.value)] =
          fmt::format("{} {}={}", more_option, item.key, item.value);
    const std::string message = in_users_words(error.what(), written);
    if (message == error.what()) throw;
    throw InvalidInput(message);
  }
}

Model read(const ModelOptions& options, const std::vector<Override>& more,
           const std::string& more_option) {
  return ModelReader(options)({}, more, more_option);
}

std::vector<std::string> variable_names(const Model& model) {
  std::vector<std::string> names;
  for (const Variable& variable : model.variables) names.push_back(variable.name);
  return names;
}

std::string title(const Model& model) { return fmt::format("{} ({})", model.name, model.file); }

}  // namespace perp::cli
