#include <cmath>
#include <Eigen/QR>

#include <perp/core/cancellation.hpp>
#include <perp/schemes/step_equations.hpp>

namespace perp {
namespace {

/// Powers of two that bring the largest entry of every row that is not zero near 1.
Vector row_scales(const Matrix& matrix) {
  Vector scales = Vector::Ones(matrix.rows());
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    if (!matrix.row(i).isZero(0))
      scales[i] = std::ldexp(1.0, -std::ilogb(matrix.row(i).cwiseAbs().maxCoeff()));
  return scales;
}

/// Brings E to the form [E1; 0] with independent rows E1 by Qᵀ, if its nonzero rows are dependent.
/// That is decided on rows of one size: a small capacitance beside a large mass is none that
/// vanishes.
void separate_algebraic_rows(Lcs& lcs) {
  const int n = lcs.n();
  int nonzero = 0;
  for (int i = 0; i < n; ++i) nonzero += !lcs.E.row(i).isZero(0);
  const Vector scales = row_scales(lcs.E);
  Eigen::ColPivHouseholderQR<Matrix> qr(scales.asDiagonal() * lcs.E);
  qr.setThreshold(1e-12);
  const int rank = static_cast<int>(qr.rank());
  if (rank == nonzero) return;
  // Rows that agree leave exactly nothing, or their equation would be one for rounding errors.
  const Matrix QT = Matrix(qr.householderQ()).transpose();
  const auto combined = [QT, scales](const Matrix& M) {
    return without_cancelled(QT, scales.asDiagonal() * M, 1e-14);
  };
  lcs.E = combined(lcs.E);
  lcs.E.bottomRows(n - rank).setZero();
  lcs.A = combined(lcs.A);
  lcs.B = combined(lcs.B);
  const Vector constant = combined(lcs.b.constant());
  if (lcs.b.is_constant()) {
    lcs.b = Signal(constant);
    return;
  }
  std::vector<int> all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  lcs.b = Signal(constant, all, [combined, given = lcs.b](double t, Vector& value) {
    value = combined(given(t));
  });
}

}  // namespace

StepEquations::StepEquations(const Lcs& lcs, double theta)
    : lcs_(validated(lcs)), theta_(theta), E_given_(lcs_.E) {
  separate_algebraic_rows(lcs_);
  const int n = lcs_.n();
  is_algebraic_.assign(static_cast<std::size_t>(n), 0);
  for (int i = 0; i < n; ++i)
    if (lcs_.E.row(i).isZero(0)) {
      algebraic_rows_.push_back(i);
      is_algebraic_[static_cast<std::size_t>(i)] = 1;
    }
  for (int j = 0; j < n; ++j) {
    bool matters = !lcs_.E.col(j).isZero(0);
    for (int i = 0; i < n && theta_ < 1; ++i)
      matters = matters || (is_algebraic_[static_cast<std::size_t>(i)] == 0 && lcs_.A(i, j) != 0);
    if (matters) state_.push_back(j);
  }
  parameters_ = static_cast<int>(state_.size() + lcs_.b.varying().size() + lcs_.q.varying().size());
  b_varies_ = !lcs_.b.is_constant();
  q_varies_ = !lcs_.q.is_constant();
  b_before_.resize(n);
  b_after_.resize(n);
  q_after_.resize(lcs_.m());
}

Norm StepEquations::norm(const Vector& x) const {
  Norm norm;
  norm.W = Matrix::Zero(n(), n() + m());
  norm.W.leftCols(n()) = E_given_;
  norm.center = Vector::Zero(n() + m());
  norm.center.head(x.size()) = x;
  return norm;
}

ParametricMlcp StepEquations::family(double h) const {
  const int n = lcs_.n(), m = lcs_.m();
  ParametricMlcp family;
  Mlcp& base = family.base;
  base.M11 = lcs_.A;
  base.M12 = lcs_.B;
  base.q1 = lcs_.b.constant();
  base.M21 = lcs_.C;
  base.M22 = lcs_.D;
  base.q2 = lcs_.q.constant();
  base.laws = lcs_.laws;
  family.Q1 = Matrix::Zero(n, parameters_);
  family.Q2 = Matrix::Zero(m, parameters_);
  for (int i = 0; i < n; ++i) {
    if (is_algebraic_[static_cast<std::size_t>(i)] != 0) continue;
    base.M11.row(i) = lcs_.E.row(i) - h * theta_ * lcs_.A.row(i);
    base.M12.row(i) *= -h;
    base.q1[i] *= -h;
    for (std::size_t j = 0; j < state_.size(); ++j)
      family.Q1(i, static_cast<Eigen::Index>(j)) =
          -(lcs_.E(i, state_[j]) + h * (1 - theta_) * lcs_.A(i, state_[j]));
  }
  auto column = static_cast<Eigen::Index>(state_.size());
  for (const int i : lcs_.b.varying()) {
    base.q1[i] = 0;
    family.Q1(i, column++) = is_algebraic_[static_cast<std::size_t>(i)] != 0 ? 1 : -h;
  }
  for (const int i : lcs_.q.varying()) {
    base.q2[i] = 0;
    family.Q2(i, column++) = 1;
  }
  family.W = E_given_;
  family.Z = Matrix::Zero(n, parameters_);
  for (std::size_t j = 0; j < state_.size(); ++j)
    family.Z.col(static_cast<Eigen::Index>(j)) = E_given_.col(state_[j]);
  return family;
}

void StepEquations::parameter(const Vector& x, double t, double t_next, double* value) {
  for (const int j : state_) *value++ = x[j];
  if (b_varies_) {
    lcs_.b.evaluate(t_next, b_after_);
    if (theta_ < 1) lcs_.b.evaluate(t, b_before_);
    for (const int i : lcs_.b.varying()) {
      const bool averaged = theta_ < 1 && is_algebraic_[static_cast<std::size_t>(i)] == 0;
      *value++ = averaged ? theta_ * b_after_[i] + (1 - theta_) * b_before_[i] : b_after_[i];
    }
  }
  if (q_varies_) {
    lcs_.q.evaluate(t_next, q_after_);
    for (const int i : lcs_.q.varying()) *value++ = q_after_[i];
  }
}

Mlcp StepEquations::consistency(const Vector& x0, double t) const {
  Mlcp problem;
  problem.M11 = lcs_.A;
  problem.M12 = lcs_.B;
  problem.q1 = lcs_.b(t);
  problem.M21 = lcs_.C;
  problem.M22 = lcs_.D;
  problem.q2 = lcs_.q(t);
  problem.laws = lcs_.laws;
  for (int i = 0; i < n(); ++i) {
    if (is_algebraic_[static_cast<std::size_t>(i)] != 0) continue;
    problem.M11.row(i) = lcs_.E.row(i);
    problem.M12.row(i).setZero();
    problem.q1[i] = -lcs_.E.row(i).dot(x0);
  }
  return problem;
}

}  // namespace perp
