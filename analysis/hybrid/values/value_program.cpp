// The rows of a search over values of binaries, put in the order in which these get them.
#include <algorithm>

#include <perp/analysis/hybrid/values/value_program.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/polynomial.hpp>

namespace perp {
namespace {

bool is_leaf(const Instruction& line) {
  return line.operation == Operation::input || line.operation == Operation::constant || line.operation == Operation::pi;
}

bool is_rational(Operation operation) {
  return operation == Operation::negate || operation == Operation::add || operation == Operation::subtract ||
         operation == Operation::multiply || operation == Operation::divide;
}

}  // namespace

ValueProgram::ValueProgram(const HybridModel& model, const ExplicitRows& rows, std::vector<int> binaries, const Part& part)
    : from_(rows.tape()),
      binaries_(std::move(binaries)),
      first_binary_(model.binary_input(0)),
      end_of_binaries_(first_binary_ + model.q()) {
  std::vector<int> values, norm;
  for (const int l : part.constraints) values.push_back(rows.values()[at(l)]);
  for (const int j : part.variables)
    if (rows.norm_terms()[at(j)] >= 0) norm.push_back(rows.norm_terms()[at(j)]);
  std::vector<int> all = rows.denominators();
  all.insert(all.end(), values.begin(), values.end());
  for (const int l : part.constraints) all.push_back(rows.slopes()[at(l)]);
  all.insert(all.end(), norm.begin(), norm.end());
  all.insert(all.end(), rows.unknowns().begin(), rows.unknowns().end());
  order_binaries(values);
  find_levels(all);
  if (!exists_) return;
  put_.assign(at(from_.size()), -1);
  line_of_.assign(binary_of_.size(), -1);
  for (const int l : part.constraints) 
    rows_.push_back({l, put(rows.values()[at(l)]), put(rows.slopes()[at(l)]), rows.has_unknowns(l)});
  put_norm(std::move(norm));
  for (const int line : rows.unknowns()) unknowns_.push_back(put(line));
  put_denominators(rows.denominators());
}

/// Beside those of quotients that were put; each once, and none that is a number.
void ValueProgram::put_denominators(const std::vector<int>& lines) {
  for (const int line : lines)
    if (from_[line].operation != Operation::constant) denominators_.push_back(put(line));
  std::sort(denominators_.begin(), denominators_.end());
  denominators_.erase(std::unique(denominators_.begin(), denominators_.end()), denominators_.end());
}

void ValueProgram::put_norm(std::vector<int> terms) {
  std::stable_sort(terms.begin(), terms.end(), [&](int a, int b) { return from_level_[at(a)] < from_level_[at(b)]; });
  norm_ = keep(tape_.constant(0), 0, true);
  for (const int term : terms) norm_ = apply(Operation::add, norm_, put(term));
}

/// Those first that many lines of the rows hold.
void ValueProgram::order_binaries(const std::vector<int>& roots) {
  const int count = end_of_binaries_ - first_binary_;
  std::vector<long> weight(at(count), 0);
  InputsBelow below(from_);
  const std::vector<bool> needed = needed_lines(from_, roots);
  for (int k = 0; k < from_.size(); ++k)
    if (needed[at(k)])
      for (const int input : below(k))
        if (is_binary(input)) ++weight[at(input - first_binary_)];
  binary_of_ = binaries_;
  std::stable_sort(binary_of_.begin(), binary_of_.end(), [&](int a, int b) { return weight[at(a)] > weight[at(b)]; });
  level_of_binary_.assign(at(count), 0);
  for (int level = 1; level <= levels(); ++level) level_of_binary_[at(binary_of(level))] = level;
}

void ValueProgram::find_levels(const std::vector<int>& roots) {
  from_level_.assign(at(from_.size()), 0);
  from_pure_.assign(at(from_.size()), 0);
  uses_.assign(at(from_.size()), 0);
  const std::vector<bool> needed = needed_lines(from_, roots);
  for (const int root : roots) ++uses_[at(root)];
  for (int k = 0; k < from_.size() && exists_; ++k) {
    if (!needed[at(k)]) continue;
    find_level(k);
    exists_ = from_level_[at(k)] == 0 || is_leaf(from_[k]) || is_rational(from_[k].operation);
  }
}

void ValueProgram::find_level(int k) {
  const Instruction& line = from_[k];
  from_pure_[at(k)] = line.operation != Operation::input || is_binary(line.a) ? 1 : 0;
  if (line.operation == Operation::input && is_binary(line.a)) from_level_[at(k)] = level_of_binary_[at(line.a - first_binary_)];
  if (is_leaf(line)) return;
  for (const int operand : {line.a, line.b})
    if (operand >= 0) include(k, operand);
}

/// Line k uses the other one, whose level is known.
void ValueProgram::include(int k, int operand) {
  ++uses_[at(operand)];
  from_level_[at(k)] = std::max(from_level_[at(k)], from_level_[at(operand)]);
  if (!from_pure_[at(operand)]) from_pure_[at(k)] = 0;
}

/// The line with its level.
int ValueProgram::keep(int line, int level, bool is_pure) {
  if (line >= static_cast<int>(levels_.size())) {
    levels_.push_back(level);
    is_pure_.push_back(is_pure ? 1 : 0);
    is_bit_.push_back(makes_bit(line) ? 1 : 0);
    held_.push_back(holds(line));
  }
  return line;
}

bool ValueProgram::is_number(int line, double value) const {
  return line >= 0 && tape_[line].operation == Operation::constant && tape_[line].value == value;
}

std::uint64_t ValueProgram::holds(int line) const {
  const Instruction& here = tape_[line];
  if (here.operation == Operation::input && level(line) > 0) {
    const int binary = here.a - first_binary_;
    return std::uint64_t{1} << (std::find(binaries_.begin(), binaries_.end(), binary) - binaries_.begin());
  }
  if (is_leaf(here)) return 0;
  return (here.a < 0 ? 0 : held_by(here.a)) | (here.b < 0 ? 0 : held_by(here.b));
}

/// A binary, a product of such, or 1 without one.
bool ValueProgram::makes_bit(int line) const {
  const Instruction& here = tape_[line];
  if (here.operation == Operation::input) return is_pure(line);
  if (here.operation == Operation::multiply) return is_bit(here.a) && is_bit(here.b);
  return here.operation == Operation::subtract && is_number(here.a, 1) && is_bit(here.b);
}

/// Products and quotients with 1, and sums with 0, are what is left; −1: no such.
int ValueProgram::folded(Operation operation, int a, int b) const {
  const bool is_product = operation == Operation::multiply;
  if ((is_product || operation == Operation::divide) && is_number(b, 1)) return a;
  if (is_product && is_number(a, 1)) return b;
  return operation == Operation::add && is_number(a, 0) ? b : -1;
}

int ValueProgram::apply(Operation operation, int a, int b) {
  if (const int line = folded(operation, a, b); line >= 0) return line;
  if (operation == Operation::divide && level(b) > 0) denominators_.push_back(b);
  return keep(tape_.apply(operation, a, b), std::max(level(a), b < 0 ? 0 : level(b)), is_pure(a) && (b < 0 || is_pure(b)));
}

int ValueProgram::put_leaf(int line) {
  const Instruction& old = from_[line];
  if (old.operation == Operation::constant) return keep(tape_.constant(old.value), 0, true);
  if (old.operation == Operation::pi) return keep(tape_.apply(Operation::pi), 0, false);
  const int level = from_level_[at(line)], made = keep(tape_.input(old.a), level, from_pure_[at(line)] != 0);
  if (level > 0) line_of_[at(level - 1)] = made;
  return made;
}

int ValueProgram::put(int line) {
  int& here = put_[at(line)];
  if (here >= 0) return here;
  const Instruction& old = from_[line];
  if (is_leaf(old)) return here = put_leaf(line);
  if (from_level_[at(line)] > 0 && is_of(line, true)) return here = put_sum(line);
  if (from_level_[at(line)] > 0 && is_of(line, false)) return here = put_product(line);
  const int a = put(old.a), b = old.b < 0 ? -1 : put(old.b);
  return here = apply(old.operation, a, b);
}

bool ValueProgram::is_of(int line, bool is_sum) const {
  const Operation operation = from_[line].operation;
  if (operation == Operation::negate) return true;
  return is_sum ? operation == Operation::add || operation == Operation::subtract : operation == Operation::multiply;
}

/// What is added or multiplied, through lines that nothing else needs; those of low levels first.
std::vector<ValueProgram::Term> ValueProgram::terms_of(int line, bool is_sum) const {
  std::vector<Term> open{{line, false}}, terms;
  while (!open.empty()) {
    const Term term = open.back();
    open.pop_back();
    const bool is_inner = term.line == line || (uses_[at(term.line)] == 1 && from_level_[at(term.line)] > 0);
    if (!is_inner || !is_of(term.line, is_sum)) {
      terms.push_back(term);
      continue;
    }
    const Instruction& here = from_[term.line];
    const bool turns = here.operation == Operation::negate;
    if (here.b >= 0) open.push_back({here.b, is_sum && term.is_negative != (here.operation == Operation::subtract)});
    open.push_back({here.a, term.is_negative != turns});
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [&](const Term& a, const Term& b) { return from_level_[at(a.line)] < from_level_[at(b.line)]; });
  return terms;
}

int ValueProgram::put_sum(int line) {
  int sum = -1;
  for (const Term& term : terms_of(line, true)) {
    const int next = put(term.line);
    if (sum < 0)
      sum = term.is_negative ? apply(Operation::negate, next) : next;
    else
      sum = apply(term.is_negative ? Operation::subtract : Operation::add, sum, next);
  }
  return sum;
}

/// Numbers, factors of binaries alone, and others, each together: the first ones are shared by many rows.
int ValueProgram::put_product(int line) {
  std::vector<int> parts(3, -1);
  bool is_negative = false;
  for (const Term& term : terms_of(line, false)) {
    is_negative = is_negative != term.is_negative;
    const bool is_static = from_level_[at(term.line)] == 0;
    int& part = parts[is_static ? 0 : (from_pure_[at(term.line)] ? 1 : 2)];
    const int next = put(term.line);
    part = part < 0 ? next : apply(Operation::multiply, part, next);
  }
  std::erase(parts, -1);
  std::stable_sort(parts.begin(), parts.end(), [&](int a, int b) { return level(a) < level(b); });
  int product = is_negative ? apply(Operation::negate, parts[0]) : parts[0];
  for (std::size_t k = 1; k < parts.size(); ++k) product = apply(Operation::multiply, product, parts[k]);
  return product;
}

}  // namespace perp
