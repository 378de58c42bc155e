#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {
namespace {

/// A row of E less a combination of others, with the terms that each entry is the sum of.
struct ReducedRow {
  std::vector<Rational> value, share;  // share: of each row of E
  std::vector<double> terms;
  Eigen::Index pivot = -1;

  ReducedRow(const Matrix& E, Eigen::Index row)
      : value(at(E.cols())), share(at(E.rows())), terms(at(E.cols())) {
    share[at(row)] = 1;
    for (Eigen::Index j = 0; j < E.cols(); ++j) {
      value[at(j)] = Rational(E(row, j));
      terms[at(j)] = std::abs(E(row, j));
    }
  }

  void subtract(const ReducedRow& other) {
    const Rational factor = value[at(other.pivot)] / other.value[at(other.pivot)];
    if (factor == 0) return;
    for (std::size_t i = 0; i < share.size(); ++i) share[i] -= factor * other.share[i];
    const double size = std::abs(static_cast<double>(factor));
    for (std::size_t j = 0; j < value.size(); ++j) {
      value[j] -= factor * other.value[j];
      terms[j] += size * other.terms[j];
    }
  }

  [[nodiscard]] bool vanishes() const {
    return std::all_of(value.begin(), value.end(), [](const Rational& entry) { return entry == 0; });
  }

  /// The entry that stands out most of the rounding of its terms; -1 where none does: entries are
  /// decimals as a rule, and good to half an ulp.
  [[nodiscard]] Eigen::Index largest() const {
    Eigen::Index best = -1;
    double most = 2 * std::numeric_limits<double>::epsilon();
    for (std::size_t j = 0; j < value.size(); ++j) {
      const double ratio = terms[j] > 0 ? std::abs(static_cast<double>(value[j])) / terms[j] : 0;
      if (ratio <= most) continue;
      most = ratio;
      best = static_cast<Eigen::Index>(j);
    }
    return best;
  }
};

/// Σ_k share_k M_kj, rounded once; says whether that changed one.
Vector combined(const std::vector<Rational>& share, const Matrix& M, bool& rounded) {
  Vector row(M.cols());
  for (Eigen::Index j = 0; j < M.cols(); ++j) {
    Rational sum = 0;
    for (std::size_t k = 0; k < share.size(); ++k)
      if (share[k] != 0) sum += share[k] * Rational(M(static_cast<Eigen::Index>(k), j));
    row[j] = static_cast<double>(sum);
    rounded = rounded || !std::isfinite(row[j]) || Rational(row[j]) != sum;
  }
  return row;
}

/// Makes equations of what rows of E that depend on others leave when those are subtracted: E_i = 0
/// there. Returns whether anything was rounded on the way.
bool separate_algebraic_rows(Lcs& lcs) {
  const int n = lcs.n();
  std::vector<ReducedRow> independent, dependent;
  std::vector<int> rows;
  for (int i = 0; i < n; ++i) {
    if (lcs.E.row(i).isZero(0)) continue;
    ReducedRow row(lcs.E, i);
    for (const ReducedRow& other : independent) row.subtract(other);
    row.pivot = row.largest();
    if (row.pivot >= 0) {
      independent.push_back(std::move(row));
    } else {
      dependent.push_back(std::move(row));
      rows.push_back(i);
    }
  }
  bool rounded = false;
  if (rows.empty()) return rounded;
  const Lcs given = lcs;
  Matrix transform = Matrix::Identity(n, n);
  Vector constant = lcs.b.constant();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::vector<Rational>& share = dependent[k].share;
    rounded = rounded || !dependent[k].vanishes();
    lcs.E.row(rows[k]).setZero();
    lcs.A.row(rows[k]) = combined(share, given.A, rounded).transpose();
    lcs.B.row(rows[k]) = combined(share, given.B, rounded).transpose();
    constant[rows[k]] = combined(share, given.b.constant(), rounded)[0];
    transform.row(rows[k]) = combined(share, Matrix::Identity(n, n), rounded).transpose();
  }
  if (given.b.is_constant()) {
    lcs.b = Signal(constant);
    return rounded;
  }
  std::vector<int> all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  lcs.b = Signal(constant, all,
                 [transform, b = given.b](double t, Vector& value) { value = transform * b(t); });
  return rounded;
}

/// Writes a + f c to an entry of a family, with what rounding takes from it.
void set_sum(double a, double f, double c, double& value, double& rest, double& last) {
  const DoubleDouble product = two_product(f, c), sum = two_sum(a, product.high);
  const DoubleDouble low = two_sum(sum.low, product.low), high = two_sum(sum.high, low.high);
  value = high.high;
  rest = high.low;
  last = low.low;
}

}  // namespace

StepEquations::StepEquations(const Lcs& lcs, double theta)
    : lcs_(validated(lcs)), theta_(theta), E_given_(lcs_.E) {
  rows_are_rounded_ = separate_algebraic_rows(lcs_);
  const int n = lcs_.n();
  is_algebraic_.assign(static_cast<std::size_t>(n), 0);
  for (int i = 0; i < n; ++i)
    if (lcs_.E.row(i).isZero(0)) {
      algebraic_rows_.push_back(i);
      is_algebraic_[at(i)] = 1;
    }
  for (int j = 0; j < n; ++j) {
    bool matters = !lcs_.E.col(j).isZero(0);
    for (int i = 0; i < n && theta_ < 1; ++i)
      matters = matters || (is_algebraic_[at(i)] == 0 && lcs_.A(i, j) != 0);
    if (matters) state_.push_back(j);
  }
  parameters_ = static_cast<int>(state_.size() + lcs_.b.varying().size() + lcs_.q.varying().size());
  b_varies_ = !lcs_.b.is_constant();
  q_varies_ = !lcs_.q.is_constant();
  b_before_.resize(n);
  b_after_.resize(n);
  q_after_.resize(lcs_.m());
}

Norm StepEquations::norm(const Vector& x, int p) const {
  Norm norm;
  norm.W = Matrix::Zero(n(), p + m());
  norm.W.leftCols(n()) = E_given_;
  norm.center = Vector::Zero(p + m());
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
  for (Matrix& rest : family.rest) rest = Matrix::Zero(n, n + m + parameters_ + 1);
  const auto set = [&](int i, int column, double a, double f, double entry, double& value) {
    set_sum(a, f, entry, value, family.rest[0](i, column), family.rest[1](i, column));
  };
  // The shares of the step are rounded once, here: θ and 1-θ of the family are these over h.
  const double implicit = h * theta_, explicit_share = h * (1 - theta_);
  for (int i = 0; i < n; ++i) {
    if (is_algebraic_[at(i)] != 0) continue;
    for (int j = 0; j < n; ++j) set(i, j, lcs_.E(i, j), -implicit, lcs_.A(i, j), base.M11(i, j));
    for (int j = 0; j < m; ++j) set(i, n + j, 0, -h, lcs_.B(i, j), base.M12(i, j));
    set(i, n + m + parameters_, 0, -h, lcs_.b.constant()[i], base.q1[i]);
    for (std::size_t j = 0; j < state_.size(); ++j) {
      const auto column = static_cast<int>(j);
      set(i, n + m + column, -lcs_.E(i, state_[j]), -explicit_share, lcs_.A(i, state_[j]),
          family.Q1(i, column));
    }
  }
  auto column = static_cast<Eigen::Index>(state_.size());
  for (const int i : lcs_.b.varying()) {
    base.q1[i] = 0;
    for (Matrix& rest : family.rest) rest(i, n + m + parameters_) = 0;
    family.Q1(i, column++) = is_algebraic_[at(i)] != 0 ? 1 : -h;
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
  Mlcp problem;
  problem.M11 = lcs_.A;
  problem.M12 = lcs_.B;
  problem.q1 = lcs_.b(t);
  problem.M21 = lcs_.C;
  problem.M22 = lcs_.D;
  problem.q2 = lcs_.q(t);
  problem.laws = lcs_.laws;
  for (int i = 0; i < n(); ++i) {
    if (is_algebraic_[at(i)] != 0) continue;
    problem.M11.row(i) = lcs_.E.row(i);
    problem.M12.row(i).setZero();
    problem.q1[i] = -lcs_.E.row(i).dot(x0);
  }
  return problem;
}

}  // namespace perp
