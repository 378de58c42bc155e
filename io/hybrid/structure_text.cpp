#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/io/hybrid/modes_text.hpp>
#include <perp/io/hybrid/structure_text.hpp>
#include <perp/io/text/text_table.hpp>
#include <perp/models/language/hybrid/binary_facts.hpp>
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

/// The degree of the equations of a sub-problem in its unknowns, binaries apart; -1: no polynomial.
int degree_of(const HybridModel& model, const HybridStructure& structure, const SubProblem& block) {
  std::vector<int> inputs;
  for (const int unknown : block.unknowns)
    if (unknown < model.n())
      inputs.push_back(structure.is_state[at(unknown)] ? HybridModel::derivative_input(unknown)
                                                       : model.variable_input(unknown));
  int degree = 0;
  for (const int row : block.rows) {
    if (row >= static_cast<int>(model.f.size())) continue;
    const int here = degree_in(model.tape, model.f[at(row)], inputs);
    if (here < 0) return -1;
    degree = std::max(degree, here);
  }
  return degree;
}

/// explicit | linear | k unknowns in products.
std::string kind_of_unknowns(int count, int degree) {
  const std::string unknowns = fmt::format("{} unknown{}", count, count == 1 ? "" : "s");
  if (degree < 0) return unknowns + ", no polynomial";
  if (degree > 1) return unknowns + " in products";
  return count == 1 ? "explicit" : fmt::format("linear, {} unknowns", count);
}

/// Of the unknowns, and the binaries.
std::string kind_text(const HybridModel& model, const HybridStructure& structure,
                      const SubProblem& block) {
  const int binaries = binaries_in(model, block);
  const int open = static_cast<int>(block.unknowns.size()) - binaries;
  const std::string text =
      binaries == 0 ? "" : fmt::format("{} binar{}", binaries, binaries == 1 ? "y" : "ies");
  if (open == 0) return text.empty() ? "check" : text;
  return text + (text.empty() ? "" : ", ") + kind_of_unknowns(open, degree_of(model, structure, block));
}

/// Of a table of sub-problems.
std::vector<std::string> block_row(const HybridModel& model, const HybridStructure& structure, int b) {
  const SubProblem& block = structure.blocks[at(b)];
  std::vector<std::string> rows, unknowns, needs;
  for (const int row : block.rows) rows.push_back(model.row_name(row));
  for (const int unknown : block.unknowns)
    unknowns.push_back(unknown_name(model, structure, unknown));
  for (const int other : block.needs) needs.push_back(fmt::format("{}", other + 1));
  return {fmt::format("{}", b + 1), fmt::format("{}", fmt::join(rows, ", ")),
          fmt::format("{}", fmt::join(unknowns, ", ")),
          needs.empty() ? "-" : fmt::format("{}", fmt::join(needs, ", ")),
          kind_text(model, structure, block)};
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
  for (int b = 0; b < shown; ++b) table.add(block_row(model, structure, b));
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

/// The class of every row, and the row as it is written.
std::string rows_text(const HybridModel& model) {
  TextTable table({"row", "class", "as written"});
  const int rows = static_cast<int>(model.f.size() + model.g.size());
  const int shown = std::min(rows, most_blocks);
  for (int row = 0; row < shown; ++row) {
    const int equations = static_cast<int>(model.f.size());
    const std::string why = outside_class(model, row);
    table.add({model.row_name(row), why.empty() ? "multilinear" : "not multilinear: " + why,
               row < equations ? model.equation_texts[at(row)]
                               : model.constraints[at(row - equations)].text});
  }
  std::string text = fmt::format("rows         {}\n{}", rows, table.text("  "));
  return shown < rows ? text + fmt::format("  ... {} more\n", rows - shown) : text;
}

/// What the distance of two surfaces says of changes between them.
std::string pair_text(const SurfacePair& pair) {
  const std::string surfaces = fmt::format("{} = 0 and {} = 0", pair.first, pair.second);
  if (pair.distance > 0)
    return fmt::format(
        "    dwell time: {0} are {1:g} apart: at most 1 + V T/{1:g} changes in a time T, V the "
        "largest |d/dt({2})|\n",
        surfaces, pair.distance, pair.first);
  if (pair.distance == 0) return fmt::format("    {} are one surface: it may slide\n", surfaces);
  return fmt::format("    gap: between {}, {:g} wide, neither value is allowed: solutions end\n", surfaces,
                     -pair.distance);
}

/// "00 x1 - u4 <= 0, u3 - x1 <= 0 | 01 ..", one line for each value.
std::string faces_text(const HybridModel& model, const BinaryBlock& block) {
  std::vector<std::string> names;
  for (const int i : block.binaries) names.push_back(model.binaries[at(i)].name);
  if (block.faces.empty()) return {};
  std::string text = fmt::format("  faces of sub-problem {}, {}\n", block.block + 1,
                                 fmt::join(names, ", "));
  for (std::size_t bits = 0; bits < block.faces.size(); ++bits) {
    std::string z;
    for (std::size_t k = block.binaries.size(); k-- > 0;) z += (bits >> k & 1) != 0 ? '1' : '0';
    const std::vector<std::string>& faces = block.faces[bits];
    text += fmt::format("    {}  {}\n", z,
                        faces.empty() ? "always allowed" : fmt::format("{}", fmt::join(faces, ", ")));
  }
  for (const SurfacePair& pair : block.pairs) text += pair_text(pair);
  return text;
}

/// Can the binaries be written as laws?
std::string lowered_text(const HybridModel& model) {
  const LoweredBinaries lowered = lower_binaries(model);
  if (lowered.reason.empty())
    return model.takes_whole_steps()
               ? "  as laws: exact; perp run keeps the binaries of a model of this size\n"
               : "  as laws: exact, so that perp run and all other commands take the model\n";
  const std::string about = lowered.constraint >= 0 ? model.constraints[at(lowered.constraint)].name
                                                    : model.binaries[at(lowered.binary)].name;
  return fmt::format("  as laws: not all, {}: {}\n", about, lowered.reason);
}

std::string binaries_text(const HybridModel& model, const HybridStructure& structure) {
  if (model.q() == 0) return {};
  TextTable table({"binary", "start", "values", "law"});
  const std::vector<BinaryLaw> laws = binary_laws(model);
  const int shown = std::min(model.q(), most_blocks);
  for (int i = 0; i < shown; ++i) {
    const Binary& binary = model.binaries[at(i)];
    table.add({binary.name, binary.start ? fmt::format("{}", *binary.start) : "free",
               fmt::format("0 {} | 1 {}", binary.modes[0], binary.modes[1]),
               laws[at(i)].name.empty() ? "none: " + laws[at(i)].reason : laws[at(i)].name});
  }
  std::string text = fmt::format("binaries     {}\n{}", model.q(), table.text("  "));
  if (shown < model.q()) text += fmt::format("  ... {} more\n", model.q() - shown);
  for (const BinaryBlock& block : binary_blocks(model, structure, most_blocks))
    text += faces_text(model, block);
  return text + lowered_text(model);
}

}  // namespace

std::string structure_text(const HybridModel& model) {
  const HybridStructure structure = structure_of(model);
  return class_text(model, structure) + rows_text(model) + blocks_text(model, structure) +
         incidence_text(model, structure) + binaries_text(model, structure);
}

namespace {

std::vector<std::string> mode_row(const StartMode& mode, bool is_chosen) {
  std::vector<std::string> z;
  for (const double value : mode.continuation.z) z.push_back(fmt::format("{:g}", value));
  const std::string index =
      mode.index ? fmt::format("regular, index {}", *mode.index) : std::string("singular");
  return {is_chosen ? "*" : "", z.empty() ? "smooth" : fmt::format("{}", fmt::join(z, " ")),
          mode.continuation.is_strict ? "strict" : "weak", mode.fault.empty() ? index : mode.fault};
}

}  // namespace

std::string start_modes_text(const HybridModel& model, const StartModes& start) {
  const HybridContinuations& found = start.found;
  const auto count = found.count.value_or(static_cast<long>(found.list.size()));
  std::string text = fmt::format("start        t = {:g}; {} {}{}\n", model.head.run.span.start, count,
                                 count == 1 ? "mode continues" : "modes continue",
                                 found.is_complete || found.count ? "" : ", of those that were looked at");
  for (const int row : found.violated)
    text += fmt::format("  the declared start violates {}\n", row_text(model, row));
  TextTable table({"", "mode", "verdict", "DAE in this mode"});
  for (std::size_t k = 0; k < start.modes.size(); ++k)
    table.add(mode_row(start.modes[k], found.chosen && at(*found.chosen) == k));
  return start.modes.empty() ? text : text + table.text("  ");
}

}  // namespace perp::io
