#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/core/system/algebraic_rows.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {
namespace {

/// Writes a + f c to an entry of a family, with what rounding takes from it.
void set_sum(double a, double f, double c, double& value, double& rest, double& last) {
  const DoubleDouble product = two_product(f, c), sum = two_sum(a, product.high);
  const DoubleDouble low = two_sum(sum.low, product.low), high = two_sum(sum.high, low.high);
  value = high.high;
  rest = high.low;
  last = low.low;
}

}  // namespace

StepEquations::StepEquations(const Lcs& lcs, double theta) : StepEquations(sparse(lcs), theta) {}

StepEquations::StepEquations(SparseLcs lcs, double theta) : lcs_(std::move(lcs)), theta_(theta), E_given_(lcs_.E) {
  rows_are_rounded_ = separate_algebraic_rows(lcs_);
  const int n = lcs_.n();
  is_algebraic_.assign(at(n), 0);
  std::vector<char> matters(at(n), 0);
  for (int i = 0; i < n; ++i) {
    if (lcs_.E.row(i).empty()) {
      algebraic_rows_.push_back(i);
      is_algebraic_[at(i)] = 1;
      continue;
    }
    for (const auto& [column, value] : lcs_.E.row(i)) matters[at(column)] = 1;
    if (theta_ == 1) continue;
    for (const auto& [column, value] : lcs_.A.row(i)) matters[at(column)] = 1;
  }
  for (int j = 0; j < n; ++j)
    if (matters[at(j)] != 0) state_.push_back(j);
  parameters_ = static_cast<int>(state_.size() + lcs_.b.varying().size() + lcs_.q.varying().size());
  b_varies_ = !lcs_.b.is_constant();
  q_varies_ = !lcs_.q.is_constant();
  b_before_.resize(n);
  b_after_.resize(n);
  q_after_.resize(lcs_.m());
}

const Lcs& StepEquations::lcs() const {
  std::call_once(full_->made, [this] { full_->lcs = dense(lcs_); });
  return full_->lcs;
}

Norm StepEquations::norm(const Vector& x, int p) const {
  Norm norm;
  norm.W = Matrix::Zero(n(), p + m());
  norm.W.leftCols(n()) = E_given_.dense();
  norm.center = Vector::Zero(p + m());
  norm.center.head(x.size()) = x;
  return norm;
}

ParametricMlcp StepEquations::family(double h) const {
  const Lcs& full = lcs();
  const int n = full.n(), m = full.m();
  ParametricMlcp family;
  Mlcp& base = family.base;
  base.M11 = full.A;
  base.M12 = full.B;
  base.q1 = full.b.constant();
  base.M21 = full.C;
  base.M22 = full.D;
  base.q2 = full.q.constant();
  base.laws = full.laws;
  family.Q1 = Matrix::Zero(n, parameters_);
  family.Q2 = Matrix::Zero(m, parameters_);
  for (Matrix& rest : family.rest) rest = Matrix::Zero(n, n + m + parameters_ + 1);
  const auto set = [&](int i, int column, double a, double f, double entry, double& value) {
    set_sum(a, f, entry, value, family.rest[0](i, column), family.rest[1](i, column));
  };
  // The shares of the step are rounded once, here: θ and 1-θ of the family are these over h.
  const double implicit = h * theta_, explicit_share = h * (1 - theta_);
  for (int i = 0; i < n; ++i) {
    if (is_algebraic_[at(i)] != 0) continue;
    for (int j = 0; j < n; ++j) set(i, j, full.E(i, j), -implicit, full.A(i, j), base.M11(i, j));
    for (int j = 0; j < m; ++j) set(i, n + j, 0, -h, full.B(i, j), base.M12(i, j));
    set(i, n + m + parameters_, 0, -h, full.b.constant()[i], base.q1[i]);
    for (std::size_t j = 0; j < state_.size(); ++j) {
      const auto column = static_cast<int>(j);
      set(i, n + m + column, -full.E(i, state_[j]), -explicit_share, full.A(i, state_[j]),
          family.Q1(i, column));
    }
  }
  put_varying(h, family);
  family.W = E_given_.dense();
  family.Z = Matrix::Zero(n, parameters_);
  for (std::size_t j = 0; j < state_.size(); ++j)
    family.Z.col(static_cast<Eigen::Index>(j)) = family.W.col(state_[j]);
  return family;
}

/// The entries of b and q that vary stand in the parameter, not in the constants of a family of steps of length h.
void StepEquations::put_varying(double h, ParametricMlcp& family) const {
  auto column = static_cast<Eigen::Index>(state_.size());
  for (const int i : lcs_.b.varying()) {
    family.base.q1[i] = 0;
    for (Matrix& rest : family.rest) rest(i, n() + m() + parameters_) = 0;
    family.Q1(i, column++) = is_algebraic_[at(i)] != 0 ? 1 : -h;
  }
  for (const int i : lcs_.q.varying()) {
    family.base.q2[i] = 0;
    family.Q2(i, column++) = 1;
  }
}

/// The rows of b and q in the parameter.
void StepEquations::varying(double t, double t_next, double* value) {
  if (b_varies_) {
    lcs_.b.evaluate(t_next, b_after_);
    if (theta_ < 1) lcs_.b.evaluate(t, b_before_);
    for (const int i : lcs_.b.varying()) {
      const bool averaged = theta_ < 1 && is_algebraic_[at(i)] == 0;
      *value++ = averaged ? theta_ * b_after_[i] + (1 - theta_) * b_before_[i] : b_after_[i];
    }
  }
  if (q_varies_) {
    lcs_.q.evaluate(t_next, q_after_);
    for (const int i : lcs_.q.varying()) *value++ = q_after_[i];
  }
}

Mlcp StepEquations::consistency(const Vector& x0, double t) const {
  const Lcs& full = lcs();
  Mlcp problem;
  problem.M11 = full.A;
  problem.M12 = full.B;
  problem.q1 = full.b(t);
  problem.M21 = full.C;
  problem.M22 = full.D;
  problem.q2 = full.q(t);
  problem.laws = full.laws;
  for (int i = 0; i < n(); ++i) {
    if (is_algebraic_[at(i)] != 0) continue;
    problem.M11.row(i) = full.E.row(i);
    problem.M12.row(i).setZero();
    problem.q1[i] = -full.E.row(i).dot(x0);
  }
  return problem;
}

}  // namespace perp
