#include <fmt/format.h>
#include <memory>
#include <optional>

#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/first_step.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/well_posedness.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/interrupt.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/hybrid/incidence_plot.hpp>
#include <perp/io/hybrid/structure_text.hpp>
#include <perp/io/solutions/solutions_text.hpp>
#include <perp/io/text/check_text.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/well_posedness_text.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/hybrid/lower_binaries.hpp>

namespace perp::cli {
namespace {

constexpr long most_listed = 50;

/// The start and the first step from there, with all solutions of it. The status of the step.
Status print_first_step(const Model& model) {
  const Trajectory run = first_step(model);
  fmt::print("{}", scheme_start_text(model, run));
  if (!starts(model, run)) return run.status;
  const ListedSolutions solutions = solutions_of_first_step(model, run, most_listed);
  fmt::print("first step   {}; selector {}\n", describe_class(solutions), model.run.selector);
  if (!solutions.listed.empty()) fmt::print("{}", table_of(solutions, model, "  "));
  if (run.status != Status::solved) fmt::print("  {}\n", run.message);
  return run.status;
}

struct CheckArguments {
  ModelOptions model;
  std::string plot;
};

Status print_start_modes(const HybridModel& model) {
  const StartModes start = shown_start_modes(model, interrupted);
  fmt::print("{}", start_modes_text(model, start));
  return start.found.chosen ? Status::solved : start.found.status;
}

int execute(const CheckArguments& arguments) {
  const ModelReader reader(arguments.model);
  const std::optional<HybridModel> hybrid = reader.hybrid({}, "--at");
  if (!arguments.plot.empty()) {
    if (!hybrid)
      throw InvalidInput("--plot draws the rows of models with binaries or constraints; expected one");
    const Picture picture(arguments.plot);
    if (picture.is_page()) throw InvalidInput(fmt::format("--plot {}: there is no page of this picture; expected .svg, .png or .pdf", arguments.plot));
    draw_incidence(picture, *hybrid, structure_of(*hybrid));
  }
  if (hybrid) {
    fmt::print("{}", structure_text(*hybrid));
    catch_interrupts();
    if (!reason_for_binaries(*hybrid).empty()) return exit_status(print_start_modes(*hybrid));
  }
  // Without binaries a model may have more unknowns than full matrices hold.
  ModelOptions of_any_size = arguments.model;
  of_any_size.hybrid = true;
  const Model model = hybrid ? reader({}, {}, "--at") : ModelReader(of_any_size)({}, {}, "--at");
  fmt::print("{}", variables_text(model));
  fmt::print("{}", system_text(model));
  fmt::print("{}", laws_text(model));
  fmt::print("{}", modes_text(model, well_posedness(model)));
  fmt::print("{}", steps_text(model, solvability_of_steps(model)));
  if (is_affine(model))
    fmt::print("{}", start_text(model, consistency_of_start(model)));
  else
    fmt::print("start        {}\n", named_values(variable_names(model), model.x0()));
  return exit_status(print_first_step(model));
}

Action configure_check(CommandLine& line) {
  const auto arguments = std::make_shared<CheckArguments>();
  arguments->model.add_to(line);
  arguments->model.add_span_to(line);
  arguments->model.add_run_to(line, {"h"});
  arguments->model.add_scheme_to(line);
  line.add_option("--plot", arguments->plot,
                 "draw which rows hold which unknowns, before and after ordering: FILE.svg, .png or .pdf")
      .type_name("FILE");
  return [arguments] { return execute(*arguments); };
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
