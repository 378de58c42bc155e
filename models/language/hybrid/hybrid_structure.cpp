#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {
namespace {

constexpr std::size_t most_named_rows = 8;

void read_incidence(const HybridModel& model, HybridStructure& structure) {
  structure.is_state.assign(at(model.n()), 0);
  for (const int j : model.states()) structure.is_state[at(j)] = 1;
  std::vector<int> rows = model.f;
  rows.insert(rows.end(), model.g.begin(), model.g.end());
  InputsBelow inputs_of(model.tape);
  std::vector<int> unknowns, states;
  structure.unknowns_of_row.reserve(rows.size());
  structure.states_of_row.reserve(rows.size());
  for (const int row : rows) {
    unknowns.clear();
    states.clear();
    for (const int input : inputs_of(row)) {
      if (input >= model.parameter_input(0) || input == HybridModel::time_input()) continue;
      if (input >= model.binary_input(0)) {
        unknowns.push_back(model.n() + input - model.binary_input(0));
      } else if (input >= model.variable_input(0)) {
        const int j = input - model.variable_input(0);
        (structure.is_state[at(j)] ? states : unknowns).push_back(j);
      } else {
        unknowns.push_back(input - HybridModel::derivative_input(0));
      }
    }
    std::sort(unknowns.begin(), unknowns.end());
    unknowns.erase(std::unique(unknowns.begin(), unknowns.end()), unknowns.end());
    structure.unknowns_of_row.emplace_back(unknowns.begin(), unknowns.end());
    structure.states_of_row.emplace_back(states.begin(), states.end());
  }
}

/// Rows, each with its partner, joined to the rows whose partners they hold: strong components are
/// the blocks, and their numbers increase along what needs what.
void find_blocks(HybridStructure& structure) {
  const auto& matching = structure.matching;
  linear::Pattern successors;
  successors.reserve(structure.unknowns_of_row.size());
  std::vector<int> rows;
  for (const std::vector<int>& unknowns : structure.unknowns_of_row) {
    rows.clear();
    for (const int unknown : unknowns)
      if (const int row = matching.row_of_column[at(unknown)]; row >= 0) rows.push_back(row);
    successors.emplace_back(rows.begin(), rows.end());
  }
  const linear::Components components = linear::strong_components(successors);
  structure.block_of_row = components.of_node;
  structure.block_of_unknown.assign(matching.row_of_column.size(), -1);
  structure.blocks.resize(at(components.count));
  for (int row = 0; row < static_cast<int>(successors.size()); ++row) {
    SubProblem& block = structure.blocks[at(components.of_node[at(row)])];
    block.rows.push_back(row);
    const int unknown = matching.column_of_row[at(row)];
    if (unknown < 0) continue;
    block.unknowns.push_back(unknown);
    structure.block_of_unknown[at(unknown)] = components.of_node[at(row)];
  }
  for (SubProblem& block : structure.blocks)
    std::sort(block.unknowns.begin(), block.unknowns.end());
}

/// In increasing order, each once.
std::vector<int> in_order(std::vector<int>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  return {numbers.begin(), std::unique(numbers.begin(), numbers.end())};
}

void find_needs(HybridStructure& structure) {
  std::vector<int> needs, ancestors;
  for (int b = 0; b < static_cast<int>(structure.blocks.size()); ++b) {
    SubProblem& block = structure.blocks[at(b)];
    needs.clear();
    for (const int row : block.rows)
      for (const int unknown : structure.unknowns_of_row[at(row)]) {
        const int other = structure.block_of_unknown[at(unknown)];
        if (other >= 0 && other != b) needs.push_back(other);
      }
    block.needs = in_order(needs);
    ancestors = block.needs;
    for (const int other : block.needs) {
      const std::vector<int>& further = structure.blocks[at(other)].ancestors;
      ancestors.insert(ancestors.end(), further.begin(), further.end());
    }
    block.ancestors = in_order(ancestors);
  }
}

/// Connected components, numbered in the order of their first blocks.
void find_sets(HybridStructure& structure) {
  std::vector<int> parent(structure.blocks.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parent](int b) {
    while (parent[at(b)] != b) b = parent[at(b)] = parent[at(parent[at(b)])];
    return b;
  };
  for (int b = 0; b < static_cast<int>(structure.blocks.size()); ++b)
    for (const int other : structure.blocks[at(b)].needs) {
      const int x = root(b), y = root(other);
      parent[at(std::max(x, y))] = std::min(x, y);
    }
  std::map<int, int> number;
  for (int b = 0; b < static_cast<int>(structure.blocks.size()); ++b)
    structure.set_of_block.push_back(
        number.try_emplace(root(b), static_cast<int>(number.size())).first->second);
  structure.sets = static_cast<int>(number.size());
}

/// Rows that alternating paths join to the equations without a partner: together they hold fewer
/// unknowns than there are rows.
std::set<int> rows_around(const HybridStructure& structure, std::vector<int> open) {
  std::set<int> rows(open.begin(), open.end());
  while (!open.empty()) {
    const int row = open.back();
    open.pop_back();
    for (const int unknown : structure.unknowns_of_row[at(row)])
      if (const int next = structure.matching.row_of_column[at(unknown)];
          next >= 0 && rows.insert(next).second)
        open.push_back(next);
  }
  return rows;
}

/// The degree of a power of something of degree a: a polynomial where the exponent is a natural number.
int degree_of_power(int a, const Instruction& exponent) {
  const bool is_natural = exponent.operation == Operation::constant && exponent.value >= 0 &&
                          exponent.value < 1000 &&
                          exponent.value == static_cast<int>(exponent.value);
  return is_natural ? a * static_cast<int>(exponent.value) : -1;
}

/// The degree of an operation on polynomials that are not both constant.
int degree_of_varying(const Tape& tape, const Instruction& line, int a, int b) {
  switch (line.operation) {
    case Operation::negate: return a;
    case Operation::add:
    case Operation::subtract: return std::max(a, b);
    case Operation::multiply: return a + b;
    case Operation::divide: return b == 0 ? a : -1;
    case Operation::power: return degree_of_power(a, tape[line.b]);
    default: return -1;
  }
}

/// The degree of one operation by those of its operands.
int degree_of(const Tape& tape, const Instruction& line, int a, int b) {
  if (a < 0 || b < 0) return -1;
  if (a == 0 && b == 0) return 0;
  return degree_of_varying(tape, line, a, b);
}

}  // namespace

HybridStructure structure_of(const HybridModel& model) {
  HybridStructure structure;
  read_incidence(model, structure);
  structure.matching = linear::maximum_matching(structure.unknowns_of_row, model.n() + model.q());
  find_blocks(structure);
  find_needs(structure);
  find_sets(structure);
  return structure;
}

std::shared_ptr<const HybridStructure> structure_of_binaries(const Model& model) {
  const std::shared_ptr<const Model::HybridForm>& known = model.hybrid_form;
  if (known && known->of == model.hybrid) return {known, &known->structure};
  return std::make_shared<const HybridStructure>(structure_of(*model.hybrid));
}

std::string unknown_name(const HybridModel& model, const HybridStructure& structure, int unknown) {
  if (unknown >= model.n()) return model.binaries[at(unknown - model.n())].name;
  const std::string& name = model.head.variables[at(unknown)].name;
  return structure.is_state[at(unknown)] ? "der(" + name + ")" : name;
}

namespace {

/// More equations than variables: those that are left for binaries, which constraints determine.
std::string equations_of_binaries(const HybridModel& model, const HybridStructure& structure) {
  std::string text;
  if (model.f.size() <= at(model.n())) return text;
  for (int row = 0; row < static_cast<int>(model.f.size()); ++row)
    if (const int unknown = structure.matching.column_of_row[at(row)]; unknown >= model.n())
      text += fmt::format("{}{} is an equation for {}, which constraints determine",
                          text.empty() ? "" : ", ", model.row_name(row),
                          unknown_name(model, structure, unknown));
  return text;
}

/// The first of the names, and how many more there are.
std::string first_names(const std::vector<std::string>& names) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(most_named_rows, names.size()));
  const std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  return names.size() > most_named_rows
             ? fmt::format("{} and {} more", text, names.size() - most_named_rows)
             : text;
}

/// Names of the unknowns that no row determines.
std::vector<std::string> undetermined(const HybridModel& model, const HybridStructure& structure) {
  std::vector<std::string> open;
  for (int k = 0; k < model.n() + model.q(); ++k)
    if (structure.matching.row_of_column[at(k)] < 0)
      open.push_back(unknown_name(model, structure, k));
  return open;
}

/// Equations that determine no unknown.
std::vector<int> unmatched_equations(const HybridModel& model, const HybridStructure& structure) {
  std::vector<int> unmatched;
  for (int row = 0; row < static_cast<int>(model.f.size()); ++row)
    if (structure.matching.column_of_row[at(row)] < 0) unmatched.push_back(row);
  return unmatched;
}

/// What the rows around these equations hold: fewer unknowns than they are.
std::string overdetermined(const HybridModel& model, const HybridStructure& structure,
                           const std::vector<int>& unmatched) {
  std::vector<std::string> rows, unknowns;
  std::set<int> columns;
  for (const int row : rows_around(structure, unmatched)) {
    rows.push_back(model.row_name(row));
    const std::vector<int>& held = structure.unknowns_of_row[at(row)];
    columns.insert(held.begin(), held.end());
  }
  for (const int column : columns) unknowns.push_back(unknown_name(model, structure, column));
  return columns.empty()
             ? fmt::format("{} hold no unknown", first_names(rows))
             : fmt::format("{} together hold only {}", first_names(rows), first_names(unknowns));
}

}  // namespace

std::string structural_defect(const HybridModel& model, const HybridStructure& structure) {
  const std::vector<std::string> open = undetermined(model, structure);
  const std::vector<int> unmatched = unmatched_equations(model, structure);
  if (open.empty() && unmatched.empty()) return equations_of_binaries(model, structure);
  std::string defect;
  if (!unmatched.empty()) defect = overdetermined(model, structure, unmatched);
  if (!open.empty())
    defect += fmt::format("{}nothing determines {}", defect.empty() ? "" : ", and ", first_names(open));
  return defect;
}

namespace {

/// Of the last of `lines`, which are all below it, in order.
int degree_of_last(const Tape& tape, const std::vector<int>& lines, const std::vector<int>& of) {
  std::vector<int> degree(lines.size(), 0);
  const auto of_operand = [&](int k) {
    if (k < 0) return 0;
    return degree[at(std::lower_bound(lines.begin(), lines.end(), k) - lines.begin())];
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Instruction& here = tape[lines[i]];
    if (here.operation == Operation::input)
      degree[i] = std::find(of.begin(), of.end(), here.a) != of.end() ? 1 : 0;
    else if (here.operation != Operation::constant)
      degree[i] = degree_of(tape, here, of_operand(here.a), of_operand(here.b));
  }
  return degree.back();
}

}  // namespace

int degree_in(const Tape& tape, int line, const std::vector<int>& of) {
  return degree_of_last(tape, lines_below(tape, line), of);
}

namespace {

std::vector<int> inputs_among(const Tape& tape, const std::vector<int>& lines) {
  std::vector<int> inputs;
  for (const int k : lines)
    if (tape[k].operation == Operation::input) inputs.push_back(tape[k].a);
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

}  // namespace

std::string outside_class(const HybridModel& model, int row) {
  const int equations = static_cast<int>(model.f.size());
  const int line = row < equations ? model.f[at(row)] : model.g[at(row - equations)];
  // No more than the row is looked at: there may be thousands of others.
  const std::vector<int> lines = lines_below(model.tape, line);
  for (const int input : inputs_among(model.tape, lines)) {
    const bool is_parameter = input >= model.parameter_input(0) && input < model.known_input(0);
    if (is_parameter) continue;
    const int degree = degree_of_last(model.tape, lines, {input});
    const bool is_binary = input >= model.binary_input(0) && input < model.parameter_input(0);
    if (degree < 0)
      return fmt::format("{} stands in a function that is no polynomial", model.input_names()[at(input)]);
    if (degree > 1 && !is_binary)
      return fmt::format("{} occurs with power {}", model.input_names()[at(input)], degree);
  }
  return {};
}

}  // namespace perp
