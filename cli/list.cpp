#include <fmt/format.h>
#include <memory>

#include <perp/cli/command.hpp>
#include <perp/cli/input/command_line.hpp>
#include <perp/io/text/lists_text.hpp>

namespace perp::cli {
namespace {

struct ListArguments {
  std::string kind;
  bool options = false;
};

int execute(const ListArguments& arguments) {
  fmt::print("{}", io::list_text(arguments.kind, arguments.options));
  return exit_solved;
}

Action configure_list(CommandLine& line) {
  const auto arguments = std::make_shared<ListArguments>();
  line.add_option("KIND", arguments->kind, "models, laws, schemes, solvers or measures")
      .required()
      .type_name("");
  line.add_flag("--options", arguments->options,
                "the options of the schemes: keys of [run], flags, with their defaults");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command list;
const Command list{"list", "lists the models of the zoo, laws, schemes, solvers or measures",
                   "examples:\n  perp list models\n  perp list schemes --options", configure_list};

}  // namespace perp::cli
