#pragma once

#include <perp/core/system/sparse_lcs.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp::reader {

/// Throws ModelError where rows and unknowns of a [system] cannot be paired at entries: its step matrices are singular for
/// all numbers in these places.
void check_matrix_structure(const Context& context, const Value& table, const SparseLcs& lcs, const Model& model);

}  // namespace perp::reader
