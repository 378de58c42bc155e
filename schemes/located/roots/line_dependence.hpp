#pragma once

#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// How a line of a tape depends on some of its inputs, by its form.
enum class Dependence : char { none, affine, nonlinear };

/// Of a line whose operands depend on them like this.
[[nodiscard]] Dependence dependence_of(const Instruction& line, Dependence a, Dependence b);

/// Of each line how it depends on the inputs k with inputs[k] ≠ 0, on all of them together.
[[nodiscard]] std::vector<Dependence> dependences(const Tape& tape, const std::vector<char>& inputs);

}  // namespace perp
