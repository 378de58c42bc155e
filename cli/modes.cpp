#include <fmt/format.h>
#include <memory>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/hybrid_input.hpp>
#include <perp/cli/input/interrupt.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/hybrid/modes_text.hpp>

namespace perp::cli {
namespace {

struct ModesArguments {
  ModelOptions model;
  std::string at, previous, time;
  bool json = false;
};

int execute(const ModesArguments& arguments) {
  std::optional<HybridModel> model = read_hybrid(arguments.model, arguments.at);
  if (!model)
    throw InvalidInput(fmt::format(
        "{}: the model has neither binaries nor constraints; perp jumps and perp solutions "
        "know the modes of laws",
        arguments.model.model));
  const double t =
      arguments.time.empty() ? model->head.run.span.start : io::parse_number(arguments.time, "--t");
  const std::vector<double> previous = previous_values(*model, arguments.previous);
  const Vector x = model->head.x0();
  model->check_data_at(t);
  catch_interrupts();
  HybridModes modes(*std::move(model));
  const HybridContinuations found = modes.continuations(t, x, previous, {.stop = interrupted});
  if (arguments.json)
    fmt::print("{}\n", modes_to_json(modes, found).dump(1));
  else
    fmt::print("{}", modes_table(modes, found));
  if (found.status == Status::no_solution)
    fmt::print(stderr,
               "perp modes: no_solution at t = {:.10g}: no mode continues from this state\n", t);
  if (found.status == Status::not_enumerated)
    fmt::print(stderr, "perp modes: not_enumerated at t = {:.10g}: {}\n", t,
               interrupted() ? "interrupted" : "too many modes to be searched, and none was found");
  return exit_status(found.status);
}

Action configure_modes(CommandLine& line) {
  const auto arguments = std::make_shared<ModesArguments>();
  arguments->model.run_keys = {"t"};
  arguments->model.add_to(line);
  line.add_option("--at", arguments->at,
                 "the state; variables that are not named have the model's start")
      .type_name("NAME=VALUE,...");
  line.add_option("--previous", arguments->previous,
                 "the binaries just before; those that are not named have the model's start")
      .type_name("NAME=VALUE,...");
  line.add_option("--t", arguments->time, "the time; default: the model's start").type_name("T");
  line.add_flag("--json", arguments->json, "write JSON");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command modes;
const Command modes{
    "modes", "lists the values of binaries in which a solution continues from a state",
    "A value of the binaries continues where its equations have a solution from the state and no\n"
    "constraint becomes positive: by the first of its derivatives of orders 0 to 3 that is not 0.\n"
    "Binaries slide where both their values lead to a surface. Of several continuations the rule\n"
    "nearest_mode takes one (*). Exit status 3: there is none, or the search was too long.\n\n"
    "examples:\n"
    "  perp modes three_tank_binaries --at x1=40 --previous z1=1\n"
    "  perp modes model.toml --at x1=0 --previous z1=0.5 --json",
    configure_modes};

}  // namespace perp::cli
