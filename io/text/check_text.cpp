// What `perp check` says of a model and its start.
#include <fmt/format.h>
#include <algorithm>
#include <variant>

#include <perp/core/system/sparse_lcs.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/first_step.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/branches.hpp>
#include <perp/io/text/array_names.hpp>
#include <perp/io/text/check_text.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

constexpr long most_equations = 50;
constexpr std::size_t most_listed_laws = 50;  // of more the first and the last are listed

std::string shape(const char* name, Eigen::Index rows, Eigen::Index columns) {
  return fmt::format("{} {}x{}", name, rows, columns);
}

std::string shapes_text(const Model& model, const Lcs& lcs) {
  std::string text =
      fmt::format("shapes       {}, {}, {}, {}, {}, rank of E {}\n", shape("E", lcs.n(), lcs.n()),
                  shape("A", lcs.n(), lcs.n()), shape("B", lcs.n(), lcs.m()),
                  shape("C", lcs.m(), lcs.n()), shape("D", lcs.m(), lcs.m()), rank_of_e(lcs));
  const auto time_text = [](const char* name, const Signal& signal) {
    return signal.is_constant() ? fmt::format("{} constant", name)
                                : fmt::format("{} depends on time in {} of {} entries", name,
                                              signal.varying().size(), signal.size());
  };
  text += fmt::format("time         {}, {}; from {:g} to {:g}\n", time_text("b", lcs.b),
                      time_text("q", lcs.q), model.run.span.start, model.run.span.end);
  return text;
}

/// The equations as they were lowered, operators replaced by multipliers of their laws.
std::string equations_text(const Model& model, const Dcs& dcs) {
  // Large affine systems are kept as functions, too.
  std::string text = fmt::format("equations    n = {}, {}affine; t from {:g} to {:g}\n", dcs.n(), as_sparse_lcs(dcs) ? "" : "not ",
                                 model.run.span.start, model.run.span.end);
  const std::vector<std::string> names = model.input_names();
  const auto listed = std::min(dcs.F.size(), static_cast<std::size_t>(most_equations));
  for (std::size_t k = 0; k < listed; ++k)
    text += fmt::format("  0 = {}\n", print_expression(dcs.tape, dcs.F[k], names));
  if (listed < dcs.F.size()) text += fmt::format("  ... {} more\n", dcs.F.size() - listed);
  for (const Reset& reset : dcs.resets)
    text += fmt::format("reset        {}: where {} {}\n", reset.name,
                        print_expression(dcs.tape, reset.condition, names),
                        reset.direction < 0   ? "falls through 0"
                        : reset.direction > 0 ? "rises through 0"
                                              : "changes its sign");
  return text;
}

}  // namespace

std::string system_text(const Model& model) {
  if (const Lcs* lcs = model.system.affine()) return shapes_text(model, validated(*lcs));
  return equations_text(model, model.system.functions());
}

std::string variables_text(const Model& model) {
  std::vector<std::string> differential;
  std::vector<std::string> algebraic;
  const std::vector<int> indices = model.differential_variables();
  for (std::size_t j = 0; j < model.variables.size(); ++j)
    (std::binary_search(indices.begin(), indices.end(), static_cast<int>(j)) ? differential
                                                                             : algebraic)
        .push_back(model.variables[j].name);
  return fmt::format("model        {}\nvariables    n = {}: {} differential ({}), {} algebraic{}\n",
                     title(model), model.variables.size(), differential.size(),
                     names_text(differential), algebraic.size(),
                     algebraic.empty() ? "" : fmt::format(" ({})", names_text(algebraic)));
}

std::string laws_text(const Model& model) {
  const Laws& laws = model.laws();
  std::string text = fmt::format("laws         m = {}\n", laws.size());
  const bool has_arguments = !model.arguments.empty();
  std::vector<std::string> header{"#", "law", "branches"};
  if (has_arguments) header.insert(header.begin() + 2, "w");
  TextTable table(header);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (laws.size() > most_listed_laws && i == most_listed_laws - 5) {
      table.add({"...", fmt::format("{} more", laws.size() - most_listed_laws)});
      i = laws.size() - 5;
    }
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
  if (!laws.empty()) text += table.text("  ");
  return text;
}

std::string start_text(const Model& model, const StartConsistency& start) {
  std::string text =
      fmt::format("start        {}\n", named_values(variable_names(model), model.x0()));
  if (start.modes.empty())
    return text +
           fmt::format("  x0 {} the algebraic equations and laws with its differential variables\n",
                       start.complete ? "violates" : "was not found to satisfy");
  text += fmt::format(
      "  consistent: the differential variables satisfy all equations and laws, which leave {}\n"
      "  for the algebraic variables and lambda; in mode{}\n",
      start.multiplicity == Multiplicity::continuum ? "a continuum"
      : !start.complete ? fmt::format("{} values that were found", start.count)
      : start.multiplicity == Multiplicity::unique ? "one value"
                                                   : fmt::format("{} values", start.count),
      start.modes.size() > 1 ? "s" : "");
  for (const Mode& mode : start.modes)
    text += fmt::format("    {}\n", describe_briefly(model.laws(), mode));
  return text;
}

std::string scheme_start_text(const Model& model, const Trajectory& run) {
  std::string text;
  const std::size_t told = run.events.size() > most_listed_laws ? most_listed_laws - 5 : run.events.size();
  for (std::size_t k = 0; k < told; ++k) text += fmt::format("  {}\n", event_text(model, run.events[k]));
  if (told < run.events.size()) text += fmt::format("  ... {} more events\n", run.events.size() - told);
  if (!starts(model, run)) return text + fmt::format("first step   {}\n", run.message);
  return text + fmt::format("  the run starts in {} with {}\n",
                            describe_briefly(model.laws(), run.mode.front()),
                            named_values(variable_names(model), run.x.front()));
}

}  // namespace perp::io
