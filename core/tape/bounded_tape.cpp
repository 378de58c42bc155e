#include <algorithm>
#include <cmath>

#include <perp/core/tape/bounded_tape.hpp>

namespace perp {
namespace {

RunningError result_of(const Instruction& line, const std::vector<RunningError>& values) {
  if (line.operation == Operation::pi) return ScalarTraits<RunningError>::pi();
  const RunningError& a = values[static_cast<std::size_t>(line.a)];
  const RunningError& b = line.b < 0 ? a : values[static_cast<std::size_t>(line.b)];
  return apply_operation(line.operation, a, b);
}

/// A formula of numbers has their value: an angle on its cut, which a state could be on by its rounding, too.
RunningError result_of_numbers(const Instruction& line, const std::vector<RunningError>& values) {
  const RunningError result = result_of(line, values);
  if (line.operation != Operation::atan2 || !std::isfinite(result.value)) return result;
  const auto is_exact = [&](int k) { return values[static_cast<std::size_t>(k)].error == 0; };
  if (!is_exact(line.a) || !is_exact(line.b)) return result;
  return RunningError(result.value, running_error::rounding(result.value, running_error::library));
}

/// Does an operand of the line change?
bool depends(const Instruction& line, const std::vector<char>& changes) {
  const auto does = [&](int k) { return k >= 0 && changes[static_cast<std::size_t>(k)] != 0; };
  return does(line.a) || does(line.b);
}

/// Does a line change with the first `inputs` inputs? `changes`: do those before it?
bool changes_with_inputs(const Instruction& line, int inputs, const std::vector<char>& changes) {
  if (line.operation == Operation::input) return line.a < inputs;
  return line.operation != Operation::constant && depends(line, changes);
}

/// Of a line that does not change. `known`: the inputs from number `inputs` on.
RunningError known_result(const Instruction& line, int inputs, std::span<const double> known,
                          const std::vector<RunningError>& values) {
  if (line.operation == Operation::input) return RunningError(known[static_cast<std::size_t>(line.a - inputs)]);
  if (line.operation == Operation::constant) return RunningError(line.value);
  return result_of_numbers(line, values);
}

}  // namespace

BoundedTape::BoundedTape(const Tape& tape, std::span<const int> outputs, int inputs,
                         std::span<const double> known)
    : outputs_(outputs.begin(), outputs.end()),
      values_(static_cast<std::size_t>(tape.size())) {
  const std::vector<bool> needed = needed_lines(tape, outputs);
  std::vector<char> changes(values_.size(), 0);
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& line = tape[k];
    const auto at = static_cast<std::size_t>(k);
    if (!needed[at]) continue;
    changes[at] = changes_with_inputs(line, inputs, changes) ? 1 : 0;
    if (changes[at] != 0)
      changing_.push_back({line.operation, line.a, line.b, k});
    else
      values_[at] = known_result(line, inputs, known, values_);
  }
  std::vector<char> is_known(values_.size(), 1);
  for (const Line& line : changing_) is_known[static_cast<std::size_t>(line.to)] = 0;
  lanes_ = BoundedLanes(tape, outputs_, is_known, values_);
  if (!lanes_.serves()) return;
  changing_ = {};
  values_ = {};
}

void BoundedTape::run(const double* z, const double* z_error, double* values, double* errors) {
  if (lanes_.serves()) return lanes_.run(z, z_error, values, errors);
  run(z, z_error);
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const RunningError& result = values_[static_cast<std::size_t>(outputs_[k])];
    values[k] = result.value;
    errors[k] = result.error;
  }
}

void BoundedTape::run(const double* z, const double* z_error) {
  if (lanes_.serves()) return lanes_.run(z, z_error);
  RunningError* const values = values_.data();
  for (const Line& line : changing_) {
    RunningError& value = values[line.to];
    switch (line.operation) {  // the frequent ones without the long way
      case Operation::input: value = RunningError(z[line.a], z_error == nullptr ? 0 : z_error[line.a]); break;
      case Operation::add: value = values[line.a] + values[line.b]; break;
      case Operation::subtract: value = values[line.a] - values[line.b]; break;
      case Operation::multiply: value = values[line.a] * values[line.b]; break;
      default: value = apply_operation(line.operation, values[line.a], values[line.b < 0 ? line.a : line.b]);
    }
  }
}

}  // namespace perp
