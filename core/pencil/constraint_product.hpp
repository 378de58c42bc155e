#pragma once

#include <perp/core/base/types.hpp>
#include <perp/core/pencil/pencil.hpp>

namespace perp {

/// The matrix C B of the constraints that a mode leaves on its differential variables: brought to
///     ẋ = A x + B z,   0 = C x
/// by orthogonal transformations of equations and unknowns, after the algebraic equations that
/// determine algebraic unknowns were solved for these. k×k for k constraints, in orthonormal
/// coordinates (of a scalar only the absolute value means something); 0×0: none is left, the index
/// is at most 1. The index is 2 where C B is regular, higher or undefined where it is singular:
/// [RAB] section 2. Ranks are decided with the relative tolerance `tol`.
Matrix constraint_product(const ModeDae& dae, double tol = 1e-10);

}  // namespace perp
