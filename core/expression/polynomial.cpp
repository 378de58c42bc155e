// Lines of a tape as polynomials: which constraints of a model are void or multiples of each other.
#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/polynomial.hpp>

namespace perp {
namespace {

using running_error::RunningError;

constexpr std::size_t most_terms = 4096;
constexpr double data_rounding = 4;  ///< of the numbers of a tape, in units of rounding
constexpr double most_power = 64;

bool may_be_zero(const RunningError& c) { return std::abs(c.value) <= c.error; }

void add(SparsePolynomial& sum, const std::vector<int>& atoms, const RunningError& c) {
  const auto [place, is_new] = sum.terms.try_emplace(atoms, c);
  if (!is_new) place->second = place->second + c;
}

/// Leaves out what is 0; none where a coefficient has no bound or there are too many.
std::optional<SparsePolynomial> checked(SparsePolynomial sum) {
  for (const auto& term : sum.terms)
    if (!std::isfinite(term.second.error)) return std::nullopt;
  std::erase_if(sum.terms, [](const auto& term) { return may_be_zero(term.second); });
  if (sum.terms.size() > most_terms) return std::nullopt;
  return sum;
}

SparsePolynomial constant(const RunningError& c) {
  SparsePolynomial result;
  if (!may_be_zero(c) || !std::isfinite(c.error)) result.terms[{}] = c;
  return result;
}

RunningError number(double value) {
  return RunningError(value, data_rounding * unit_roundoff * std::abs(value));
}

std::optional<SparsePolynomial> sum(const SparsePolynomial& a, double sign,
                                    const SparsePolynomial& b) {
  SparsePolynomial result = a;
  for (const auto& [atoms, c] : b.terms) add(result, atoms, sign < 0 ? -c : c);
  return checked(std::move(result));
}

/// The number that the polynomial is, none where it holds an atom.
std::optional<RunningError> as_number(const SparsePolynomial& a) {
  if (a.is_zero()) return RunningError(0);
  if (a.terms.size() > 1 || !a.terms.begin()->first.empty()) return std::nullopt;
  return a.terms.begin()->second;
}

}  // namespace

std::optional<SparsePolynomial> product(const SparsePolynomial& a, const SparsePolynomial& b) {
  if (a.terms.size() * b.terms.size() > most_terms) return std::nullopt;
  SparsePolynomial result;
  for (const auto& [left, c] : a.terms)
    for (const auto& [right, d] : b.terms) {
      std::vector<int> atoms = left;
      atoms.insert(atoms.end(), right.begin(), right.end());
      std::sort(atoms.begin(), atoms.end());
      add(result, atoms, c * d);
    }
  return checked(std::move(result));
}

bool are_equal(const SparsePolynomial& a, const SparsePolynomial& b) {
  const std::optional<SparsePolynomial> difference = sum(a, -1, b);
  return difference && difference->is_zero();
}

namespace {

/// Is it a natural number that a power is multiplied out for?
bool is_exponent(const std::optional<RunningError>& c) {
  return c && c->value >= 0 && c->value <= most_power && c->value == std::round(c->value);
}

std::optional<SparsePolynomial> power(const SparsePolynomial& a, int exponent) {
  std::optional<SparsePolynomial> result = constant(RunningError(1));
  for (int k = 0; k < exponent && result; ++k) result = product(*result, a);
  return result;
}

/// The function of one or two numbers.
std::optional<SparsePolynomial> applied(Operation operation, const RunningError& left,
                                        const std::optional<RunningError>& right) {
  const double value = apply_operation(operation, left.value, right ? right->value : left.value);
  return checked(constant(std::isfinite(value) ? number(value) : RunningError(value, value)));
}

/// An input, which may be one of the known numbers from `first` on.
SparsePolynomial input_value(int input, int first, const std::vector<double>& known) {
  if (input >= first && input - first < static_cast<int>(known.size()))
    return constant(RunningError(known[at(input - first)]));
  SparsePolynomial result;
  result.terms[{input}] = RunningError(1);
  return result;
}

}  // namespace

std::optional<double> ratio(const SparsePolynomial& a, const SparsePolynomial& b) {
  if (a.is_zero() || a.terms.size() != b.terms.size()) return std::nullopt;
  const RunningError& a0 = a.terms.begin()->second;
  const RunningError& b0 = b.terms.begin()->second;
  for (auto left = a.terms.begin(), right = b.terms.begin(); left != a.terms.end();
       ++left, ++right) {
    if (left->first != right->first) return std::nullopt;
    // a_k b_0 = b_k a_0 within rounding
    if (!may_be_zero(left->second * b0 - right->second * a0)) return std::nullopt;
  }
  return a0.value / b0.value;
}

bool PolynomialReader::holds(int atom, int first, int last) const {
  const auto is_in = [&](int input) { return input >= first && input < last; };
  if (atom >= 0) return is_in(atom);
  const std::set<int>& inputs = inputs_[at(-1 - atom)];
  return std::any_of(inputs.begin(), inputs.end(), is_in);
}

int PolynomialReader::atom(Operation operation, const SparsePolynomial& a,
                           const SparsePolynomial& b) {
  std::vector<double> key{static_cast<double>(operation)};
  std::set<int> inputs;
  for (const SparsePolynomial* operand : {&a, &b}) {
    key.push_back(static_cast<double>(operand->terms.size()));
    for (const auto& [atoms, c] : operand->terms) {
      key.push_back(static_cast<double>(atoms.size()));
      key.insert(key.end(), atoms.begin(), atoms.end());
      key.push_back(c.value);
      for (const int held : atoms) {
        if (held >= 0)
          inputs.insert(held);
        else
          inputs.insert(inputs_[at(-1 - held)].begin(), inputs_[at(-1 - held)].end());
      }
    }
  }
  // Inputs count from 0, functions from -1 downwards.
  const auto [place, is_new] = atoms_.try_emplace(key, -1 - static_cast<int>(atoms_.size()));
  if (is_new) inputs_.push_back(std::move(inputs));
  return place->second;
}

std::optional<SparsePolynomial> PolynomialReader::operation(const Instruction& line,
                                                            const SparsePolynomial& a,
                                                            const SparsePolynomial& b) {
  switch (line.operation) {
    case Operation::negate: return sum({}, -1, a);
    case Operation::add: return sum(a, 1, b);
    case Operation::subtract: return sum(a, -1, b);
    case Operation::multiply: return product(a, b);
    default: return of_function(line, a, b);
  }
}

std::optional<SparsePolynomial> PolynomialReader::of_function(const Instruction& line,
                                                              const SparsePolynomial& a,
                                                              const SparsePolynomial& b) {
  const std::optional<RunningError> left = as_number(a), right = as_number(b);
  if (line.operation == Operation::divide && right)
    return product(a, constant(RunningError(1) / *right));
  if (line.operation == Operation::power && is_exponent(right))
    return power(a, static_cast<int>(right->value));
  if (left && (line.b < 0 || right)) return applied(line.operation, *left, right);
  SparsePolynomial function;
  function.terms[{atom(line.operation, a, b)}] = RunningError(1);
  return function;
}

std::optional<SparsePolynomial> PolynomialReader::read(int line, int first,
                                                       const std::vector<double>& known) {
  std::map<int, SparsePolynomial> values;
  for (const int k : lines_below(tape_, line)) {
    const Instruction& here = tape_[k];
    std::optional<SparsePolynomial> value;
    if (here.operation == Operation::constant) {
      value = checked(constant(number(here.value)));
    } else if (here.operation == Operation::input) {
      value = input_value(here.a, first, known);
    } else {
      static const SparsePolynomial none;
      value = operation(here, here.a < 0 ? none : values.at(here.a),
                        here.b < 0 ? none : values.at(here.b));
    }
    if (!value) return std::nullopt;
    values[k] = *std::move(value);
  }
  return values.at(line);
}

std::vector<int> lines_below(const Tape& tape, int line) {
  std::vector<int> open{line}, lines;
  std::unordered_set<int> seen;
  while (!open.empty()) {
    const int k = open.back();
    open.pop_back();
    if (k < 0 || !seen.insert(k).second) continue;
    lines.push_back(k);
    if (tape[k].operation == Operation::input || tape[k].operation == Operation::constant) continue;
    open.push_back(tape[k].a);
    open.push_back(tape[k].b);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

InputsBelow::InputsBelow(const Tape& tape) : tape_(tape), met_by_(at(tape.size())) {}

const std::vector<int>& InputsBelow::operator()(int line) {
  inputs_.clear();
  ++question_;
  meet(line);
  while (!open_.empty()) {
    const Instruction& instruction = tape_[open_.back()];
    open_.pop_back();
    if (instruction.operation == Operation::input) {
      inputs_.push_back(instruction.a);
      continue;
    }
    meet(instruction.a);
    meet(instruction.b);
  }
  std::sort(inputs_.begin(), inputs_.end());
  return inputs_;
}

void InputsBelow::meet(int line) {
  if (line < 0 || met_by_[at(line)] == question_) return;
  met_by_[at(line)] = question_;
  open_.push_back(line);
}

}  // namespace perp
