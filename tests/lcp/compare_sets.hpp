#pragma once

#include <algorithm>
#include <set>
#include <string>

#include <perp/lcp/solution_set.hpp>

namespace perp::test {

/// Same columns up to order, each compared within tol, in the unit given by row.
inline bool same_columns(const Matrix& a, const Matrix& b, const Vector& unit, double tol) {
  if (a.cols() != b.cols()) return false;
  for (Eigen::Index i = 0; i < a.cols(); ++i) {
    bool found = false;
    for (Eigen::Index j = 0; j < b.cols() && !found; ++j) {
      const Vector difference = (a.col(i) - b.col(j)).cwiseQuotient(unit);
      const double size = std::max(1.0, b.col(j).cwiseQuotient(unit).cwiseAbs().maxCoeff());
      found = difference.cwiseAbs().maxCoeff() <= tol * size;
    }
    if (!found) return false;
  }
  return true;
}

/// Directions scaled to largest entry 1 in the given units.
inline Matrix normalised(const Matrix& directions, const Vector& unit) {
  Matrix result = unit.cwiseInverse().asDiagonal() * directions;
  for (Eigen::Index k = 0; k < result.cols(); ++k)
    result.col(k) /= result.col(k).cwiseAbs().maxCoeff();
  return result;
}

/// What is different between two solution sets of one problem, empty if nothing.
inline std::string difference(const SolutionSet& a, const SolutionSet& b, const Vector& unit_of_y,
                              double tol) {
  if (a.blocks.size() != b.blocks.size()) return "number of blocks";
  for (std::size_t k = 0; k < a.blocks.size(); ++k) {
    const Block& left = a.blocks[k];
    const Block& right = b.blocks[k];
    if (left.u != right.u || left.lambda != right.lambda) return "indices of a block";
    if (left.pieces.size() != right.pieces.size())
      return "number of pieces: " + std::to_string(left.pieces.size()) + " and " +
             std::to_string(right.pieces.size());
    std::vector<int> indices = left.u;
    for (const int i : left.lambda) indices.push_back(a.p + i);
    const Vector unit = unit_of_y(indices);
    for (const Piece& piece : left.pieces) {
      const std::set<Mode> modes(piece.modes.begin(), piece.modes.end());
      const auto other =
          std::find_if(right.pieces.begin(), right.pieces.end(), [&](const Piece& candidate) {
            return std::set<Mode>(candidate.modes.begin(), candidate.modes.end()) == modes;
          });
      if (other == right.pieces.end()) return "modes of a piece";
      if (piece.dimension != other->dimension) return "dimension of a piece";
      if (!same_columns(piece.vertices, other->vertices, unit, tol)) return "vertices";
      const Vector ones = Vector::Ones(unit.size());
      if (!same_columns(normalised(piece.rays, unit), normalised(other->rays, unit), ones, tol))
        return "rays";
      if (!same_columns(normalised(piece.lines, unit), normalised(other->lines, unit), ones, tol))
        return "lines";
    }
  }
  return {};
}

/// Units of (u, λ) by the problem's own scaling.
inline Vector units(const Mlcp& problem) {
  const Scaling scaling = equilibrate(problem);
  Vector unit(problem.p() + problem.m());
  unit << scaling.u_scale, scaling.lambda_scale;
  return unit;
}

}  // namespace perp::test
