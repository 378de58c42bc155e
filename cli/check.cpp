#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <Eigen/Dense>
#include <memory>
#include <set>

#include <perp/cli/command.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/schemes.hpp>
#include <perp/cli/output/step_solutions.hpp>
#include <perp/cli/output/summary.hpp>
#include <perp/cli/output/text_table.hpp>
#include <perp/core/pencil.hpp>
#include <perp/lcp/enumerate.hpp>
#include <perp/lcp/mode_equations.hpp>

namespace perp::cli {
namespace {

constexpr long most_modes = 256;
constexpr long most_listed = 50;
constexpr double singular_below = 1e-13;  // reciprocal condition of a step matrix

std::string shape(const char* name, Eigen::Index rows, Eigen::Index columns) {
  return fmt::format("{} {}x{}", name, rows, columns);
}

void print_variables(const Model& model, const Lcs& lcs) {
  std::vector<std::string> differential;
  std::vector<std::string> algebraic;
  std::set<int> indices;
  for (const int j : differential_variables(lcs)) indices.insert(j);
  for (int j = 0; j < lcs.n(); ++j)
    (indices.count(j) > 0 ? differential : algebraic)
        .push_back(model.variables[static_cast<std::size_t>(j)].name);
  fmt::print("model        {}\n", title(model));
  fmt::print("variables    n = {}: {} differential ({}), {} algebraic{}\n", lcs.n(),
             differential.size(), fmt::join(differential, ", "), algebraic.size(),
             algebraic.empty() ? "" : fmt::format(" ({})", fmt::join(algebraic, ", ")));
  const Eigen::Index rank = Eigen::FullPivLU<Matrix>(lcs.E).rank();
  fmt::print("shapes       {}, {}, {}, {}, {}, rank of E {}\n", shape("E", lcs.n(), lcs.n()),
             shape("A", lcs.n(), lcs.n()), shape("B", lcs.n(), lcs.m()),
             shape("C", lcs.m(), lcs.n()), shape("D", lcs.m(), lcs.m()), rank);
  const auto time_text = [](const char* name, const Signal& signal) {
    return signal.is_constant() ? fmt::format("{} constant", name)
                                : fmt::format("{} depends on time in {} of {} entries", name,
                                              signal.varying().size(), signal.size());
  };
  fmt::print("time         {}, {}; from {:g} to {:g}\n", time_text("b", lcs.b),
             time_text("q", lcs.q), model.run.span.start, model.run.span.end);
}

void print_laws(const Lcs& lcs) {
  fmt::print("laws         m = {}\n", lcs.m());
  TextTable table({"#", "law", "branches"});
  for (int i = 0; i < lcs.m(); ++i) {
    const Law& law = lcs.laws[static_cast<std::size_t>(i)];
    std::string branches;
    for (const Branch& branch : law.branches)
      branches += (branches.empty() ? "" : " | ") + describe(branch);
    if (law.memory) branches += "  (with memory)";
    table.add({fmt::format("{}", i + 1), law.name, branches});
  }
  if (lcs.m() > 0) fmt::print("{}", table.text("  "));
}

void print_modes(const Model& model, const Lcs& lcs, const StepEquations& equations) {
  double total = 1;
  for (const Law& law : lcs.laws) total *= static_cast<double>(law.branches.size());
  fmt::print("modes        {:.6g}{}; step matrices for h = {:g}, scheme {}\n", total,
             total > static_cast<double>(most_modes)
                 ? fmt::format(", of which the first {} are looked at", most_modes)
                 : "",
             model.run.h, model.run.scheme);
  const Mlcp family = equations.family(model.run.h).base;
  TextTable table({"#", "mode", "DAE in this mode", "step matrix"});
  Mode mode(lcs.laws.size(), 0);
  for (long k = 1; k <= most_modes; ++k) {
    const ModeDae dae = mode_dae(lcs, mode);
    const std::optional<int> index = index_of(dae.E, dae.A);
    const double condition = scaled_reciprocal_condition(mode_matrix(family, mode));
    table.add({fmt::format("{}", k), describe(lcs.laws, mode),
               index ? fmt::format("regular, index {}", *index) : "singular: not well-posed",
               condition < singular_below ? "singular"
                                          : fmt::format("regular, 1/condition {:.1e}", condition)});
    if (!next_mode(mode, lcs.laws)) break;
  }
  fmt::print("{}", table.text("  "));
}

void print_start(const Model& model, const StepEquations& equations) {
  const Vector x0 = model.x0();
  const SolutionSet set = enumerate(equations.consistency(x0, model.run.span.start));
  fmt::print("start        {}\n", named_values(variable_names(model), x0));
  std::set<Mode> modes;
  for (const Piece& piece : pieces(set, most_listed))
    modes.insert(piece.modes.begin(), piece.modes.end());
  if (modes.empty()) {
    fmt::print("  x0 {} the algebraic equations and laws with its differential variables\n",
               set.complete ? "violates" : "was not found to satisfy");
    return;
  }
  const Multiplicity open = multiplicity(set);
  fmt::print(
      "  consistent: the differential variables satisfy all equations and laws, which leave {}\n"
      "  for the algebraic variables and lambda; in mode{}\n",
      open == Multiplicity::continuum ? "a continuum"
      : open == Multiplicity::unique  ? "one value"
                                      : fmt::format("{} values", count(set)),
      modes.size() > 1 ? "s" : "");
  for (const Mode& mode : modes) fmt::print("    {}\n", describe(model.system.laws, mode));
}

/// The start as the scheme makes it, and the first step from there. Its status.
Status print_first_step(Model model, StepEquations& equations) {
  const double start = model.run.span.start;
  const double h = std::min(model.run.h, model.run.span.end - start);
  const RunOptions options = model.run;
  model.run.span.end = start + h;
  const Trajectory run = scheme(model.run.scheme).run(model, {});
  model.run = options;
  for (const Event& event : run.events)
    fmt::print("  {}{}{}\n", to_string(event.kind),
               event.size != 0 ? fmt::format(", size {:.6g}", event.size) : "",
               event.note.empty() ? "" : ": " + event.note);
  if (run.mode.empty() || (run.mode.front().empty() && !model.system.laws.empty())) {
    fmt::print("first step   {}\n", run.message);
    return run.status;
  }
  fmt::print("  the run starts in {} with {}\n", describe(model.system.laws, run.mode.front()),
             named_values(variable_names(model), run.x.front()));
  StepSolutions solutions = solutions_of_step(equations, run.x.front(), start, h, most_listed);
  if (run.status == Status::solved) mark_chosen(solutions, run.x.back(), run.lambda.back());
  fmt::print("first step   {}; selector {}\n", describe_class(solutions), model.run.selector);
  if (!solutions.listed.empty()) fmt::print("{}", table_of(solutions, model, "  "));
  if (run.status != Status::solved) fmt::print("  {}\n", run.message);
  return run.status;
}

int execute(const ModelOptions& options) {
  const Model model = read(options);
  const Lcs lcs = validated(model.system);
  StepEquations equations(model.system, step_options(model).theta);
  print_variables(model, lcs);
  print_laws(lcs);
  print_modes(model, lcs, equations);
  print_start(model, equations);
  return exit_status(print_first_step(model, equations));
}

Action configure(CLI::App& app) {
  const auto options = std::make_shared<ModelOptions>();
  options->add_to(app);
  options->add_span_to(app);
  options->add_step_to(app);
  options->add_scheme_to(app);
  return [options] { return execute(*options); };
}

}  // namespace

extern const Command check;
const Command check{
    "check", "shows a model's shapes, the index in every mode, its start and first step",
    "The index of a mode is that of its DAE in x and the multipliers that the mode leaves open.\n"
    "Exit status 3: no run starts from the model's start values.\n\n"
    "examples:\n  perp check switching_dae_crossing\n  perp check model.toml --set R=100 --h 1e-4",
    configure};

}  // namespace perp::cli
