#include <fmt/format.h>
#include <memory>

#include <perp/analysis/jumps.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/state_options.hpp>
#include <perp/io/text/jumps_text.hpp>

namespace perp::cli {
namespace {

struct JumpsArguments {
  ModelOptions model;
  StateOptions state;
  long max_nodes = JumpOptions{}.max_nodes;
  bool json = false;
};

int execute(const JumpsArguments& arguments) {
  const Model model = arguments.state.read(arguments.model);
  check_max_nodes(arguments.max_nodes);
  const double t = arguments.state.t(model);
  const Vector x = model.x0();
  const JumpOptions options{.max_nodes = arguments.max_nodes,
                            .present = arguments.state.present(model.laws())};
  const ModelJumps found = jumps_of(model, x, t, options);
  if (arguments.json) {
    fmt::print("{}\n", jumps_to_json(model, found, x, t).dump(1));
  } else {
    fmt::print("{}", jumps_text(model, found, x, t));
    for (const Law& law : model.laws())
      if (law.memory && options.present.empty())
        fmt::print(
            "note   the present branch of law '{}' is not known: every branch counts, see "
            "--mode\n",
            law.name);
  }
  const ConsistentJumps& jumps = found.jumps;
  if (jumps.status != Status::solved) fmt::print(stderr, "perp jumps: {}\n", jumps.message);
  return exit_status(jumps.status);
}

Action configure_jumps(CommandLine& line) {
  const auto arguments = std::make_shared<JumpsArguments>();
  arguments->model.run_keys = {"t"};
  arguments->model.add_to(line);
  arguments->state.add_to(line, "the state to jump from", "the time of the jump");
  arguments->state.add_mode_to(
      line,
      "the mode before the jump, a branch for each law, by name or number: "
      "laws with memory stay in their branch where they can");
  line.add_option("--max-nodes", arguments->max_nodes,
                 "ends the search over the modes; the answer is then not proved complete")
      .type_name("N");
  line.add_flag("--json", arguments->json, "write JSON");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command jumps;
const Command jumps{
    "jumps", "lists every jump after which a continuous solution starts",
    "The state jumps by impulses of the algebraic variables and multipliers onto a point that\n"
    "satisfies the laws and from which a continuous solution starts. An amplitude of 0 means that\n"
    "no jump is needed. Where independent parts of a system have many jumps together, those of "
    "each\n"
    "part are listed. Exit status 3: there is none, or the list is not proved complete.\n\n"
    "examples:\n"
    "  perp jumps switching_dae_jump --at x1=0,x2=-1\n"
    "  perp jumps switching_dae_jump --at x1=0,x2=-1 --set B1=2 --set B2=1",
    configure_jumps};

}  // namespace perp::cli
