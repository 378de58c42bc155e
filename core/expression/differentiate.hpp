#pragma once

#include <span>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// One derivative that does not vanish identically: d(output)/d(input) is a line of the tape.
struct Derivative {
  int output = -1;  ///< index into the outputs
  int input = -1;   ///< number of the input
  int line = -1;
};

/// Appends to `tape` the derivatives of `outputs` (its lines) with respect to the inputs number
/// `first` to `last - 1`, as new lines by the rules of calculus, equal ones shared; what is zero or
/// one by its form is not computed. Returns those that are not zero by their form, ordered by output
/// and input. Forward mode, sparse: the cost is that of the dependencies that exist. abs, min and max
/// are differentiated piece by piece (the derivative of abs at 0 is taken as 0), sign as a constant.
std::vector<Derivative> differentiate(Tape& tape, std::span<const int> outputs, int first,
                                      int last);

}  // namespace perp
