#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <set>
#include <variant>

#include <perp/cli/command.hpp>
#include <perp/cli/hybrid/structure_text.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/schemes.hpp>
#include <perp/cli/output/step_solutions.hpp>
#include <perp/cli/output/summary.hpp>
#include <perp/cli/output/text_table.hpp>
#include <perp/cli/output/well_posedness.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/hybrid/lower_binaries.hpp>

namespace perp::cli {
namespace {

constexpr long most_checked = 50;

std::string shape(const char* name, Eigen::Index rows, Eigen::Index columns) {
  return fmt::format("{} {}x{}", name, rows, columns);
}

void print_variables(const Model& model) {
  std::vector<std::string> differential;
  std::vector<std::string> algebraic;
  const std::vector<int> indices = model.differential_variables();
  for (std::size_t j = 0; j < model.variables.size(); ++j)
    (std::binary_search(indices.begin(), indices.end(), static_cast<int>(j)) ? differential
                                                                             : algebraic)
        .push_back(model.variables[j].name);
  fmt::print("model        {}\n", title(model));
  fmt::print("variables    n = {}: {} differential ({}), {} algebraic{}\n", model.variables.size(),
             differential.size(), fmt::join(differential, ", "), algebraic.size(),
             algebraic.empty() ? "" : fmt::format(" ({})", fmt::join(algebraic, ", ")));
}

void print_shapes(const Model& model, const Lcs& lcs) {
  const Eigen::Index rank = linear::FullLu(lcs.E).rank();
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

/// The equations as they were lowered, operators replaced by multipliers of their laws.
void print_equations(const Model& model, const Dcs& dcs) {
  fmt::print("equations    n = {}, not affine; t from {:g} to {:g}\n", dcs.n(),
             model.run.span.start, model.run.span.end);
  const std::vector<std::string> names = model.input_names();
  const auto listed = std::min(dcs.F.size(), static_cast<std::size_t>(most_checked));
  for (std::size_t k = 0; k < listed; ++k)
    fmt::print("  0 = {}\n", print_expression(dcs.tape, dcs.F[k], names));
  if (listed < dcs.F.size()) fmt::print("  ... {} more\n", dcs.F.size() - listed);
  for (const Reset& reset : dcs.resets)
    fmt::print("reset        {}: where {} {}\n", reset.name,
               print_expression(dcs.tape, reset.condition, names),
               reset.direction < 0   ? "falls through 0"
               : reset.direction > 0 ? "rises through 0"
                                     : "changes its sign");
}

void print_laws(const Model& model) {
  const std::vector<Law>& laws = model.laws();
  fmt::print("laws         m = {}\n", laws.size());
  const bool has_arguments = !model.arguments.empty();
  std::vector<std::string> header{"#", "law", "branches"};
  if (has_arguments) header.insert(header.begin() + 2, "w");
  TextTable table(header);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    std::string branches;
    for (const Branch& branch : laws[i].branches)
      branches += (branches.empty() ? "" : " | ") + describe(branch);
    if (laws[i].memory)
      branches += fmt::format("  (with memory; starts in {} where w allows it)",
                              describe(laws[i].branches.front()));
    std::vector<std::string> row{fmt::format("{}", i + 1), laws[i].name, branches};
    if (has_arguments) row.insert(row.begin() + 2, model.arguments[i]);
    table.add(row);
  }
  if (!laws.empty()) fmt::print("{}", table.text("  "));
}

void print_start(const Model& model, const StepEquations& equations) {
  const Vector x0 = model.x0();
  const SolutionSet set = enumerate(equations.consistency(x0, model.run.span.start));
  fmt::print("start        {}\n", named_values(variable_names(model), x0));
  std::set<Mode> modes;
  for (const Piece& piece : pieces(set, most_checked))
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
      : !set.complete                 ? fmt::format("{} values that were found", count(set))
      : open == Multiplicity::unique  ? "one value"
                                      : fmt::format("{} values", count(set)),
      modes.size() > 1 ? "s" : "");
  for (const Mode& mode : modes) fmt::print("    {}\n", describe(model.laws(), mode));
}

/// The first step as the scheme makes it, alone.
Trajectory first_step(Model model) {
  const double start = model.run.span.start;
  model.run.span.end = start + std::min(model.run.h, model.run.span.end - start);
  return scheme(model.run.scheme).run(model, {});
}

/// The start as the scheme makes it. False if no run starts there.
bool print_scheme_start(const Model& model, const Trajectory& run) {
  for (const Event& event : run.events) fmt::print("  {}\n", event_text(model, event));
  if (run.mode.empty() || (run.mode.front().empty() && !model.laws().empty())) {
    fmt::print("first step   {}\n", run.message);
    return false;
  }
  fmt::print("  the run starts in {} with {}\n", describe(model.laws(), run.mode.front()),
             named_values(variable_names(model), run.x.front()));
  return true;
}

/// The start and the first step from there, with all solutions of it. The status of the step.
Status print_first_step(const Model& model) {
  const Trajectory run = first_step(model);
  if (!print_scheme_start(model, run)) return run.status;
  const double start = model.run.span.start;
  const double h = std::min(model.run.h, model.run.span.end - start);
  StepSolutions solutions = StepLister(model)(run.x.front(), start, h, most_checked);
  if (run.status == Status::solved) mark_chosen(solutions, run.x.back(), run.lambda.back());
  fmt::print("first step   {}; selector {}\n", describe_class(solutions), model.run.selector);
  if (!solutions.listed.empty()) fmt::print("{}", table_of(solutions, model, "  "));
  if (run.status != Status::solved) fmt::print("  {}\n", run.message);
  return run.status;
}

int execute(const ModelOptions& options) {
  const ModelReader reader(options);
  if (const std::optional<HybridModel> hybrid = reader.hybrid({}, "--at")) {
    fmt::print("{}", structure_text(*hybrid));
    if (!lower_binaries(*hybrid).reason.empty()) return exit_solved;
  }
  const Model model = reader({}, {}, "--at");
  print_variables(model);
  const Lcs* lcs = std::get_if<Lcs>(&model.system);
  if (lcs != nullptr)
    print_shapes(model, validated(*lcs));
  else
    print_equations(model, std::get<Dcs>(model.system));
  print_laws(model);
  fmt::print("{}", modes_text(model));
  fmt::print("{}", step_text(model));
  if (lcs != nullptr)
    print_start(model, StepEquations(*lcs, step_options(model).theta));
  else
    fmt::print("start        {}\n", named_values(variable_names(model), model.x0()));
  return exit_status(print_first_step(model));
}

Action configure_check(CLI::App& app) {
  const auto options = std::make_shared<ModelOptions>();
  options->add_to(app);
  options->add_span_to(app);
  options->add_run_to(app, {"h"});
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
    configure_check};

}  // namespace perp::cli
