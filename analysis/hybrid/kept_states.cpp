// Whether the states of a hybrid model go on whatever its binaries do: runs ask before they say that there is no solution.
#include <algorithm>
#include <span>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/core/tape/bounded_tape.hpp>

namespace perp {
namespace {

/// A product of numbers may stay a formula where it is rounded.
bool is_number_beside_0(const Tape& tape, int line) {
  if (tape[line].operation == Operation::constant) return tape[line].value != 0;
  if (!InputsBelow(tape)(line).empty()) return false;
  BoundedTape number(tape, std::span(&line, 1), 0, {});
  number.run(nullptr, nullptr);
  return decided_sign(number.output(0)) != 0;
}

int input_of(const HybridModel& model, const HybridStructure& structure, int unknown) {
  return structure.is_state[at(unknown)] ? HybridModel::derivative_input(unknown) : model.variable_input(unknown);
}

/// Is it affine in the input, with slopes that are numbers other than 0?
bool has_number_as_slope(Tape& tape, int line, int input) {
  if (degree_in(tape, line, {input}) != 1) return false;
  const std::vector<int> output{line};
  const std::vector<Derivative> slopes = differentiate(tape, output, input, input + 1);
  return std::all_of(slopes.begin(), slopes.end(),
                     [&](const Derivative& slope) { return is_number_beside_0(tape, slope.line); });
}

}  // namespace

bool HybridModes::keeps_states() const {
  const HybridModel& of = model();
  std::vector<int> rows;
  Tape tape = of.closed(rows);
  for (const SubProblem& block : structure().blocks) {
    const int unknown = block.unknowns.empty() ? of.n() : block.unknowns.front();
    if (unknown >= of.n()) continue;
    const int input = input_of(of, structure(), unknown);
    const int row = block.rows.front();
    const bool is_alone = block.unknowns.size() == 1 && block.rows.size() == 1 && row < static_cast<int>(of.f.size());
    if (!is_alone || !has_number_as_slope(tape, rows[at(row)], input)) return false;
  }
  return true;
}

}  // namespace perp
