#pragma once

#include <cstddef>
#include <vector>

#include <perp/core/base/rational.hpp>

namespace perp {

/// Makes the entries integers, by a positive factor.
void make_integers(std::vector<Rational>& row);

/// A row of integers becomes a multiple of itself, not by 0, less a multiple of the pivot, another
/// such row, so that its entry in the column is 0, in which the pivot's is not.
void eliminate(std::vector<Rational>& row, const std::vector<Rational>& pivot, std::size_t column);

}  // namespace perp
