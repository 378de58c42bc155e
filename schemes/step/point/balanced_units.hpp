#pragma once

#include <optional>
#include <vector>

#include <perp/core/linear/sparse/sparse_matrix.hpp>

namespace perp {

/// Units u > 0 in which each row of a symmetric matrix outweighs what stands beside its diagonal, Σ_k≠i |S_ik| u_k <= S_ii u_i, up
/// to 2^-40 of S_ii u_i, where there are such: those of (1 + 2^-40) S_ii u_i - Σ |S_ik| u_k = S_ii, whose matrix has a
/// positive inverse then. A matrix of springs between masses is balanced in the units of one length, whatever the masses
/// are; where such springs hang on nothing no units do better. `diagonal`: S_ii; `beside`: each pair i < k once. Units of
/// the unknowns by powers of two change u by these. Nothing: S has no diagonal where it has pairs, or the u found are not positive.
std::optional<std::vector<double>> balanced_units(const std::vector<double>& diagonal,
                                                  const std::vector<linear::SparseMatrix::Placed>& beside);

}  // namespace perp
