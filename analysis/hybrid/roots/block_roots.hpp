#pragma once

#include <vector>

#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// Solutions of a few equations.
struct BlockRoots {
  std::vector<std::vector<double>> list{};  ///< of each the values of the unknowns
  /// There are no other real ones, for the inputs as they are given or, where these have errors, for
  /// all inputs within them.
  bool is_complete = false;
};

/// All real solutions of as many rows (lines of the tape) as unknowns (inputs of it), 1 to 4; the
/// other inputs have values, with errors where they are computed ones. One unknown: a polynomial.
/// Several: each row linear in every single unknown; then all but one are eliminated: the rows times
/// the monomials in which unknown i has the degree 0 .. i are k! linear equations for the k!
/// monomials in which it has the degree 0 .. i + 1, and their determinant, a polynomial of degree k!
/// in the unknown that is left, is found and its roots are isolated in rational numbers. Else, or
/// where the determinant vanishes identically, none are found and the list is not complete.
BlockRoots block_roots(const Tape& tape, const std::vector<int>& rows,
                       const std::vector<int>& unknowns,
                       const std::vector<RunningError>& inputs);

}  // namespace perp
