#pragma once

#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// Which way a line of a tape goes with one of its inputs, by its form: the others are fixed.
enum class Way : char { none, up, down, unknown };

/// Of each line its way with an input. `values` (one an input) tells the signs of coefficients: NaN
/// where an input varies.
[[nodiscard]] std::vector<Way> ways_with(const Tape& tape, int input,
                                         const std::vector<double>& values);

}  // namespace perp
