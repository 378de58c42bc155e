#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/schemes/step/short_step.hpp>

namespace perp {
namespace {

constexpr double slope_step = 1e-5;       // of the time scale
constexpr double least_step = 0x1p-30;  // of |t|: differences of b need digits of t

/// value + h slope
Laurent linear_term(double value, double slope) {
  return Laurent(value) + Laurent(1, static_cast<long double>(slope));
}

/// The shortest time that the data hold: |E_ij / A_ij| of one variable in one equation, and
/// |E_ij E_kl / (A_il A_kj)|^(1/2) of two that exchange. 1 where nothing tells.
double time_scale(const Lcs& lcs) {
  double least = inf;
  const auto include = [&](double value) {
    if (value > 0 && value < least) least = value;
  };
  const int n = lcs.n();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (lcs.E(i, j) == 0) continue;
      if (lcs.A(i, j) != 0) include(std::abs(lcs.E(i, j) / lcs.A(i, j)));
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l)
          if (lcs.E(k, l) != 0 && lcs.A(i, l) != 0 && lcs.A(k, j) != 0)
            include(std::sqrt(std::abs(lcs.E(i, j) / lcs.A(i, l))) *
                    std::sqrt(std::abs(lcs.E(k, l) / lcs.A(k, j))));
    }
  return least < inf ? least : 1;
}

}  // namespace

std::vector<Laurent> ShortStep::change(const std::vector<Laurent>& y, bool direction) const {
  std::vector<Laurent> value;
  for (int k = 0; k < bounded; ++k) value.push_back(output(problem, m() + k, y, direction).value);
  return value;
}

ShortSteps::ShortSteps(const Lcs& lcs, const Vector& x, double t)
    : equations_(lcs, 1), x_(x), at_0_(equations_.family(0)), at_1_(equations_.family(1)) {
  find_parameter(t);
}

/// The family's parameter for a step to t + h: value and slope by one-sided differences of second
/// order.
void ShortSteps::find_parameter(double t) {
  const auto count = at(equations_.parameters());
  const double step =
      std::max(slope_step * time_scale(equations_.lcs()), least_step * std::abs(t));
  std::vector<double> now(count), half(count), whole(count);
  equations_.parameter(x_, t, t, now.data());
  equations_.parameter(x_, t, t + step / 2, half.data());
  equations_.parameter(x_, t, t + step, whole.data());
  for (std::size_t k = 0; k < count; ++k)
    parameter_.push_back(linear_term(now[k], (4 * (half[k] - now[k]) - (whole[k] - now[k])) / step));
}

std::vector<Block> ShortSteps::blocks() const {
  // E and A by their sizes: a difference of theirs could vanish for one h.
  const Lcs& lcs = equations_.lcs();
  return independent_blocks({.M11 = lcs.E.cwiseAbs() + lcs.A.cwiseAbs(),
                             .M12 = lcs.B,
                             .q1 = Vector::Zero(lcs.n()),
                             .M21 = lcs.C,
                             .M22 = lcs.D,
                             .q2 = Vector::Zero(lcs.m()),
                             .laws = lcs.laws});
}

ShortStep ShortSteps::of(const Block& block) const {
  const Matrix& E = equations_.lcs().E;
  const int n = static_cast<int>(block.u.size()), m = static_cast<int>(block.lambda.size());
  std::vector<int> differential;
  for (const int i : block.equations)
    if (!E.row(i).isZero(0)) differential.push_back(i);
  const int bounded = static_cast<int>(differential.size()), count = m + bounded;
  const Vector x = x_(block.u);
  const Mlcp part = subproblem(at_0_.base, block);
  Mlcp base{.M11 = part.M11,
            .M12 = Matrix::Zero(part.M11.rows(), count),
            .q1 = part.q1,
            .M21 = Matrix::Zero(count, n),
            .M22 = Matrix::Zero(count, count),
            .q2 = Vector::Zero(count),
            .laws = part.laws};
  base.M21.topRows(m) = part.M21;
  base.M22.topLeftCorner(m, m) = part.M22;
  for (int k = 0; k < bounded; ++k) {
    base.M21.row(m + k) = E(differential[at(k)], block.u);
    base.q2[m + k] = -base.M21.row(m + k).dot(x);
    base.laws.push_back({"bounded", {{0, 1, 0, {-unbounded_jump, unbounded_jump}, {}}}});
  }
  ShortStep step{block, equations_.given_E()(Eigen::all, block.u), x, bounded,
                 AlgebraicProblem<Laurent>(base)};
  write_rows(step);
  return step;
}

/// The rows of [M11 M12 q1] are linear in h, q of b(t + h) and q(t + h) too.
void ShortSteps::write_rows(ShortStep& step) const {
  const auto constant = [&](const Vector& q_0, const Vector& q_1, const Matrix& Q_0,
                            const Matrix& Q_1, int i) {
    Laurent sum = linear_term(q_0[i], q_1[i] - q_0[i]);
    for (std::size_t k = 0; k < parameter_.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      if (Q_0(i, column) == 0 && Q_1(i, column) == 0) continue;
      sum += linear_term(Q_0(i, column), Q_1(i, column) - Q_0(i, column)) * parameter_[k];
    }
    return sum;
  };
  const int n = step.n(), m = step.m();
  const Mlcp &now = at_0_.base, &later = at_1_.base;
  for (std::size_t e = 0; e < step.block.equations.size(); ++e) {
    const int i = step.block.equations[e];
    std::vector<Laurent>& row = step.problem.rows[e];
    for (int k = 0; k < n; ++k) {
      const int j = step.block.u[at(k)];
      row[at(k)] = linear_term(now.M11(i, j), later.M11(i, j) - now.M11(i, j));
    }
    for (int k = 0; k < m; ++k) {
      const int j = step.block.lambda[at(k)];
      row[at(n + k)] = linear_term(now.M12(i, j), later.M12(i, j) - now.M12(i, j));
    }
    row.back() = constant(now.q1, later.q1, at_0_.Q1, at_1_.Q1, i);
  }
  for (int k = 0; k < m; ++k)
    step.problem.rows[step.block.equations.size() + at(k)].back() =
        constant(now.q2, later.q2, at_0_.Q2, at_1_.Q2, step.block.lambda[at(k)]);
}

}  // namespace perp
