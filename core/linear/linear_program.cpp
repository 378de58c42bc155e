#include <cmath>
#include <vector>

#include <perp/core/linear/linear_program.hpp>

namespace perp {
namespace {

constexpr double pivot_tolerance = 1e-11;

/// Dense simplex tableau for  min cᵀ y,  A y = b ≥ 0,  y ≥ 0, started from artificial variables.
class Simplex {
 public:
  Simplex(const Matrix& A, const Vector& b) : rows_(A.rows()), columns_(A.cols()) {
    T_ = Matrix::Zero(rows_ + 1, columns_ + rows_ + 1);
    T_.topLeftCorner(rows_, columns_) = A;
    T_.block(0, columns_, rows_, rows_).setIdentity();
    T_.topRightCorner(rows_, 1) = b;
    for (Eigen::Index i = 0; i < rows_; ++i) basis_.push_back(columns_ + i);
  }

  /// Drives the artificial variables to zero. False if that is impossible or the cap is met.
  bool find_feasible() {
    T_.row(rows_).setZero();
    T_.row(rows_).segment(columns_, rows_).setOnes();
    for (Eigen::Index i = 0; i < rows_; ++i) T_.row(rows_) -= T_.row(i);
    if (!iterate(columns_ + rows_)) return false;
    if (-T_(rows_, T_.cols() - 1) > 1e-10) return false;
    for (Eigen::Index i = 0; i < rows_; ++i) {  // a zero artificial variable leaves where it can
      if (basis_[static_cast<std::size_t>(i)] < columns_) continue;
      Eigen::Index j = 0;
      if (T_.row(i).head(columns_).cwiseAbs().maxCoeff(&j) > pivot_tolerance) pivot(i, j);
    }
    return true;
  }

  bool minimise(const Vector& c) {
    T_.row(rows_).setZero();
    T_.row(rows_).head(columns_) = c.transpose();
    for (Eigen::Index i = 0; i < rows_; ++i) {
      const Eigen::Index j = basis_[static_cast<std::size_t>(i)];
      if (j < columns_) T_.row(rows_) -= c[j] * T_.row(i);
    }
    return iterate(columns_);
  }

  [[nodiscard]] Vector solution() const {
    Vector y = Vector::Zero(columns_);
    for (Eigen::Index i = 0; i < rows_; ++i) {
      const Eigen::Index j = basis_[static_cast<std::size_t>(i)];
      if (j < columns_) y[j] = T_(i, T_.cols() - 1);
    }
    return y;
  }

 private:
  /// Simplex steps over the first `allowed` columns with Bland's rule; false at the cap or if
  /// unbounded.
  bool iterate(Eigen::Index allowed) {
    for (int count = 0; count < 10'000; ++count) {
      const Eigen::Index enter = entering_column(allowed);
      if (enter < 0) return true;
      const Eigen::Index leave = leaving_row(enter);
      if (leave < 0) return false;
      pivot(leave, enter);
    }
    return false;
  }

  /// The first of these columns with a negative cost; -1: none.
  [[nodiscard]] Eigen::Index entering_column(Eigen::Index allowed) const {
    for (Eigen::Index j = 0; j < allowed; ++j)
      if (T_(rows_, j) < -pivot_tolerance) return j;
    return -1;
  }

  /// The row that blocks first, of equal ones that of the smallest basic variable; -1: none.
  [[nodiscard]] Eigen::Index leaving_row(Eigen::Index enter) const {
    const Eigen::Index last = T_.cols() - 1;
    Eigen::Index leave = -1;
    for (Eigen::Index i = 0; i < rows_; ++i) {
      if (T_(i, enter) <= pivot_tolerance) continue;
      const double ratio = T_(i, last) / T_(i, enter);
      const double best = leave < 0 ? inf : T_(leave, last) / T_(leave, enter);
      const auto index = [&](Eigen::Index row) { return basis_[static_cast<std::size_t>(row)]; };
      if (ratio < best || (ratio == best && index(i) < index(leave))) leave = i;
    }
    return leave;
  }

  void pivot(Eigen::Index row, Eigen::Index column) {
    T_.row(row) /= T_(row, column);
    for (Eigen::Index i = 0; i <= rows_; ++i)
      if (i != row && T_(i, column) != 0) T_.row(i) -= T_(i, column) * T_.row(row);
    basis_[static_cast<std::size_t>(row)] = column;
  }

  Eigen::Index rows_, columns_;
  Matrix T_;
  std::vector<Eigen::Index> basis_;
};

/// Does y fulfil y ≥ 0, Σ y = 1, Gᵀ y = 0 to rounding?
bool is_certificate(const Matrix& G, const Vector& y) {
  return y.minCoeff() >= -1e-12 && std::abs(y.sum() - 1) < 1e-10 &&
         (G.cols() == 0 || (G.transpose() * y).cwiseAbs().maxCoeff() < 1e-11);
}

}  // namespace

InteriorTest test_interior(const Matrix& G, const Vector& g) {
  InteriorTest result;
  const Eigen::Index rows = G.rows();
  if (rows == 0) return result;
  Matrix A(G.cols() + 1, rows);
  A.topRows(G.cols()) = G.transpose();
  A.bottomRows(1).setOnes();
  Vector b = Vector::Zero(G.cols() + 1);
  b[G.cols()] = 1;
  Simplex simplex(A, b);
  if (!simplex.find_feasible() || !simplex.minimise(g)) return result;
  const Vector y = simplex.solution();
  const double value = g.dot(y);
  if (!is_certificate(G, y)) return result;
  if (value < -1e-9)
    result.verdict = InteriorTest::Verdict::empty;
  else if (value < 1e-11)
    result.verdict = InteriorTest::Verdict::flat;
  result.y = y;
  return result;
}

}  // namespace perp
