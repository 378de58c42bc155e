#pragma once

#include <string>
#include <string_view>

#include <perp/models/language/multilinear/multilinear_form.hpp>

namespace perp {

/// A matrix in the Matrix Market format: coordinate or array, real or integer, general, rows and
/// columns from 1. `name` stands for the file in messages. Throws InvalidInput with the line.
SparseEntries parse_matrix_market(std::string_view text, const std::string& name);

/// The matrix in that format, coordinate, numbers with as many digits as they need.
std::string to_matrix_market(const SparseEntries& matrix, const std::string& comment);

}  // namespace perp
