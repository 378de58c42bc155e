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
  for (const std::string& name : zoo()) {
    const Model model = read_model(find_model(name));
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
  for (const SchemeEntry& entry : schemes()) {
    std::string options;
    for (const RunOption& option : run_options())
      if (std::string(option.key) != "scheme" && reads(entry.name, option.key))
        options += (options.empty() ? "" : ", ") + std::string(option.key);
    table.add({entry.name, entry.meaning, options});
  }
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

int execute(const std::string& kind) {
  std::vector<std::string> names;
  for (const Kind& known : kinds) names.emplace_back(known.name);
  kinds[find_name(kind, names, "list")].print();
  return exit_solved;
}

Action configure_list(CommandLine& line) {
  const auto kind = std::make_shared<std::string>();
  line.add_option("KIND", *kind, "models, laws, schemes or solvers").required().type_name("");
  return [kind] { return execute(*kind); };
}

}  // namespace

extern const Command list;
const Command list{"list", "lists the models of the zoo, laws, schemes or solvers",
                   "examples:\n  perp list models\n  perp list solvers", configure_list};

}  // namespace perp::cli
