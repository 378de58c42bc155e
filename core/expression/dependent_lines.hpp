#pragma once

#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// For every line of a tape: does it depend on an input for which `matters(input)`?
template <class Matters>
std::vector<char> dependent_lines(const Tape& tape, const Matters& matters) {
  std::vector<char> depends(at(tape.size()), 0);
  const auto operand = [&](int line) { return line >= 0 && depends[at(line)] != 0; };
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& line = tape[k];
    depends[at(k)] = line.operation == Operation::input ? static_cast<bool>(matters(line.a))
                                                        : operand(line.a) || operand(line.b);
  }
  return depends;
}

/// The same of the inputs from `first` on, before `behind`.
inline std::vector<char> dependent_lines(const Tape& tape, int first, int behind) {
  return dependent_lines(tape, [=](int input) { return input >= first && input < behind; });
}

}  // namespace perp
