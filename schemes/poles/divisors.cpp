// The lines of formulas at whose zeros these are no numbers, or jump.
#include <algorithm>

#include <perp/core/expression/sign_of_formula.hpp>
#include <perp/schemes/poles/explicit_form.hpp>

namespace perp {
namespace {

/// Adds the lines whose zeros are those of `line`.
void add_factors_of(const Tape& tape, int line, std::vector<int>& factors) {
  const Instruction& what = tape[line];
  switch (what.operation) {
    case Operation::constant:
    case Operation::pi: return;
    case Operation::negate:
    case Operation::power:
    case Operation::abs: return add_factors_of(tape, what.a, factors);
    case Operation::divide: return add_factors_of(tape, what.a, factors);
    case Operation::guard: return add_factors_of(tape, what.b, factors);
    case Operation::multiply:
      add_factors_of(tape, what.a, factors);
      return add_factors_of(tape, what.b, factors);
    default:
      if (std::find(factors.begin(), factors.end(), line) == factors.end()) factors.push_back(line);
  }
}

}  // namespace

std::vector<int> divisors_of(Tape& tape, const std::vector<int>& rows) {
  const std::vector<bool> needed = needed_lines(tape, rows);
  std::vector<int> factors;
  for (int k = 0, count = tape.size(); k < count; ++k) {
    if (!needed[static_cast<std::size_t>(k)]) continue;
    const Instruction what = tape[k];
    if (what.operation == Operation::divide)
      add_factors_of(tape, what.b, factors);
    else if (what.operation == Operation::power &&
             tape[what.b].operation == Operation::constant && tape[what.b].value < 0)
      add_factors_of(tape, what.a, factors);
    else if (what.operation == Operation::tan)
      add_factors_of(tape, tape.apply(Operation::cos, what.a), factors);
  }
  std::erase_if(factors, [&](int line) { return vanishes_nowhere(tape, line); });
  return factors;
}

std::vector<int> cuts_of(const Tape& tape, const std::vector<int>& rows) {
  const std::vector<bool> needed = needed_lines(tape, rows);
  std::vector<int> cuts;
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& what = tape[k];
    if (!needed[static_cast<std::size_t>(k)] || what.operation != Operation::atan2) continue;
    const bool is_number = tape[what.a].operation == Operation::constant;
    if (!is_number && std::find(cuts.begin(), cuts.end(), what.a) == cuts.end())
      cuts.push_back(what.a);
  }
  return cuts;
}

}  // namespace perp
