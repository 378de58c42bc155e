#pragma once

#include <perp/core/base/types.hpp>

namespace perp {

/// U M for an orthogonal U that was computed, where terms that cancel, exactly 0 were there no
/// rounding, give exactly 0: an entry of at most tol Σ_k |U_ik M_kj| is one of them, and so is what
/// an entry of U that is rounding itself (a few units of 1) leaves of column j of M. Without it a
/// later scaling takes such a remainder for a number.
Matrix without_cancelled(const Matrix& U, const Matrix& M, double tol);

}  // namespace perp
