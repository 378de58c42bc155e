#include <fmt/format.h>
#include <cmath>
#include <memory>
#include <optional>

#include <perp/analysis/equilibria.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/state_options.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/text/equilibria_text.hpp>

namespace perp::cli {
namespace {

struct EquilibriaArguments {
  ModelOptions model;
  StateOptions state;
  EquilibriumOptions options;
  std::optional<double> reach;   ///< none: as the library
  std::optional<unsigned> seed;  ///< the same
  bool tangents = false, virtuals = false, json = false;
};

/// Throws InvalidInput for options of the other starts where there is only the first.
void read_other_starts(EquilibriaArguments& arguments) {
  for (const auto& [option, is_given] :
       {std::pair{"--reach", arguments.reach.has_value()}, {"--seed", arguments.seed.has_value()}})
    if (is_given && arguments.options.starts == 1)
      throw InvalidInput(fmt::format(
          "{} is of the starts after the first: it has no effect with --starts 1", option));
  if (arguments.reach && !std::isfinite(*arguments.reach))
    throw InvalidInput(fmt::format("--reach is {}; expected a finite number", *arguments.reach));
  arguments.options.reach = arguments.reach.value_or(arguments.options.reach);
  arguments.options.seed = arguments.seed.value_or(arguments.options.seed);
}

int execute(EquilibriaArguments arguments) {
  read_other_starts(arguments);
  const Model model = arguments.state.read(arguments.model);
  ModelEquilibria found =
      equilibria_of(model, arguments.state.t(model), arguments.options, arguments.tangents);
  if (!arguments.virtuals) found = without_virtual(std::move(found));
  if (arguments.json)
    fmt::print("{}\n", to_json(model, found).dump(1));
  else
    fmt::print("{}", equilibria_text(model, found));
  if (!found.points.complete)
    fmt::print(stderr, "perp equilibria: only the first {} modes were looked at\n",
               arguments.options.most_modes);
  const bool none = found.points.found.empty() && (!found.tangents || found.tangents->empty());
  if (none) fmt::print(stderr, "perp equilibria: none was found\n");
  return none ? exit_no_answer : exit_solved;
}

Action configure_equilibria(CommandLine& line) {
  const auto arguments = std::make_shared<EquilibriaArguments>();
  EquilibriumOptions& options = arguments->options;
  arguments->model.run_keys = {"t"};
  arguments->model.add_to(line);
  arguments->state.add_to(line, "the first start", "the time at which the equations are looked at");
  line.add_option("--starts", options.starts, "starts in each mode; 1: only the first")
      .type_name("COUNT")
      .between(1, 1'000'000);
  line.add_option("--reach", arguments->reach,
                 "how far the other starts lie from the first, in units of |x| + nominal")
      .type_name("NUMBER")
      .positive();
  line.add_option("--seed", arguments->seed, "of the other starts").type_name("NUMBER");
  line.add_flag("--tangents", arguments->tangents,
               "also the points where a flow touches a surface with sliding");
  line.add_flag("--virtual", arguments->virtuals, "also the points beyond the ends of the branches of their mode");
  line.add_flag("--json", arguments->json, "write JSON");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command equilibria;
const Command equilibria{
    "equilibria", "points at rest in each mode, with the eigenvalues of its (sliding) flow",
    "A pseudo-equilibrium rests while a law slides; a boundary one is at the end of a branch; a\n"
    "virtual one solves the equations of a mode beyond the ends of its branches: nothing rests there, and it is\n"
    "listed with --virtual alone.\n\n"
    "examples:\n"
    "  perp equilibria soft_drink_paired\n"
    "  perp equilibria filippov_dae --tangents\n"
    "  perp equilibria model.toml --at x1=2,x2=0.5 --starts 1 --json",
    configure_equilibria};

}  // namespace perp::cli
