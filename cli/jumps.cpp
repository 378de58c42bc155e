#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <memory>
#include <set>

#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/output/jumps_of_model.hpp>
#include <perp/cli/output/provenance.hpp>
#include <perp/cli/output/text_table.hpp>
#include <perp/core/error.hpp>
#include <perp/schemes/consistent_jumps.hpp>

namespace perp::cli {
namespace {

struct JumpsArguments {
  ModelOptions model;
  std::string at, time;
  long max_nodes = JumpOptions{}.max_nodes;
  bool json = false;
};

std::string class_of(const ModelJumps& model_jumps) {
  const ConsistentJumps& found = model_jumps.jumps;
  const auto continua = std::count_if(found.jumps.begin(), found.jumps.end(),
                                      [](const ConsistentJump& jump) { return jump.is_continuum; });
  std::string text = continua > 0              ? "infinitely many"
                     : found.jumps.empty()     ? "none"
                     : found.jumps.size() == 1 ? "unique"
                                               : fmt::format("several ({})", found.jumps.size());
  if (found.status == Status::not_enumerated) return text + " found; " + found.message;
  return text + fmt::format(" ({})", model_jumps.proof);
}

/// "z: 2", the impulses that are not 0.
std::string impulses(const Model& model, const ConsistentJump& jump) {
  std::string text;
  const auto add = [&](const std::string& name, double value) {
    if (value != 0)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, short_number(value));
  };
  for (Eigen::Index j = 0; j < jump.impulse_x.size(); ++j)
    add(model.variables[static_cast<std::size_t>(j)].name, jump.impulse_x[j]);
  for (Eigen::Index i = 0; i < jump.impulse_lambda.size(); ++i)
    add(fmt::format("lambda_{}", i + 1), jump.impulse_lambda[i]);
  return text.empty() ? "-" : text;
}

std::string modes(const Model& model, const ConsistentJump& jump) {
  std::string text;
  for (const ContinuousStart& continuation : jump.continuations)
    text += (text.empty() ? "" : "; ") + describe(model.laws(), continuation.mode);
  return text;
}

std::string point(const Model& model, const Vector& x, const std::vector<int>& variables) {
  std::string text;
  for (const int j : variables)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ",
                        model.variables[static_cast<std::size_t>(j)].name, short_number(x[j]));
  return text;
}

void print_text(const Model& model, const ModelJumps& model_jumps, const Vector& x, double t) {
  const ConsistentJumps& found = model_jumps.jumps;
  const std::vector<int> variables = model.differential_variables();
  fmt::print("model  {}\n", title(model));
  fmt::print("from   {} at t = {:.10g}\n", point(model, x, variables), t);
  fmt::print("jumps  {}\n", class_of(model_jumps));
  if (found.jumps.empty()) return;
  std::vector<std::string> header{""};
  for (const int j : variables) header.push_back(model.variables[static_cast<std::size_t>(j)].name);
  for (const char* name : {"amplitude", "impulses", "mode afterwards"}) header.emplace_back(name);
  TextTable table(header);
  for (const ConsistentJump& jump : found.jumps) {
    std::vector<std::string> row{&jump == &found.jumps.front() ? "*" : ""};
    for (const int j : variables) row.push_back(short_number(jump.x()[j]));
    row.push_back(short_number(jump.amplitude));
    row.push_back(impulses(model, jump));
    row.push_back(modes(model, jump));
    table.add(row);
  }
  fmt::print("{}", table.text());
  for (const ConsistentJump& jump : found.jumps) {
    if (!jump.is_continuum) continue;
    fmt::print("infinitely many in {}:\n", modes(model, jump));
    for (Eigen::Index k = 0; k < jump.vertices.cols(); ++k)
      fmt::print("  end        {}\n", point(model, jump.vertices.col(k), variables));
    for (Eigen::Index k = 0; k < jump.directions.cols(); ++k)
      fmt::print("  direction  {}\n", point(model, jump.directions.col(k), variables));
  }
  fmt::print("* the smallest{}\n", found.starts_continuously()
                                       ? ": a continuous solution starts here, no jump is needed"
                                       : "");
}

Json json_of(const Model& model, const ModelJumps& model_jumps, const Vector& x, double t) {
  const ConsistentJumps& found = model_jumps.jumps;
  Json from = Json::object();
  for (const int j : model.differential_variables())
    from[model.variables[static_cast<std::size_t>(j)].name] = x[j];
  Json jumps = Json::array();
  const auto columns = [](const Matrix& matrix) {
    Json list = Json::array();
    for (Eigen::Index k = 0; k < matrix.cols(); ++k) list.push_back(to_json(Vector(matrix.col(k))));
    return list;
  };
  for (const ConsistentJump& jump : found.jumps) {
    Json continuations = Json::array();
    for (const ContinuousStart& after : jump.continuations)
      continuations.push_back({{"mode", describe(model.laws(), after.mode)},
                               {"x", to_json(after.x)},
                               {"lambda", to_json(after.lambda)}});
    Json item{{"x", to_json(jump.x())},
              {"amplitude", to_json(jump.amplitude)},
              {"impulse_x", to_json(jump.impulse_x)},
              {"impulse_lambda", to_json(jump.impulse_lambda)},
              {"continuations", continuations},
              {"continuum", jump.is_continuum},
              {"minimal", &jump == &found.jumps.front()}};
    if (jump.is_continuum) {
      item["vertices"] = columns(jump.vertices);
      item["directions"] = columns(jump.directions);
    }
    jumps.push_back(std::move(item));
  }
  return {{"version", PERP_VERSION},
          {"model", {{"name", model.name}, {"file", model.file}, {"hash", model.hash}}},
          {"t", t},
          {"from", from},
          {"status", to_string(found.status)},
          {"class", class_of(model_jumps)},
          {"starts_continuously", found.starts_continuously()},
          {"norm", "||E (x+ - x)||_2"},
          {"jumps", jumps}};
}

int execute(const JumpsArguments& arguments) {
  std::vector<Override> at;
  if (!arguments.at.empty()) {
    const std::vector<std::string> names = variable_names(read(arguments.model));
    for (const std::string& part : split_list(arguments.at)) {
      at.push_back(parse_assignment(part, "--at"));
      find_name(at.back().key, names, "variable");
    }
  }
  if (arguments.max_nodes <= 0)
    throw InvalidInput(fmt::format("--max-nodes must be positive but is {}", arguments.max_nodes));
  const Model model = read(arguments.model, at, "--at");
  const double t =
      arguments.time.empty() ? model.run.span.start : parse_number(arguments.time, "--t");
  const Vector x = model.x0();
  const ModelJumps found = jumps_of(model, x, t, arguments.max_nodes);
  if (arguments.json)
    fmt::print("{}\n", json_of(model, found, x, t).dump(1));
  else
    print_text(model, found, x, t);
  const ConsistentJumps& jumps = found.jumps;
  if (jumps.status != Status::solved) fmt::print(stderr, "perp jumps: {}\n", jumps.message);
  return exit_status(jumps.status);
}

Action configure(CLI::App& app) {
  const auto arguments = std::make_shared<JumpsArguments>();
  arguments->model.add_to(app);
  app.add_option("--at", arguments->at,
                 "the state to jump from; variables that are not named have the model's start")
      ->type_name("NAME=VALUE,...");
  app.add_option("--t", arguments->time, "the time of the jump; default: the model's start")
      ->type_name("T");
  app.add_option("--max-nodes", arguments->max_nodes,
                 "ends the search over the modes; the answer is then not proved complete")
      ->type_name("N");
  app.add_flag("--json", arguments->json, "write JSON");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command jumps;
const Command jumps{
    "jumps", "lists every jump after which a continuous solution starts",
    "The state jumps by impulses of the algebraic variables and multipliers onto a point that\n"
    "satisfies the laws and from which a continuous solution starts. An amplitude of 0 means that\n"
    "no jump is needed. Exit status 3: there is none, or the list is not proved complete.\n\n"
    "examples:\n"
    "  perp jumps switching_dae_jump --at x1=0,x2=-1\n"
    "  perp jumps switching_dae_jump --at x1=0,x2=-1 --set B1=2 --set B2=1",
    configure};

}  // namespace perp::cli
