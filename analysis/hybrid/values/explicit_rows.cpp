// Constraints as functions of the binaries: what a search over their values evaluates again and again.
#include <algorithm>

#include <perp/analysis/hybrid/values/explicit_rows.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {
namespace {

constexpr int most_lines = 100000;

}  // namespace

/// The model's own rows, and what replaces their lines.
struct ExplicitRows::Given {
  Tape tape{};
  std::vector<int> rows{};
  std::vector<int> unknowns{};    // of each variable the line that gives it, -1: not yet
  std::vector<int> replaced_by{};  // of each line of the tape, -1: not yet
  bool lacks_unknown = false;      // was one asked for before it was known?
};

ExplicitRows::ExplicitRows(const HybridModel& model) : model_(model), is_state_(at(model.n()), 0) {
  for (const int j : model.states()) is_state_[at(j)] = 1;
  Given given;
  given.tape = model.closed(given.rows);
  given.unknowns.assign(at(model.n()), -1);
  if (!put_unknowns(given)) return;
  for (std::size_t l = 0; l < model.g.size(); ++l) {
    const int line = given.rows[model.f.size() + l];
    values_.push_back(put(given, line));
    has_unknowns_.push_back(holds_unknown(given.tape, line) ? 1 : 0);
  }
  find_slopes(given.unknowns);
  for (int j = 0; j < model.n(); ++j) {
    norm_terms_.push_back(-1);
    if (!is_state_[at(j)]) continue;
    const int nominal = tape_.constant(model.head.variables[at(j)].nominal);
    const int rate = tape_.apply(Operation::divide, given.unknowns[at(j)], nominal);
    norm_terms_.back() = tape_.apply(Operation::multiply, rate, rate);
  }
  unknowns_ = std::move(given.unknowns);
  exist_ = tape_.size() < most_lines && !given.lacks_unknown;
}

bool ExplicitRows::holds_unknown(const Tape& tape, int line) const {
  const std::vector<int> lines = lines_below(tape, line);
  return std::any_of(lines.begin(), lines.end(), [&](int k) {
    const int j = tape[k].a - model_.variable_input(0);
    if (tape[k].operation != Operation::input || tape[k].a == HybridModel::time_input() || j >= model_.n()) return false;
    return j < 0 || !is_state_[at(j)];
  });
}

/// An input, or what gives the unknown that it is.
int ExplicitRows::put_input(Given& given, int input) {
  const int first = model_.variable_input(0);
  if (input == HybridModel::time_input() || input >= first + model_.n()) return tape_.input(input);
  const bool is_rate = input < first;
  const int j = input - (is_rate ? HybridModel::derivative_input(0) : first);
  if (!is_rate && is_state_[at(j)]) return tape_.input(input);
  if (given.unknowns[at(j)] >= 0) return given.unknowns[at(j)];
  given.lacks_unknown = true;
  return tape_.constant(0);
}

/// The line with the unknowns that are known replaced by the lines that give them.
int ExplicitRows::put(Given& given, int line) {
  given.replaced_by.resize(at(given.tape.size()), -1);
  const auto operand = [&](int a) { return a < 0 ? -1 : given.replaced_by[at(a)]; };
  for (const int k : lines_below(given.tape, line)) {
    int& here = given.replaced_by[at(k)];
    if (here >= 0) continue;
    const Instruction& old = given.tape[k];
    if (old.operation == Operation::constant)
      here = tape_.constant(old.value);
    else if (old.operation == Operation::input)
      here = put_input(given, old.a);
    else
      here = tape_.apply(old.operation, operand(old.a), operand(old.b));
  }
  return given.replaced_by[at(line)];
}

/// Of each equation the numbers of its unknowns, and the lines of its derivatives by these.
void ExplicitRows::find_unknowns(Given& given, linear::Pattern& unknowns, linear::Pattern& slopes) const {
  const int n = model_.n(), first = model_.variable_input(0);
  const std::vector<int> f(given.rows.begin(), given.rows.begin() + n);
  for (const Derivative& d : differentiate(given.tape, f, 1, first + n)) {
    const bool is_rate = d.input < first;
    const int j = d.input - (is_rate ? HybridModel::derivative_input(0) : first);
    if (is_rate != (is_state_[at(j)] != 0)) continue;
    unknowns[at(d.output)].push_back(j);
    slopes[at(d.output)].push_back(d.line);
  }
}

/// The equations in the order in which they give their unknowns. Empty: some give theirs together.
std::vector<ExplicitRows::Pair> ExplicitRows::pairs_of(Given& given) const {
  const int n = model_.n();
  linear::Pattern unknowns(at(n)), slopes(at(n)), successors(at(n));
  find_unknowns(given, unknowns, slopes);
  const linear::Matching matching = linear::maximum_matching(unknowns, n);
  if (!matching.is_perfect()) return {};
  for (int row = 0; row < n; ++row)
    for (const int j : unknowns[at(row)]) successors[at(row)].push_back(matching.row_of_column[at(j)]);
  const linear::Components components = linear::strong_components(successors);
  if (components.count < n) return {};
  std::vector<Pair> pairs(at(n));
  for (int row = 0; row < n; ++row) {
    const int j = matching.column_of_row[at(row)];
    const auto place = at(std::find(unknowns[at(row)].begin(), unknowns[at(row)].end(), j) - unknowns[at(row)].begin());
    pairs[at(components.of_node[at(row)])] = {given.rows[at(row)], j, slopes[at(row)][place]};
  }
  return pairs;
}

/// From f = f(0) + s u: u = −f(0) / s. False: f is not affine in u.
bool ExplicitRows::put_unknown(Given& given, const Pair& pair) {
  const int j = pair.unknown;
  const int input = is_state_[at(j)] ? HybridModel::derivative_input(j) : model_.variable_input(j);
  if (degree_in(given.tape, pair.line, {input}) != 1) return false;
  const int rest = put(given, with_values(given.tape, pair.line, {{input, 0}})), slope = put(given, pair.slope);
  denominators_.push_back(slope);
  const Instruction number = tape_[slope];
  const bool is_one = number.operation == Operation::constant && number.value == 1;
  const int quotient = is_one ? rest : tape_.apply(Operation::divide, rest, slope);
  const bool is_negative = tape_[quotient].operation == Operation::negate;
  given.unknowns[at(j)] = is_negative ? tape_[quotient].a : tape_.apply(Operation::negate, quotient);
  return tape_.size() < most_lines;
}

/// One equation after the other.
bool ExplicitRows::put_unknowns(Given& given) {
  if (static_cast<int>(model_.f.size()) != model_.n()) return false;
  const std::vector<Pair> pairs = pairs_of(given);
  return static_cast<int>(pairs.size()) == model_.n() &&
         std::all_of(pairs.begin(), pairs.end(), [&](const Pair& pair) { return put_unknown(given, pair); });
}

int ExplicitRows::times(int a, int b) {
  const auto is_one = [this](int k) { return tape_[k].operation == Operation::constant && tape_[k].value == 1; };
  if (is_one(a)) return b;
  return is_one(b) ? a : tape_.apply(Operation::multiply, a, b);
}

/// ∂g/∂t + Σ_j ∂g/∂x_j ẋ_j
void ExplicitRows::find_slopes(const std::vector<int>& unknowns) {
  slopes_.assign(values_.size(), -1);
  for (const Derivative& d : differentiate(tape_, values_, 0, model_.variable_input(model_.n()))) {
    const bool is_time = d.input == HybridModel::time_input();
    const int term = is_time ? d.line : times(d.line, unknowns[at(d.input - model_.variable_input(0))]);
    int& sum = slopes_[at(d.output)];
    sum = sum < 0 ? term : tape_.apply(Operation::add, sum, term);
  }
  for (int& slope : slopes_)
    if (slope < 0) slope = tape_.constant(0);
}

}  // namespace perp
