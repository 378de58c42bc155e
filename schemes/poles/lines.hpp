#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// Adds an operation to a tape, made at once on numbers; sums with 0 and products with 0 and 1 are left
/// out, so that factors are seen. b = -1: the operation has one operand. Returns its line.
int applied(Tape& tape, Operation operation, int a, int b = -1);

/// Does a line depend on one of the inputs?
bool depends(const Tape& tape, int line, const std::vector<int>& inputs);
/// The numbers of the inputs that the lines depend on, increasing.
std::vector<int> inputs_of(const Tape& tape, const std::vector<int>& lines);

/// Lines of one tape made of those of another, in which inputs are replaced by lines.
class Substitution {
 public:
  Substitution(const Tape& from, Tape& to, int inputs);

  void replace(int input, int line) { line_of_input_[static_cast<std::size_t>(input)] = line; }
  /// Guards whose weights depend on one of these inputs of `from` are left out, as if the weights were not 0.
  void drop_guards(std::vector<int> inputs) { open_ = std::move(inputs); }
  std::vector<int> operator()(const std::vector<int>& lines);

 private:
  int copy(const Instruction& line, int a, int b);

  const Tape& from_;
  Tape& to_;
  std::vector<int> line_of_input_, open_;
};

/// A square matrix of lines; -1: 0.
using LineMatrix = std::vector<std::vector<int>>;

/// The line of a determinant, made without divisions and each minor once; -1: 0. Throws nothing; the
/// cost is that of the 2^n minors.
int determinant(Tape& tape, const LineMatrix& matrix);

}  // namespace perp
