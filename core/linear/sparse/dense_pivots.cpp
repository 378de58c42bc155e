// Complete pivoting: called by RankElimination for small matrices, and for what is left of large ones that have filled.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/linear/sparse/dense_pivots.hpp>

namespace perp::linear {

/// Largest entry of a column from a row on, and its row.
double DensePivots::largest_below(Eigen::Index j, Eigen::Index from, Eigen::Index& where) const {
  double largest = 0;
  for (Eigen::Index i = from; i < lu.rows(); ++i)
    if (std::abs(lu(i, j)) > largest) {
      largest = std::abs(lu(i, j));
      where = i;
    }
  return largest;
}

/// The largest entry of every column is kept, and only found anew where a column changes: the
/// matrices are sparse.
void DensePivots::eliminate(double tolerance) {
  row.resize(at(lu.rows()));
  column.resize(at(lu.cols()));
  std::iota(row.begin(), row.end(), 0);
  std::iota(column.begin(), column.end(), 0);
  Eigen::Index where = 0;
  largest_.resize(lu.cols());
  for (Eigen::Index j = 0; j < lu.cols(); ++j) largest_[j] = largest_below(j, 0, where);
  const auto most = static_cast<int>(std::min(lu.rows(), lu.cols()));
  for (rank = 0; rank < most; ++rank) {
    check_interruption();
    const Eigen::Index k = rank;
    Eigen::Index best = 0;
    if (largest_.tail(lu.cols() - k).maxCoeff(&best) <= tolerance) return;
    largest_below(k + best, k, where);
    exchange(k, where, k + best);
    for (Eigen::Index j = k + 1; j < lu.cols(); ++j)
      if (lu(k, j) != 0) subtract(k, j);
  }
}

/// Brings the pivot to its place, makes the multipliers below it and lists their rows.
void DensePivots::exchange(Eigen::Index k, Eigen::Index i, Eigen::Index j) {
  if (i != k) {
    lu.row(k).swap(lu.row(i));
    std::swap(row[at(k)], row[at(i)]);
  }
  if (j != k) {
    lu.col(k).swap(lu.col(j));
    std::swap(column[at(k)], column[at(j)]);
    std::swap(largest_[k], largest_[j]);
  }
  changing_.clear();
  for (Eigen::Index below = k + 1; below < lu.rows(); ++below) {
    if (lu(below, k) == 0) continue;
    lu(below, k) /= lu(k, k);
    changing_.push_back(below);
  }
}

/// Takes the multiple of the pivot's column from another one. All rows at once where most of them change: the others lose 0.
void DensePivots::subtract(Eigen::Index k, Eigen::Index j) {
  const double factor = lu(k, j);
  const Eigen::Index below = lu.rows() - k - 1;
  if (2 * std::ssize(changing_) > below && below > 0) {
    auto rest = lu.col(j).tail(below);
    rest -= factor * lu.col(k).tail(below);
    largest_[j] = rest.cwiseAbs().maxCoeff();
    return;
  }
  Eigen::Index where = 0;
  for (const Eigen::Index i : changing_) lu(i, j) -= lu(i, k) * factor;
  largest_[j] = largest_below(j, k + 1, where);
}

}  // namespace perp::linear
