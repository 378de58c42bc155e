// Which lines are not affine in some inputs: asked where equations without derivatives may have several roots.
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/schemes/located/roots/line_dependence.hpp>

namespace perp {

using enum Dependence;

Dependence dependence_of(const Instruction& line, Dependence a, Dependence b) {
  const Dependence most = std::max(a, b);
  switch (line.operation) {
    case Operation::negate:
    case Operation::add:
    case Operation::subtract: return most;
    case Operation::multiply: return a != none && b != none ? nonlinear : most;
    case Operation::divide: return b != none ? nonlinear : a;
    default: return most == none ? none : nonlinear;
  }
}

std::vector<Dependence> dependences(const Tape& tape, const std::vector<char>& inputs) {
  std::vector<Dependence> found(at(tape.size()), none);
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& line = tape[k];
    if (line.operation == Operation::input)
      found[at(k)] = inputs[at(line.a)] ? affine : none;
    else if (line.a >= 0)
      found[at(k)] = dependence_of(line, found[at(line.a)], line.b < 0 ? none : found[at(line.b)]);
  }
  return found;
}

}  // namespace perp
