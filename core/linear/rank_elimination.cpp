#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include <perp/core/base/interruption.hpp>
#include <perp/core/linear/rank_elimination.hpp>

namespace perp {

void RankElimination::factorise(const Matrix& A, const Vector& sizes, const Vector& row_sizes,
                                double tolerance) {
  rows_ = static_cast<int>(A.rows());
  columns_ = static_cast<int>(A.cols());
  assert(sizes.size() == columns_ && row_sizes.size() == rows_);
  sizes_ = sizes;
  scale(A, sizes, row_sizes, tolerance);
  eliminate(tolerance);
}

void RankElimination::scale(const Matrix& A, const Vector& sizes, const Vector& row_sizes,
                            double tolerance) {
  lu_ = A;
  row_scale_.setZero(rows_);
  column_scale_ = sizes;
  for (int j = 0; j < columns_; ++j)
    for (int i = 0; i < rows_; ++i) {
      lu_(i, j) *= sizes[j];
      row_scale_[i] = std::max(row_scale_[i], std::abs(lu_(i, j)));
    }
  for (int i = 0; i < rows_; ++i)
    row_scale_[i] = row_scale_[i] > tolerance * row_sizes[i] ? 1 / row_scale_[i] : 0;
  for (int j = 0; j < columns_; ++j) {
    double largest = 0;
    for (int i = 0; i < rows_; ++i) {
      lu_(i, j) *= row_scale_[i];
      largest = std::max(largest, std::abs(lu_(i, j)));
    }
    if (largest <= tolerance) continue;
    lu_.col(j) /= largest;
    column_scale_[j] /= largest;
  }
}

/// Largest entry of a column from a row on, and its row.
double RankElimination::largest_below(int column, int from, int& row) const {
  double largest = 0;
  for (int i = from; i < rows_; ++i)
    if (std::abs(lu_(i, column)) > largest) {
      largest = std::abs(lu_(i, column));
      row = i;
    }
  return largest;
}

/// The largest entry of every column is kept, and only found anew where a column changes: the
/// matrices are sparse.
void RankElimination::eliminate(double tolerance) {
  row_.resize(static_cast<std::size_t>(rows_));
  column_.resize(static_cast<std::size_t>(columns_));
  std::iota(row_.begin(), row_.end(), 0);
  std::iota(column_.begin(), column_.end(), 0);
  int row = 0;
  work_.resize(columns_);
  for (int j = 0; j < columns_; ++j) work_[j] = largest_below(j, 0, row);
  const int most = std::min(rows_, columns_);
  for (rank_ = 0; rank_ < most; ++rank_) {
    check_interruption();
    const int k = rank_;
    Eigen::Index best = 0;
    if (work_.tail(columns_ - k).maxCoeff(&best) <= tolerance) return;
    const int column = k + static_cast<int>(best);
    largest_below(column, k, row);
    exchange(k, row, column);
    for (int j = k + 1; j < columns_; ++j) {
      const double factor = lu_(k, j);
      if (factor == 0) continue;
      for (const int i : changing_) lu_(i, j) -= lu_(i, k) * factor;
      work_[j] = largest_below(j, k + 1, row);
    }
  }
}

/// Brings the pivot to its place, makes the multipliers below it and lists their rows.
void RankElimination::exchange(int k, int row, int column) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  if (row != k) {
    lu_.row(k).swap(lu_.row(row));
    std::swap(row_[at(k)], row_[at(row)]);
  }
  if (column != k) {
    lu_.col(k).swap(lu_.col(column));
    std::swap(column_[at(k)], column_[at(column)]);
    std::swap(work_[k], work_[column]);
  }
  changing_.clear();
  for (int i = k + 1; i < rows_; ++i) {
    if (lu_(i, k) == 0) continue;
    lu_(i, k) /= lu_(k, k);
    changing_.push_back(i);
  }
}

void RankElimination::solve(const Vector& r, Vector& x) const {
  work_.resize(rows_);
  for (int i = 0; i < rows_; ++i) {
    const int row = row_[static_cast<std::size_t>(i)];
    work_[i] = row_scale_[row] * r[row];
  }
  for (int k = 0; k < rank_; ++k) {
    if (work_[k] == 0) continue;
    for (int i = k + 1; i < rank_; ++i) work_[i] -= lu_(i, k) * work_[k];
  }
  x.setZero(columns_);
  for (int k = rank_ - 1; k >= 0; --k) {
    work_[k] /= lu_(k, k);
    if (work_[k] != 0)
      for (int i = 0; i < k; ++i) work_[i] -= lu_(i, k) * work_[k];
    const int column = column_[static_cast<std::size_t>(k)];
    x[column] = column_scale_[column] * work_[k];
  }
}

void RankElimination::solve_least_norm(const Vector& r, Vector& x) const {
  solve(r, x);
  if (rank_ == columns_) return;
  Matrix basis;
  null_space(basis);
  basis = sizes_.cwiseInverse().asDiagonal() * basis;
  Vector scaled = x.cwiseQuotient(sizes_);
  for (Eigen::Index k = 0; k < basis.cols(); ++k) {  // Gram and Schmidt
    auto direction = basis.col(k);
    for (Eigen::Index j = 0; j < k; ++j) direction -= basis.col(j).dot(direction) * basis.col(j);
    direction.normalize();
    scaled -= direction.dot(scaled) * direction;
  }
  x = scaled.cwiseProduct(sizes_);
}

void RankElimination::null_space(Matrix& basis) const {
  basis.setZero(columns_, columns_ - rank_);
  work_.resize(std::max(rank_, 1));
  for (int free = rank_; free < columns_; ++free) {
    for (int i = 0; i < rank_; ++i) work_[i] = -lu_(i, free);
    auto vector = basis.col(free - rank_);
    double largest = 0;
    const auto put = [&](int position, double value) {
      const int column = column_[static_cast<std::size_t>(position)];
      vector[column] = column_scale_[column] * value;
      largest = std::max(largest, std::abs(vector[column]) / sizes_[column]);
    };
    put(free, 1);
    for (int k = rank_ - 1; k >= 0; --k) {
      if (work_[k] == 0) continue;
      work_[k] /= lu_(k, k);
      for (int i = 0; i < k; ++i) work_[i] -= lu_(i, k) * work_[k];
      put(k, work_[k]);
    }
    vector /= largest;
  }
}

}  // namespace perp
