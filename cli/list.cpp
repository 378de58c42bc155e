#include <fmt/format.h>
#include <array>
#include <memory>

#include <perp/analysis/run/schemes.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/command_line.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/core/law.hpp>
#include <perp/io/text/text_table.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/models/language/run_options.hpp>

namespace perp::cli {
namespace {

void list_models() {
  TextTable table({"name", "variables", "laws", "exact", "description"});
  KnownNames known;
  known.hybrid = true;
  for (const std::string& name : zoo()) {
    const Model model = read_model(find_model(name), {}, known);
    table.add({name, fmt::format("{}", model.variables.size()),
               fmt::format("{}", model.laws().size()), model.exact.empty() ? "-" : "yes",
               model.source.empty() ? model.name : model.name + "; " + model.source});
  }
  fmt::print("{}", table.text());
}

void list_laws() {
  TextTable table({"name", "numbers", "meaning"});
  for (const NamedLaw& law : named_laws())
    table.add({law.name, fmt::format("{}", law.arguments), law.meaning});
  fmt::print("{}", table.text());
}

void list_schemes() {
  TextTable table({"name", "meaning", "options"});
  for (const SchemeEntry* entry : scheme_entries())
    table.add({entry->name, entry->meaning, fmt::format("{}", fmt::join(entry->keys, ", "))});
  fmt::print("{}", table.text());
}

/// The value that an option has where none is given.
std::string default_of(const RunOption& option) {
  const RunOptions run;
  if (const auto* number = std::get_if<double RunOptions::*>(&option.member))
    return run.**number == 0 ? "span / 1000" : fmt::format("{}", run.**number);
  if (const auto* yes = std::get_if<bool RunOptions::*>(&option.member))
    return run.**yes ? "true" : "false";
  const std::string& word = run.*std::get<std::string RunOptions::*>(option.member);
  return word.empty() ? "-" : word;
}

void list_options() {
  TextTable table({"option", "default", "schemes", "meaning"});
  for (const RunOption& option : run_options())
    if (const std::string readers = schemes_reading(option.key); !readers.empty())
      table.add({option.key, default_of(option), readers, option.meaning});
  fmt::print("{}", table.text());
}

void list_solvers() {
  TextTable table({"name", "meaning"});
  for (const MlcpSolver* method : solvers()) table.add({method->name, method->description});
  fmt::print("{}", table.text());
}

struct Kind {
  const char* name;
  void (*print)();
};
constexpr std::array<Kind, 4> kinds{{{"models", list_models},
                                     {"laws", list_laws},
                                     {"schemes", list_schemes},
                                     {"solvers", list_solvers}}};

struct ListArguments {
  std::string kind;
  bool options = false;
};

int execute(const ListArguments& arguments) {
  std::vector<std::string> names;
  for (const Kind& known : kinds) names.emplace_back(known.name);
  const Kind& kind = kinds[find_name(arguments.kind, names, "list")];
  if (arguments.options && kind.print != list_schemes)
    throw InvalidInput(
        fmt::format("--options is of perp list schemes: {} have none", arguments.kind));
  arguments.options ? list_options() : kind.print();
  return exit_solved;
}

Action configure_list(CommandLine& line) {
  const auto arguments = std::make_shared<ListArguments>();
  line.add_option("KIND", arguments->kind, "models, laws, schemes or solvers")
      .required()
      .type_name("");
  line.add_flag("--options", arguments->options,
                "the options of the schemes: keys of [run], flags, with their defaults");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command list;
const Command list{"list", "lists the models of the zoo, laws, schemes or solvers",
                   "examples:\n  perp list models\n  perp list schemes --options", configure_list};

}  // namespace perp::cli
