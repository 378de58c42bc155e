#pragma once

#include <perp/core/base/types.hpp>

namespace perp {

/// Multiplies rows and columns of both matrices of a pencil s E − A, and E alone, by powers of two that bring the entries
/// near 1,
///     2^(r_i + c_j) A_ij,   2^(r_i + c_j + u) E_ij,
/// by least squares on the exponents, and returns 2^u: s is that times the one of the scaled pencil. In other units of rows,
/// columns or time that are powers of two the scaled pencil is the same to the bit. Both n×n.
double remove_units(Matrix& E, Matrix& A);

}  // namespace perp
