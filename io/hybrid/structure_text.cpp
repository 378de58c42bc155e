#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/io/hybrid/structure_text.hpp>
#include <perp/io/text/text_table.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>
#include <perp/models/language/hybrid/lower_binaries.hpp>
#include <perp/models/language/multilinear/multilinear_form.hpp>

namespace perp::io {
namespace {

constexpr int most_drawn = 40;
constexpr int most_blocks = 40;
constexpr double most_exact_power = 53;

std::string class_text(const HybridModel& model, const HybridStructure& structure) {
  const auto states = std::count(structure.is_state.begin(), structure.is_state.end(), 1);
  const std::string sizes = fmt::format(
      "{} equations, {} constraints; signals {} der, {} x, {} u, {} y, {} z", model.f.size(),
      model.g.size(), states, states, model.inputs.size(), model.n() - states, model.q());
  std::string text;
  for (int row = 0; row < static_cast<int>(model.f.size() + model.g.size()); ++row)
    if (const std::string why = outside_class(model, row); !why.empty())
      text += fmt::format("  {} is not: {}\n", model.row_name(row), why);
  if (!text.empty()) return fmt::format("class        not multilinear: {}\n{}", sizes, text);
  try {
    const MultilinearForm form = multilinear_form(model);
    return fmt::format(
        "class        multilinear: {}; {} columns, {} and {} non-zeros of S and Phi\n", sizes,
        form.columns(), form.structure_entries(), form.parameter_entries());
  } catch (const InvalidInput& problem) {
    return fmt::format("class        multilinear: {}; no matrices: {}\n", sizes, problem.what());
  }
}

int binaries_in(const HybridModel& model, const SubProblem& block) {
  return static_cast<int>(std::count_if(block.unknowns.begin(), block.unknowns.end(),
                                        [&](int unknown) { return unknown >= model.n(); }));
}

/// explicit | linear | k unknowns in products, and the binaries.
std::string kind_text(const HybridModel& model, const HybridStructure& structure,
                      const SubProblem& block) {
  const int binaries = binaries_in(model, block);
  const int open = static_cast<int>(block.unknowns.size()) - binaries;
  std::vector<int> inputs;
  for (const int unknown : block.unknowns)
    if (unknown < model.n())
      inputs.push_back(structure.is_state[at(unknown)] ? HybridModel::derivative_input(unknown)
                                                       : model.variable_input(unknown));
  int degree = 0;
  for (const int row : block.rows)
    if (row < static_cast<int>(model.f.size()) && degree >= 0) {
      const int here = degree_in(model.tape, model.f[at(row)], inputs);
      degree = here < 0 ? -1 : std::max(degree, here);
    }
  std::string text =
      binaries == 0 ? "" : fmt::format("{} binar{}", binaries, binaries == 1 ? "y" : "ies");
  if (open > 0 && !text.empty()) text += ", ";
  if (open == 0) return text.empty() ? "check" : text;
  if (degree < 0)
    return text + fmt::format("{} unknown{}, no polynomial", open, open == 1 ? "" : "s");
  if (degree > 1) return text + fmt::format("{} unknown{} in products", open, open == 1 ? "" : "s");
  return text + (open == 1 ? "explicit" : fmt::format("linear, {} unknowns", open));
}

std::string blocks_text(const HybridModel& model, const HybridStructure& structure) {
  double tried = 0;
  for (const SubProblem& block : structure.blocks)
    if (const int count = binaries_in(model, block); count > 0) tried += std::ldexp(1, count);
  const std::string all = model.q() <= most_exact_power
                              ? fmt::format("{:.0f}", std::ldexp(1, model.q()))
                              : fmt::format("2^{}", model.q());
  std::string text = fmt::format(
      "sub-problems {} in {} sub-set{}; values of the binaries: {:.0f} one sub-problem after the "
      "other, {} all together\n",
      structure.blocks.size(), structure.sets, structure.sets == 1 ? "" : "s", tried, all);
  TextTable table({"#", "rows", "unknowns", "needs", "kind"});
  const int shown = std::min(most_blocks, static_cast<int>(structure.blocks.size()));
  for (int b = 0; b < shown; ++b) {
    const SubProblem& block = structure.blocks[at(b)];
    std::vector<std::string> rows, unknowns, needs;
    for (const int row : block.rows) rows.push_back(model.row_name(row));
    for (const int unknown : block.unknowns)
      unknowns.push_back(unknown_name(model, structure, unknown));
    for (const int other : block.needs) needs.push_back(fmt::format("{}", other + 1));
    table.add({fmt::format("{}", b + 1), fmt::format("{}", fmt::join(rows, ", ")),
               fmt::format("{}", fmt::join(unknowns, ", ")),
               needs.empty() ? "-" : fmt::format("{}", fmt::join(needs, ", ")),
               kind_text(model, structure, block)});
  }
  text += table.text("  ");
  if (shown < static_cast<int>(structure.blocks.size()))
    text += fmt::format("  ... {} more\n", structure.blocks.size() - at(shown));
  return text;
}

/// Rows and unknowns in the order of the sub-problems: block lower triangular.
std::string incidence_text(const HybridModel& model, const HybridStructure& structure) {
  const int rows = static_cast<int>(structure.unknowns_of_row.size());
  if (rows > most_drawn) return {};
  std::vector<int> unknowns;
  std::size_t width = 0;
  for (const SubProblem& block : structure.blocks)
    unknowns.insert(unknowns.end(), block.unknowns.begin(), block.unknowns.end());
  for (int row = 0; row < rows; ++row) width = std::max(width, model.row_name(row).size());
  std::string text = "incidence\n";
  for (const SubProblem& block : structure.blocks)
    for (const int row : block.rows) {
      const std::vector<int>& held = structure.unknowns_of_row[at(row)];
      text += fmt::format("  {:<{}}  ", model.row_name(row), width);
      for (const int unknown : unknowns)
        text += std::binary_search(held.begin(), held.end(), unknown) ? "x" : ".";
      text += "\n";
    }
  return text;
}

std::string binaries_text(const HybridModel& model) {
  if (model.q() == 0) return {};
  TextTable table({"binary", "start", "values"});
  for (const Binary& binary : model.binaries)
    table.add({binary.name, binary.start ? fmt::format("{}", *binary.start) : "free",
               fmt::format("0 {} | 1 {}", binary.modes[0], binary.modes[1])});
  const LoweredBinaries lowered = lower_binaries(model);
  std::string text = fmt::format("binaries     {}\n{}", model.q(), table.text("  "));
  if (lowered.reason.empty())
    return text + "  as laws: exact, so that perp run and all other commands take the model\n";
  const std::string about = lowered.constraint >= 0 ? model.constraints[at(lowered.constraint)].name
                                                    : model.binaries[at(lowered.binary)].name;
  return text + fmt::format("  as laws: not all, {}: {}\n", about, lowered.reason);
}

}  // namespace

std::string structure_text(const HybridModel& model) {
  const HybridStructure structure = structure_of(model);
  return class_text(model, structure) + blocks_text(model, structure) +
         incidence_text(model, structure) + binaries_text(model);
}

}  // namespace perp::io
