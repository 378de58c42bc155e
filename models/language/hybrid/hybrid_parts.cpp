#include <perp/core/base/index.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/core/linear/disjoint_sets.hpp>
#include <perp/core/expression/rewriting/moved_inputs.hpp>
#include <perp/models/language/hybrid/hybrid_parts.hpp>

namespace perp {
namespace {

/// Of each input of the whole tape, where it stands in the part's; -1: not in it.
std::vector<int> places_of_inputs(const HybridModel& whole, const HybridPart& part) {
  std::vector<int> place(at(whole.input_count()), -1);
  const HybridModel& own = part.model;
  place[at(HybridModel::time_input())] = HybridModel::time_input();
  for (int j = 0; j < static_cast<int>(part.variables.size()); ++j) {
    place[at(HybridModel::derivative_input(part.variables[at(j)]))] = HybridModel::derivative_input(j);
    place[at(whole.variable_input(part.variables[at(j)]))] = own.variable_input(j);
  }
  for (int i = 0; i < own.q(); ++i)
    place[at(whole.binary_input(part.binaries[at(i)]))] = own.binary_input(i);
  for (int k = whole.parameter_input(0); k < whole.input_count(); ++k)
    place[at(k)] = own.parameter_input(0) + k - whole.parameter_input(0);
  return place;
}

/// Rows, texts and the tape, once the part has its signals.
void add_rows(const HybridModel& whole, const std::vector<int>& equations, HybridPart& part) {
  HybridModel& own = part.model;
  std::vector<int> lines;
  for (const int row : equations) lines.push_back(whole.f[at(row)]);
  for (const int l : part.constraints) lines.push_back(whole.g[at(l)]);
  for (const KnownInput& input : whole.inputs) lines.push_back(input.line);
  const std::vector<int> inputs = places_of_inputs(whole, part);
  own.tape = with_moved_inputs(whole.tape, [&](int input) { return inputs[at(input)]; }, lines);
  auto line = lines.begin();
  for (const int row : equations) {
    own.f.push_back(*line++);
    if (!whole.equation_texts.empty()) own.equation_texts.push_back(whole.equation_texts[at(row)]);
  }
  for (const int l : part.constraints) {
    own.g.push_back(*line++);
    own.constraints.push_back(whole.constraints[at(l)]);
  }
  own.inputs = whole.inputs;
  for (KnownInput& input : own.inputs) input.line = *line++;
}

/// Numbers of the members that are of set s.
std::vector<int> members(const std::vector<int>& sets, int s) {
  std::vector<int> list;
  for (int k = 0; k < static_cast<int>(sets.size()); ++k)
    if (sets[at(k)] == s) list.push_back(k);
  return list;
}

/// A row's unknowns, then its states.
template <class Visit>
void for_signals(const HybridStructure& structure, int row, const Visit& visit) {
  for (const int k : structure.unknowns_of_row[at(row)]) visit(k);
  for (const int k : structure.states_of_row[at(row)]) visit(k);
}

/// -1: it has none.
int first_signal(const HybridStructure& structure, int row) {
  const std::vector<int>&unknowns = structure.unknowns_of_row[at(row)], &states = structure.states_of_row[at(row)];
  if (!unknowns.empty()) return unknowns.front();
  return states.empty() ? -1 : states.front();
}

/// Of each signal one that stands for all that it is connected with by rows.
std::vector<int> components(const HybridStructure& structure, int signals) {
  linear::DisjointSets sets(signals);
  for (int row = 0; row < static_cast<int>(structure.unknowns_of_row.size()); ++row) {
    const int first = first_signal(structure, row);
    for_signals(structure, row, [&](int k) { sets.join(k, first); });
  }
  std::vector<int> roots;
  for (int k = 0; k < signals; ++k) roots.push_back(sets.root(k));
  return roots;
}

}  // namespace

IndependentSets independent_sets(const HybridModel& model, const HybridStructure& structure) {
  const int n = model.n(), signals = n + model.q();
  const std::vector<int> root = components(structure, signals);
  IndependentSets sets;
  std::vector<int> number(at(signals), -1);
  for (int j = 0; j < n; ++j) {
    int& own = number[at(root[at(j)])];
    if (own < 0) own = sets.count++;
    sets.of_variable.push_back(own);
  }
  for (int k = n; k < signals; ++k) sets.of_binary.push_back(number[at(root[at(k)])]);
  for (int row = 0; row < static_cast<int>(structure.unknowns_of_row.size()); ++row) {
    const int first = first_signal(structure, row);
    sets.of_row.push_back(first < 0 ? -1 : number[at(root[at(first)])]);
  }
  sets.has_rest = !members(sets.of_row, -1).empty() || !members(sets.of_binary, -1).empty();
  return sets;
}

std::vector<HybridPart> independent_parts(const HybridModel& model, const IndependentSets& sets) {
  const auto equations = static_cast<std::ptrdiff_t>(model.f.size());
  const std::vector<int> of_equation(sets.of_row.begin(), sets.of_row.begin() + equations),
      of_constraint(sets.of_row.begin() + equations, sets.of_row.end());
  std::vector<HybridPart> parts(at(sets.parts()));
  for (int k = 0; k < sets.parts(); ++k) {
    const int s = k < sets.count ? k : -1;
    HybridPart& part = parts[at(k)];
    part.variables = members(sets.of_variable, s);
    part.binaries = members(sets.of_binary, s);
    part.constraints = members(of_constraint, s);
    Model& head = part.model.head;
    head.name = model.head.name;
    head.file = model.head.file;
    head.parameters = model.head.parameters;
    head.run = model.head.run;
    for (const int j : part.variables) head.variables.push_back(model.head.variables[at(j)]);
    for (const int i : part.binaries) part.model.binaries.push_back(model.binaries[at(i)]);
    if (s < 0) head.variables.push_back({"constant"});
    add_rows(model, members(of_equation, s), part);
    if (s < 0) part.model.f.push_back(part.model.tape.input(HybridModel::derivative_input(0)));
  }
  return parts;
}

}  // namespace perp
