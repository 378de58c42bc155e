#include <fmt/format.h>
#include <memory>
#include <optional>

#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/solutions/step_answer.hpp>
#include <perp/analysis/solutions/trees.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/state_options.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/plot/tree_plot.hpp>
#include <perp/io/solutions/merged_tree_text.hpp>
#include <perp/io/solutions/step_text.hpp>
#include <perp/io/text/run_summary.hpp>

namespace perp::cli {
namespace {

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

/// --max-nodes. Throws InvalidInput.
EnumerateOptions limits_of(const SolutionsArguments& arguments, const Model& model) {
  EnumerateOptions limits;
  if (!arguments.max_nodes) return limits;
  if (!is_affine(model))
    throw InvalidInput(
        "--max-nodes bounds an enumeration; the steps of this model are not affine and are "
        "searched "
        "mode by mode: leave the option out");
  limits.max_nodes = *arguments.max_nodes;
  return limits;
}

/// --plot-variables; the first one where it is not given.
std::vector<int> drawn_variables(const SolutionsArguments& arguments, const Model& model) {
  if (arguments.plot_variables.empty()) return {0};
  std::vector<int> drawn;
  for (const std::string& name : split_list(arguments.plot_variables))
    drawn.push_back(static_cast<int>(find_name(name, variable_names(model), "variable")));
  return drawn;
}

void print_tree(const SolutionsArguments& arguments, const Model& model, const MergedTree& tree) {
  if (arguments.json) {
    fmt::print("{}\n", to_json(model, tree).dump(1));
    return;
  }
  fmt::print("model  {}\ntree   {}\n", title(model), describe_counts(tree, *arguments.tree));
  fmt::print("{}", merged_tree_text(model, tree, most_lines));
  for (const Law& law : model.laws())
    if (law.memory)
      fmt::print("note   the memory of law '{}' is not used: every branch is a solution\n",
                 law.name);
}

/// --tree: the solutions of several steps.
int execute_tree(const SolutionsArguments& arguments, const Model& model, const Vector& x,
                 double t) {
  const std::optional<Picture> picture =
      arguments.plot.empty() ? std::nullopt : std::optional<Picture>(arguments.plot);
  FilesOfCommand files;
  arguments.model.declare(files, model);
  if (picture) picture->declare(files, "--plot");
  const std::vector<int> drawn = drawn_variables(arguments, model);
  const MergedTree tree =
      merged_tree_of(model, x, t, *arguments.tree, arguments.max_nodes.value_or(most_tree_nodes));
  print_tree(arguments, model, tree);
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
  if (!arguments.tree) {
    if (!(arguments.plot.empty() && arguments.plot_variables.empty()))
      throw InvalidInput("--plot and --plot-variables draw a tree: add --tree N");
    return;
  }
  if (*arguments.tree < 1)
    throw InvalidInput(fmt::format("--tree must be positive but is {}", *arguments.tree));
  if (arguments.plot.empty() && !arguments.plot_variables.empty())
    throw InvalidInput("--plot-variables needs --plot FILE");
  if (!arguments.state.mode.empty())
    throw InvalidInput("--mode is for the selector, but --tree follows every solution");
}

/// The model, of whose [run] a tree depends on less: it has no selector.
Model read(const SolutionsArguments& arguments) {
  ModelOptions options = arguments.model;
  if (arguments.tree) options.run_keys = {"h", "scheme", "theta"};
  return arguments.state.read(options);
}

/// The exit status, with what is to be said of it.
int status_of(const Model& model, const StepAnswer& answer, const SolutionsArguments& arguments, double t) {
  if (!answer.choice_is_listed)
    fmt::print(stderr, "perp solutions: the chosen solution is not among those found\n");
  if (is_affine(model) && !answer.solutions.set.complete) {
    fmt::print(stderr, "perp solutions: {}\n", answer.solutions.set.certificate);
    return exit_no_answer;
  }
  if (!answer.choice_is_listed && is_affine(model)) return exit_no_answer;  // one of the two is wrong
  if (!answer.has_none()) return exit_status(answer.choice.status);
  if (!arguments.json) fmt::print("{}", violations_text(model, answer));
  fmt::print(stderr, "perp solutions: the step of length {:g} from t = {:.10g} has no solution\n",
             model.run.h, t);
  return exit_no_answer;
}

int execute(const SolutionsArguments& arguments) {
  check_tree_options(arguments);
  const Model model = read(arguments);
  const double t = arguments.state.t(model);
  const Vector x = model.x0();
  check_max_nodes(arguments.max_nodes);
  if (arguments.tree) return execute_tree(arguments, model, x, t);
  StepQuestion question{.t = t, .limits = limits_of(arguments, model)};
  if (!arguments.state.mode.empty())
    question.present = PresentMode{arguments.state.present(model.laws()), "--mode"};
  const StepAnswer answer = answer_step(model, x, question);
  if (arguments.json)
    fmt::print("{}\n", to_json(model, answer, t).dump(1));
  else
    fmt::print("{}", step_text(model, answer, t));
  return status_of(model, answer, arguments, t);
}

Action configure_solutions(CommandLine& line) {
  const auto arguments = std::make_shared<SolutionsArguments>();
  arguments->model.add_to(line);
  arguments->state.add_to(line, "the state to step from", "the time to step from");
  arguments->state.add_mode_to(line,
                               "the present mode, for keep_mode: a branch for each law, by name or "
                               "number; default: the one that the state satisfies");
  arguments->model.run_keys = {"h", "scheme", "selector", "solver", "theta", "tol"};
  arguments->model.add_run_to(line, arguments->model.run_keys);
  line.add_option("--max-nodes", arguments->max_nodes,
                 "ends the enumeration (with --tree: states of the tree, 10000 without it); the "
                 "answer then says how far it got")
      .type_name("N");
  line.add_option("--tree", arguments->tree,
                 "all discrete solutions of N steps, as a tree whose ways may meet again")
      .type_name("N");
  line.add_option("--plot", arguments->plot,
                 "draw the tree: FILE.svg, .png or .pdf (with its scripts and data), or .html, a page to zoom in")
      .type_name("FILE");
  line.add_option("--plot-variables", arguments->plot_variables,
                 "variables to draw; default: the first")
      .type_name("NAME,...");
  line.add_flag("--json", arguments->json, "write JSON");
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
