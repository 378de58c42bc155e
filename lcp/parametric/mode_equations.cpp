#include <cmath>
#include <cstddef>

#include <perp/core/base/index.hpp>
#include <perp/lcp/parametric/mode_equations.hpp>
#include <perp/lcp/parametric/mode_map.hpp>
#include <perp/lcp/parametric/refined_solution.hpp>

namespace perp {
namespace {

const Branch& branch_of(const Mlcp& problem, const Mode& mode, int law) {
  const auto i = static_cast<std::size_t>(law);
  return problem.laws[i].branches.at(static_cast<std::size_t>(mode[i]));
}

constexpr double known_to = 0x1p-54;  ///< share of an entry that its bound may be

/// a + b with the bound of its rounding.
void set_sum(BoundedMatrix& M, Eigen::Index i, Eigen::Index j, const DoubleDouble& a, double b) {
  M.set(i, j, a + DoubleDouble{b, 0});
  if (b != 0 && a.high != 0)
    M.error(i, j) = 2 * double_double_rounding * (std::abs(a.high) + std::abs(b));
}

/// K and r without rounding, but for the sums a M + b and c - a q.
void bounded_equations(const Mlcp& problem, const Mode& mode, BoundedMatrix& K, BoundedMatrix& r) {
  const int p = problem.p(), m = problem.m();
  K = BoundedMatrix(p + m, p + m);
  r = BoundedMatrix(p + m, 1);
  K.high.topRows(p) << problem.M11, problem.M12;
  r.high.topRows(p) = -problem.q1;
  for (int i = 0; i < m; ++i) {
    const Branch& branch = branch_of(problem, mode, i);
    for (int j = 0; j < p + m; ++j) {
      const double entry = j < p ? problem.M21(i, j) : problem.M22(i, j - p);
      set_sum(K, p + i, j, two_product(branch.a, entry), j == p + i ? branch.b : 0);
    }
    set_sum(r, p + i, 0, two_product(-branch.a, problem.q2[i]), branch.c);
  }
}

/// M11 u + M12 λ = -q1, the first rows of both, which are 0 before.
void put_equations(const ParametricMlcp& family, BoundedMatrix& K, BoundedMatrix& R) {
  const Eigen::Index p = family.base.p(), m = family.base.m(), k = family.k();
  K.high.topLeftCorner(p, p) = family.base.M11;
  K.high.topRightCorner(p, m) = family.base.M12;
  R.high.topLeftCorner(p, k) = -family.Q1;
  R.high.col(k).head(p) = -family.base.q1;
  if (family.rest[0].size() == 0) return;
  const auto put = [&](BoundedMatrix& values, Eigen::Index column, Eigen::Index from, double sign) {
    for (Eigen::Index i = 0; i < p; ++i)
      values.set(i, column, two_sum(values.high(i, column), sign * (family.rest[0](i, from) + family.rest[1](i, from))));
  };
  for (Eigen::Index j = 0; j < p + m; ++j) put(K, j, j, 1);
  for (Eigen::Index j = 0; j <= k; ++j) put(R, j, p + m + j, -1);
}

}  // namespace

Matrix mode_matrix(const Mlcp& problem, const Mode& mode) {
  const int p = problem.p(), m = problem.m();
  Matrix K(p + m, p + m);
  K.topLeftCorner(p, p) = problem.M11;
  K.topRightCorner(p, m) = problem.M12;
  for (int i = 0; i < m; ++i) {
    const Branch& branch = branch_of(problem, mode, i);
    K.row(p + i).head(p) = branch.a * problem.M21.row(i);
    K.row(p + i).tail(m) = branch.a * problem.M22.row(i);
    K(p + i, p + i) += branch.b;
  }
  return K;
}

Vector mode_constant(const Mlcp& problem, const Mode& mode) {
  const int p = problem.p(), m = problem.m();
  Vector r(p + m);
  r.head(p) = -problem.q1;
  for (int i = 0; i < m; ++i) {
    const Branch& branch = branch_of(problem, mode, i);
    r[p + i] = branch.c - branch.a * problem.q2[i];
  }
  return r;
}

std::optional<Vector> proved_point(const Mlcp& problem, const Mode& mode,
                                   const std::vector<char>& zeros) {
  BoundedMatrix K, r, y;
  bounded_equations(problem, mode, K, r);
  if (K.high.rows() == 0) return Vector(0);
  if (!solve_bounded(K, r, y)) return std::nullopt;
  for (std::size_t j = 0; j < zeros.size(); ++j)
    if (zeros[j] != 0) y.high(static_cast<Eigen::Index>(j), 0) = y.error(static_cast<Eigen::Index>(j), 0) = 0;
  if (!(y.error.array() <= known_to * y.high.array().abs()).all()) return std::nullopt;
  return Vector(y.high.col(0));
}

void mode_system(const ParametricMlcp& family, const Mode& mode, BoundedMatrix& K, BoundedMatrix& R) {
  const Mlcp& base = family.base;
  const int p = base.p(), m = base.m(), n = p + m, k = family.k();
  K = BoundedMatrix(n, n);
  R = BoundedMatrix(n, k + 1);
  put_equations(family, K, R);
  for (int i = 0; i < m; ++i) {
    const Branch& branch = base.laws[at(i)].branches[at(mode[at(i)])];
    for (int j = 0; j < n; ++j) {
      const double entry = j < p ? base.M21(i, j) : base.M22(i, j - p);
      K.set(p + i, j, two_product(branch.a, entry));
    }
    const DoubleDouble own = K(p + i, p + i);
    K.set(p + i, p + i, own + DoubleDouble{branch.b, 0});
    if (own.low != 0) K.error(p + i, p + i) = double_double_rounding * (std::abs(branch.b) + std::abs(own.high));
    for (int j = 0; j < k; ++j) R.set(p + i, j, two_product(-branch.a, family.Q2(i, j)));
    const DoubleDouble moved = two_product(-branch.a, base.q2[i]);
    R.set(p + i, k, moved + DoubleDouble{branch.c, 0});
    if (moved.low != 0) R.error(p + i, k) = double_double_rounding * (std::abs(branch.c) + std::abs(moved.high));
  }
}

}  // namespace perp
