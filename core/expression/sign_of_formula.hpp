#pragma once

#include <perp/core/tape/tape.hpp>

namespace perp {

/// The sign that a line of a tape has by its form, whatever its inputs are: sums and products of exponentials, squares and
/// positive numbers vanish nowhere, though their doubles may.
enum class FormulaSign { unknown, nonpositive, nonnegative, negative, positive };

FormulaSign sign_of_formula(const Tape& tape, int line);

/// Does this line vanish nowhere by its form?
bool vanishes_nowhere(const Tape& tape, int line);

/// The same of a line that holds exponentials, sums, and products with numbers alone: an unknown of which it is the slope comes
/// to infinity no faster than a logarithm, as z of exp(z) - 1 = s. The slope 1/(1 + z^2) vanishes nowhere, and z is tan(s).
bool is_sum_of_exponentials(const Tape& tape, int line);

}  // namespace perp
