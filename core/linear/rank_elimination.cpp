#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include <perp/core/base/interruption.hpp>
#include <perp/core/linear/rank_elimination.hpp>

namespace perp {

namespace {

constexpr int least_sparse = 32;  ///< columns; below, lists of entries cost more than zeros
constexpr int sparse_share = 8;   ///< of the places have entries, one in that many at most

bool is_by_entries(std::ptrdiff_t entries, Eigen::Index rows, Eigen::Index columns) {
  return columns >= least_sparse && entries * sparse_share <= rows * columns;
}

/// The first entries of x become L⁻¹ x.
void solve_lower(const linear::DensePivots& dense, Vector& x) {
  for (int k = 0; k < dense.rank; ++k) {
    if (x[k] == 0) continue;
    for (int i = k + 1; i < dense.rank; ++i) x[i] -= dense.lu(i, k) * x[k];
  }
}

}  // namespace

void RankElimination::factorise(const Matrix& A, const Vector& sizes, const Vector& row_sizes,
                                double tolerance) {
  if (A.cols() >= least_sparse && is_by_entries((A.array() != 0).count(), A.rows(), A.cols()))
    return factorise(linear::SparseMatrix(A), sizes, row_sizes, tolerance);
  dense_.lu = A;
  factorise_dense(sizes, row_sizes, tolerance);
}

void RankElimination::factorise(const linear::SparseMatrix& A, const Vector& sizes, const Vector& row_sizes,
                                double tolerance) {
  by_entries_ = is_by_entries(A.count(), A.rows(), A.columns());
  if (!by_entries_) {
    A.put_dense(dense_.lu);
    return factorise_dense(sizes, row_sizes, tolerance);
  }
  rows_ = A.rows();
  columns_ = A.columns();
  sizes_ = sizes;
  sparse_.factorise(A, sizes, row_sizes, tolerance);
}

/// Of the matrix in dense_.lu.
void RankElimination::factorise_dense(const Vector& sizes, const Vector& row_sizes, double tolerance) {
  by_entries_ = false;
  rows_ = static_cast<int>(dense_.lu.rows());
  columns_ = static_cast<int>(dense_.lu.cols());
  assert(sizes.size() == columns_ && row_sizes.size() == rows_);
  sizes_ = sizes;
  scale(sizes, row_sizes, tolerance);
  dense_.eliminate(tolerance);
}

void RankElimination::scale(const Vector& sizes, const Vector& row_sizes, double tolerance) {
  row_scale_.setZero(rows_);
  column_scale_ = sizes;
  for (int j = 0; j < columns_; ++j)
    for (int i = 0; i < rows_; ++i) {
      dense_.lu(i, j) *= sizes[j];
      row_scale_[i] = std::max(row_scale_[i], std::abs(dense_.lu(i, j)));
    }
  for (int i = 0; i < rows_; ++i)
    row_scale_[i] = row_scale_[i] > tolerance * row_sizes[i] ? 1 / row_scale_[i] : 0;
  for (int j = 0; j < columns_; ++j) {
    double largest = 0;
    for (int i = 0; i < rows_; ++i) {
      dense_.lu(i, j) *= row_scale_[i];
      largest = std::max(largest, std::abs(dense_.lu(i, j)));
    }
    if (largest <= tolerance) continue;
    dense_.lu.col(j) /= largest;
    column_scale_[j] /= largest;
  }
}

void RankElimination::solve(const Vector& r, Vector& x) const {
  if (by_entries_) return sparse_.solve(r, x);
  work_.resize(rows_);
  for (int i = 0; i < rows_; ++i) {
    const int row = dense_.row[static_cast<std::size_t>(i)];
    work_[i] = row_scale_[row] * r[row];
  }
  solve_lower(dense_, work_);
  x.setZero(columns_);
  for (int k = dense_.rank - 1; k >= 0; --k) {
    work_[k] /= dense_.lu(k, k);
    if (work_[k] != 0)
      for (int i = 0; i < k; ++i) work_[i] -= dense_.lu(i, k) * work_[k];
    const int column = dense_.column[static_cast<std::size_t>(k)];
    x[column] = column_scale_[column] * work_[k];
  }
}

void RankElimination::solve_least_norm(const Vector& r, Vector& x) const {
  solve(r, x);
  if (rank() == columns_) return;
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

linear::SparseMatrix RankElimination::null_space() const {
  if (by_entries_) return sparse_.null_space();
  Matrix basis;
  null_space(basis);
  return linear::SparseMatrix(basis);
}

void RankElimination::null_space(Matrix& basis) const {
  if (by_entries_) return sparse_.null_space().put_dense(basis);
  basis.setZero(columns_, columns_ - dense_.rank);
  work_.resize(std::max(dense_.rank, 1));
  for (int free = dense_.rank; free < columns_; ++free) {
    for (int i = 0; i < dense_.rank; ++i) work_[i] = -dense_.lu(i, free);
    auto vector = basis.col(free - dense_.rank);
    double largest = 0;
    const auto put = [&](int position, double value) {
      const int column = dense_.column[static_cast<std::size_t>(position)];
      vector[column] = column_scale_[column] * value;
      largest = std::max(largest, std::abs(vector[column]) / sizes_[column]);
    };
    put(free, 1);
    for (int k = dense_.rank - 1; k >= 0; --k) {
      if (work_[k] == 0) continue;
      work_[k] /= dense_.lu(k, k);
      for (int i = 0; i < k; ++i) work_[i] -= dense_.lu(i, k) * work_[k];
      put(k, work_[k]);
    }
    vector /= largest;
  }
}

}  // namespace perp
