// Which Taylor coefficients the equations of a mode determine: called by ConsistentJets for every jet it finds.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/schemes/located/jets/array/known_coefficients.hpp>

namespace perp {
namespace {

using linear::SparseMatrix;

constexpr double known_tolerance = 1e-8;  ///< entries of scaled null vectors below this are zero

/// Leading entries that are zero.
int leading_zeros(const Matrix& sizes, Eigen::Index row) {
  int count = 0;
  while (count < sizes.cols() && sizes(row, count) <= known_tolerance) ++count;
  return count;
}

/// The largest entry of a row.
double largest(std::span<const SparseMatrix::Entry> row) {
  double size = 0;
  for (const auto& entry : row) size = std::max(size, std::abs(entry.value));
  return size;
}

/// Does a function with these derivatives change along one of the columns of `moves`, by more than the rounding of its
/// terms?
bool is_moved(std::span<const SparseMatrix::Entry> derivatives, const SparseMatrix& moves) {
  std::map<int, double> change;
  double terms = 0, most = 0;
  for (const auto& [column, value] : derivatives) {
    if (value == 0) continue;
    for (const auto& [q, move] : moves.row(column)) change[q] += value * move;
    terms = std::max(terms, std::abs(value) * largest(moves.row(column)));
  }
  for (const auto& [q, sum] : change) most = std::max(most, std::abs(sum));
  return terms > 0 && most > known_tolerance * terms;
}

/// Does each direction of Z (by rows) move one variable, and no other one the same?
bool is_apart(const SparseMatrix& Z) {
  std::vector<int> met(at(Z.columns()), 0);
  for (int j = 0; j < Z.rows(); ++j) {
    if (Z.row(j).size() > 1) return false;
    for (const auto& [c, z] : Z.row(j))
      if (++met[at(c)] > 1) return false;
  }
  return true;
}

/// Of each variable the largest change of the differential part of x_[1].
Vector largest_differential(const ModeArray& equations, const SparseMatrix& moves) {
  const int n = equations.array().n();
  const SparseMatrix& Z = equations.algebraic_directions();
  const auto rates = [&](int j) { return moves.row(equations.array().x_column(1, j)); };
  if (!is_apart(Z)) {
    Matrix changes = Matrix::Zero(n, moves.columns());
    for (int j = 0; j < n; ++j)
      for (const auto& [q, value] : rates(j)) changes(j, q) = value;
    return (equations.differential_projection() * changes).cwiseAbs().rowwise().maxCoeff();
  }
  // Nothing of a variable with a direction is differential but the rounding of 1 − z (z z)⁻¹ z.
  Vector result(n);
  for (int j = 0; j < n; ++j) {
    const double z = Z.row(j).empty() ? 0 : Z.row(j).front().value;
    result[j] = largest(rates(j)) * (z == 0 ? 1 : std::abs(1 - z * (z / (z * z))));
  }
  return result;
}

/// Does a coefficient of w move, 1, or not, 0?
Matrix moves_of_w(const DerivativeArray& array, const SparseMatrix& moves) {
  const int n = array.n(), m = array.m();
  Matrix result(m, array.levels() + 1);
  for (int k = 0; k <= array.levels(); ++k)
    for (int i = 0; i < m; ++i)
      result(i, k) = is_moved(array.derivatives().row(k * (n + m) + n + i), moves) ? 1 : 0;
  return result;
}

/// By how much directions move the coefficients of each variable and multiplier, in its size; does w move?
struct Moves {
  Matrix x, lambda, w;
};

/// What moves by no more than rounding stays, and becomes 0 in `moves`: w must not be said to move by it.
Moves moves_of(const ModeArray& equations, SparseMatrix& moves) {
  const DerivativeArray& array = equations.array();
  const int n = array.n(), m = array.m(), levels = array.levels();
  const JetScales& scales = equations.scales();
  const auto move = [&](int column, double size) {
    const double moved = largest(moves.row(column)) / size;
    if (moved <= known_tolerance) moves.clear_row(column);
    return moved;
  };
  Moves result{Matrix(n, levels + 2), Matrix(m, levels + 1), {}};
  for (int k = 0; k <= levels + 1; ++k)
    for (int j = 0; j < n; ++j)
      result.x(j, k) = move(array.x_column(k, j), std::max(scales.x[j], std::abs(equations.x()(j, k))));
  for (int k = 0; k <= levels; ++k)
    for (int i = 0; i < m; ++i)
      result.lambda(i, k) = move(array.lambda_column(k, i), std::max(scales.lambda[i], std::abs(equations.lambda()(i, k))));
  result.w = moves_of_w(array, moves);
  return result;
}

}  // namespace

void read_known(const ModeArray& equations, const RankElimination& elimination, Jet& jet) {
  const DerivativeArray& array = equations.array();
  jet.x_known.assign(at(array.n()), array.levels() + 2);
  jet.lambda_known.assign(at(array.m()), array.levels() + 1);
  jet.w_known.assign(at(array.m()), array.levels() + 1);
  jet.determined = true;
  if (elimination.rank() == elimination.columns()) return;
  SparseMatrix moves = equations.expand(elimination.null_space());
  const Vector rates = largest_differential(equations, moves), &scales = equations.scales().x;
  const Moves moved = moves_of(equations, moves);
  for (int j = 0; j < array.n(); ++j) {
    jet.x_known[at(j)] = leading_zeros(moved.x, j);
    jet.determined = jet.determined && jet.x_known[at(j)] > 0 && rates[j] <= known_tolerance * scales[j];
  }
  for (int i = 0; i < array.m(); ++i) {
    jet.lambda_known[at(i)] = leading_zeros(moved.lambda, i);
    jet.w_known[at(i)] = leading_zeros(moved.w, i);
    jet.determined = jet.determined && jet.lambda_known[at(i)] > 0;
  }
}

}  // namespace perp
