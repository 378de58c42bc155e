#pragma once

#include <algorithm>
#include <Eigen/QR>
#include <set>
#include <string>
#include <vector>

#include <perp/tests/lcp/reference_problems.hpp>

namespace perp::test {

inline Matrix beside(const std::vector<Vector>& columns, Eigen::Index rows) {
  Matrix result(rows, static_cast<Eigen::Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k)
    result.col(static_cast<Eigen::Index>(k)) = columns[k];
  return result;
}

/// Same set of points up to order, each compared within tol relative to max(1, size).
inline bool same_points(const Matrix& found, const Matrix& wanted, double tol) {
  if (found.cols() != wanted.cols()) return false;
  for (Eigen::Index i = 0; i < wanted.cols(); ++i) {
    bool known = false;
    for (Eigen::Index k = 0; k < found.cols() && !known; ++k)
      known = (found.col(k) - wanted.col(i)).cwiseAbs().maxCoeff() <=
              tol * std::max(1.0, wanted.col(i).cwiseAbs().maxCoeff());
    if (!known) return false;
  }
  return true;
}

/// Directions scaled to largest entry 1.
inline Matrix of_size_one(Matrix directions) {
  for (auto column : directions.colwise()) column /= column.cwiseAbs().maxCoeff();
  return directions;
}

/// Is a piece the same polyhedron? Vertices and rays count modulo its lines.
inline bool same_polyhedron(const Piece& found, const ReferencePiece& wanted, double tol) {
  const Eigen::Index n = found.vertices.rows();
  Matrix vertices = beside(wanted.vertices, n), rays = beside(wanted.rays, n);
  const Matrix lines = beside(wanted.lines, n);
  Matrix own_vertices = found.vertices, own_rays = found.rays;
  if (found.dimension != wanted.dimension || found.lines.cols() != lines.cols()) return false;
  if (lines.cols() > 0) {
    const Matrix Q = Eigen::ColPivHouseholderQR<Matrix>(lines).householderQ() *
                     Matrix::Identity(n, lines.cols());
    const auto beside_the_lines = [&](const Matrix& columns) {
      return Matrix(columns - Q * (Q.transpose() * columns));
    };
    const Matrix rest = beside_the_lines(of_size_one(found.lines));
    if (rest.cwiseAbs().maxCoeff() > tol) return false;
    for (Matrix* columns : {&vertices, &rays, &own_vertices, &own_rays})
      *columns = beside_the_lines(*columns);
  }
  return same_points(own_vertices, vertices, tol) &&
         same_points(of_size_one(own_rays), of_size_one(rays), tol);
}

inline std::set<std::string> letters(const Mlcp& problem, const std::vector<Mode>& modes) {
  std::set<std::string> words;
  for (const Mode& mode : modes) {
    std::string word;
    for (std::size_t i = 0; i < mode.size(); ++i)
      word += active_set_letter(problem.laws[i], mode[i]);
    words.insert(word);
  }
  return words;
}

/// What is different from the pieces of a reference problem, empty if nothing.
inline std::string difference(const ReferenceProblem& reference, const std::vector<Piece>& found,
                              double tol) {
  if (found.size() != reference.pieces.size())
    return std::to_string(found.size()) + " pieces, not " + std::to_string(reference.pieces.size());
  for (const ReferencePiece& wanted : reference.pieces) {
    const auto match = std::find_if(found.begin(), found.end(), [&](const Piece& piece) {
      return letters(reference.problem, piece.modes) == wanted.active_sets;
    });
    if (match == found.end()) return "no piece with the active set " + *wanted.active_sets.begin();
    if (!same_polyhedron(*match, wanted, tol))
      return "another polyhedron of " + *wanted.active_sets.begin();
  }
  return {};
}

}  // namespace perp::test
