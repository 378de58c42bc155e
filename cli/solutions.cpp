#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <set>

#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/schemes.hpp>
#include <perp/cli/input/state_options.hpp>
#include <perp/cli/output/file_identity.hpp>
#include <perp/cli/output/merged_tree_text.hpp>
#include <perp/cli/output/step_choice.hpp>
#include <perp/cli/output/step_solutions.hpp>
#include <perp/cli/output/text_table.hpp>
#include <perp/cli/plot/tree_plot.hpp>
#include <perp/core/base/error.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/schemes/capturing/capturing.hpp>

namespace perp::cli {
namespace {

constexpr long most_listed = 100'000;
constexpr long most_tree_nodes = 10'000;
constexpr long most_lines = 1'000;  // of a tree

struct SolutionsArguments {
  ModelOptions model;
  StateOptions state;
  std::string plot, plot_variables;
  std::optional<long> max_nodes;  ///< none: as the library
  std::optional<int> tree;        ///< its steps; none: one step, listed
  bool json = false;
};

/// The present mode, which keep_mode needs, and where it is known from.
struct Present {
  Mode mode;  ///< empty: unknown
  std::string reason;
};

/// The mode in which a run starts from x, which satisfies the equations and laws to its rounding.
Present mode_at_start(const Model& model, const Vector& x, double t) {
  Capturing scheme(model.lcs(), step_options(model));
  std::vector<Event> events;
  if (scheme.start(t, x, model.run.h, events).status == Status::solved && events.empty())
    return {scheme.mode(), "the mode in which a run starts from x"};
  return {{}, "unknown: x violates the algebraic equations or laws in every mode"};
}

/// The modes whose algebraic equations and ranges x satisfies, if that is exactly one.
Present present_mode(const Model& model, const Vector& x, double t) {
  const StepEquations equations(model.lcs(), step_options(model).theta);
  const SolutionSet set = enumerate(equations.consistency(x, t));
  std::set<Mode> modes;
  for (const Piece& piece : pieces(set, most_listed))
    modes.insert(piece.modes.begin(), piece.modes.end());
  if (set.complete && modes.size() == 1) return {*modes.begin(), "the only mode that x satisfies"};
  if (!set.complete) return {{}, "unknown: " + set.certificate + ", see --mode"};
  if (modes.empty()) return mode_at_start(model, x, t);
  return {{}, fmt::format("unknown: x satisfies {} modes, see --mode", modes.size())};
}

void print_violations(const Model& model, const Vector& x, double t) {
  Capturing scheme(model.lcs(), step_options(model));
  const int m = model.m();
  const Mode any(model.laws().size(), 0);
  scheme.restore({t, x, Vector::Zero(m), Vector::Zero(m), any});
  TextTable table({"mode", "misses a solution by (relative)"});
  for (const auto& [mode, violation] : scheme.violations(model.run.h))
    table.add({describe(model.laws(), mode), fmt::format("{:.6g}", violation)});
  fmt::print("{}", table.text("  "));
}

void print_text(const Model& model, const StepSolutions& solutions, const StepChoice& choice,
                const Present& present, double t) {
  fmt::print("model     {}\n", title(model));
  fmt::print("step      from t = {:.10g} to {:.10g}, h = {:g}, scheme {}{}\n", t, t + model.run.h,
             model.run.h, model.run.scheme,
             model.run.scheme == "theta" ? fmt::format(" ({:g})", model.run.theta) : "");
  fmt::print("from      {}\n", [&] {
    std::string text;
    for (const Variable& variable : model.variables)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", variable.name,
                          short_number(variable.start));
    return text;
  }());
  fmt::print("selector  {}, norm ||E (x+ - x)||\n", model.run.selector);
  if (!model.laws().empty())
    fmt::print("present   {}\n", present.mode.empty() ? present.reason
                                                      : describe(model.laws(), present.mode) +
                                                            " (" + present.reason + ")");
  fmt::print("solutions {}\n", describe_class(solutions));
  if (solutions.note.empty() && solutions.set.complete)
    fmt::print("proof     {}\n", solutions.set.certificate);
  if (choice.path) fmt::print("path      {}\n", describe(*choice.path, present.mode, model.laws()));
  if (solutions.listed.empty()) return;
  fmt::print("{}", table_of(solutions, model));
  if (choice.status == Status::solved)
    fmt::print(
        "* chosen by {}: {}, norm {}\n", model.run.selector,
        [&] {
          std::string text;
          for (std::size_t j = 0; j < model.variables.size(); ++j)
            text += fmt::format("{}{} = {}", j > 0 ? ", " : "", model.variables[j].name,
                                short_number(choice.x[static_cast<Eigen::Index>(j)]));
          return text;
        }(),
        short_number(choice.norm));
  else
    fmt::print("the selector chose none: {}\n", choice.message);
}

Json json_of(const Model& model, const StepSolutions& solutions, const StepChoice& choice,
             const Present& present, double t) {
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
  json.update(to_json(solutions, model));
  if (choice.status == Status::solved)
    json["chosen"] = {{"x", to_json(choice.x)},
                      {"lambda", to_json(choice.lambda)},
                      {"norm", to_json(choice.norm)}};
  else
    json["chosen"] = nullptr;
  if (choice.path) json["path"] = to_json(*choice.path, present.mode, model.laws());
  return json;
}

/// --max-nodes. Throws InvalidInput.
EnumerateOptions limits_of(const SolutionsArguments& arguments, const Model& model) {
  EnumerateOptions limits;
  if (!arguments.max_nodes) return limits;
  if (!std::holds_alternative<Lcs>(model.system))
    throw InvalidInput(
        "--max-nodes bounds an enumeration; the steps of this model are not affine and are "
        "searched "
        "mode by mode: leave the option out");
  limits.max_nodes = *arguments.max_nodes;
  return limits;
}

/// --tree: the solutions of several steps.
int execute_tree(const SolutionsArguments& arguments, const Model& model, const Vector& x,
                 double t) {
  const std::optional<Picture> picture =
      arguments.plot.empty() ? std::nullopt : std::optional<Picture>(arguments.plot);
  FilesOfCommand files;
  files.reads(find_model(arguments.model.model), "MODEL");
  if (picture) picture->declare(files, "--plot");
  std::vector<int> drawn;
  if (arguments.plot_variables.empty())
    drawn.push_back(0);
  else
    for (const std::string& name : split_list(arguments.plot_variables))
      drawn.push_back(static_cast<int>(find_name(name, variable_names(model), "variable")));
  const MergedTree tree =
      merged_tree_of(model, x, t, *arguments.tree, arguments.max_nodes.value_or(most_tree_nodes));
  if (arguments.json) {
    Json json{{"version", PERP_VERSION},
              {"model", {{"name", model.name}, {"file", model.file}, {"hash", model.hash}}},
              {"h", model.run.h},
              {"scheme", model.run.scheme}};
    json.update(to_json(model, tree));
    fmt::print("{}\n", json.dump(1));
  } else {
    fmt::print("model  {}\ntree   {}\n", title(model), describe_counts(tree, *arguments.tree));
    fmt::print("{}", merged_tree_text(model, tree, most_lines));
    for (const Law& law : model.laws())
      if (law.memory)
        fmt::print("note   the memory of law '{}' is not used: every branch is a solution\n",
                   law.name);
  }
  if (picture) draw_tree(*picture, model, tree, drawn);
  if (!tree.complete)
    fmt::print(stderr, "perp solutions: not proved complete: {}\n", tree.message);
  else if (tree.ends == 0)
    fmt::print(stderr, "perp solutions: no solution has {} steps of length {:g}\n", *arguments.tree,
               model.run.h);
  return tree.complete && tree.ends > 0 ? exit_solved : exit_no_answer;
}

/// Options that belong to --tree or do not go with it. Throws InvalidInput.
void check_tree_options(const SolutionsArguments& arguments) {
  if (arguments.tree && *arguments.tree < 1)
    throw InvalidInput(fmt::format("--tree must be positive but is {}", *arguments.tree));
  if (!arguments.tree && !(arguments.plot.empty() && arguments.plot_variables.empty()))
    throw InvalidInput("--plot and --plot-variables draw a tree: add --tree N");
  if (arguments.plot.empty() && !arguments.plot_variables.empty())
    throw InvalidInput("--plot-variables needs --plot FILE");
  if (arguments.tree && !arguments.state.mode.empty())
    throw InvalidInput("--mode is for the selector, but --tree follows every solution");
}

/// The model, of whose [run] a tree depends on less: it has no selector.
Model read(const SolutionsArguments& arguments) {
  ModelOptions options = arguments.model;
  if (arguments.tree) options.run_keys = {"h", "scheme", "theta"};
  return arguments.state.read(options);
}

int execute(const SolutionsArguments& arguments) {
  check_tree_options(arguments);
  const Model model = read(arguments);
  const double t = arguments.state.t(model);
  const Vector x = model.x0();
  if (arguments.max_nodes && *arguments.max_nodes <= 0)
    throw InvalidInput(fmt::format("--max-nodes must be positive but is {}", *arguments.max_nodes));
  if (arguments.tree) return execute_tree(arguments, model, x, t);
  const Lcs* lcs = std::get_if<Lcs>(&model.system);
  const Present present =
      !arguments.state.mode.empty() ? Present{arguments.state.present(model.laws()), "--mode"}
      : lcs != nullptr ? present_mode(model, x, t)
                       : Present{{}, "unknown, see --mode"};
  StepSolutions solutions =
      StepLister(model, limits_of(arguments, model))(x, t, model.run.h, most_listed);
  const bool none = solutions.set.complete && solutions.listed.empty();
  const StepChoice choice = choice_of_step(model, solutions, x, t, present.mode);
  if (choice.status == Status::solved && !mark_chosen(solutions, choice.x, choice.lambda))
    fmt::print(stderr, "perp solutions: the chosen solution is not among those found\n");
  if (arguments.json)
    fmt::print("{}\n", json_of(model, solutions, choice, present, t).dump(1));
  else
    print_text(model, solutions, choice, present, t);
  if (lcs != nullptr && !solutions.set.complete) {
    fmt::print(stderr, "perp solutions: {}\n", solutions.set.certificate);
    return exit_no_answer;
  }
  if (!none) return exit_status(choice.status);
  if (!arguments.json) print_violations(model, x, t);
  fmt::print(stderr, "perp solutions: the step of length {:g} from t = {:.10g} has no solution\n",
             model.run.h, t);
  return exit_no_answer;
}

Action configure_solutions(CLI::App& app) {
  const auto arguments = std::make_shared<SolutionsArguments>();
  arguments->model.add_to(app);
  arguments->state.add_to(app, "the state to step from", "the time to step from");
  arguments->state.add_mode_to(app,
                               "the present mode, for keep_mode: a branch for each law, by name or "
                               "number; default: the one that the state satisfies");
  arguments->model.run_keys = {"h", "scheme", "selector", "solver", "theta", "tol"};
  arguments->model.add_run_to(app, arguments->model.run_keys);
  app.add_option("--max-nodes", arguments->max_nodes,
                 "ends the enumeration (with --tree: states of the tree, 10000 without it); the "
                 "answer then says how far it got")
      ->type_name("N");
  app.add_option("--tree", arguments->tree,
                 "all discrete solutions of N steps, as a tree whose ways may meet again")
      ->type_name("N");
  app.add_option("--plot", arguments->plot,
                 "draw the tree: FILE.svg, .png or .pdf (with FILE's gnuplot script and data)")
      ->type_name("FILE");
  app.add_option("--plot-variables", arguments->plot_variables,
                 "variables to draw; default: the first")
      ->type_name("NAME,...");
  app.add_flag("--json", arguments->json, "write JSON");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command solutions;
const Command solutions{
    "solutions", "lists every solution of one step, with modes, norms and the chosen one",
    "examples:\n"
    "  perp solutions switching_dae_crossing --at x1=0,x2=-1\n"
    "  perp solutions model.toml --at v=1 --t 0.5 --h 0.01 --selector minimal_norm --json\n"
    "  perp solutions switching_dae_repulsive --at x1=0,x2=-1 --h 0.1 --tree 5 --plot tree.svg",
    configure_solutions};

}  // namespace perp::cli
