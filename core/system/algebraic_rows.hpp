#pragma once

#include <perp/core/system/sparse_lcs.hpp>

namespace perp {

/// Makes equations of what rows of E that depend on others, to the rounding of their entries, leave when those are
/// subtracted: E_i = 0 there. Returns whether anything was rounded on the way.
bool separate_algebraic_rows(SparseLcs& lcs);

}  // namespace perp
