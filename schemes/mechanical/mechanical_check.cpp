#include <fmt/format.h>
#include <cmath>
#include <utility>

#include <perp/core/linear/spectra.hpp>
#include <perp/schemes/mechanical/mechanical_system.hpp>

namespace perp {
namespace {

constexpr double tolerance = 1e-9;  ///< relative, of forces against gradients and of M against Mᵀ

/// The assignment of rows to columns that minimises the sum of costs: rows in the order of columns
/// (shortest augmenting paths with potentials). Empty if none has a finite cost.
std::vector<int> assignment(const Matrix& cost) {
  const auto n = static_cast<int>(cost.rows());
  std::vector<double> row_price(static_cast<std::size_t>(n) + 1), column_price(row_price);
  std::vector<int> row_of(static_cast<std::size_t>(n) + 1, 0);  // counted from 1, 0: none
  for (int row = 1; row <= n; ++row) {
    std::vector<double> shortest(static_cast<std::size_t>(n) + 1, inf);
    std::vector<int> from(static_cast<std::size_t>(n) + 1, 0);
    std::vector<bool> done(static_cast<std::size_t>(n) + 1);
    row_of[0] = row;
    std::size_t column = 0;
    while (row_of[column] != 0) {
      done[column] = true;
      const int r = row_of[column];
      double step = inf;
      std::size_t next = 0;
      for (std::size_t k = 1; k <= static_cast<std::size_t>(n); ++k) {
        if (done[k]) continue;
        const double length = cost(r - 1, static_cast<Eigen::Index>(k) - 1) -
                              row_price[static_cast<std::size_t>(r)] - column_price[k];
        if (length < shortest[k]) {
          shortest[k] = length;
          from[k] = static_cast<int>(column);
        }
        if (shortest[k] < step) {
          step = shortest[k];
          next = k;
        }
      }
      if (next == 0) return {};
      for (std::size_t k = 0; k <= static_cast<std::size_t>(n); ++k) {
        if (done[k]) {
          row_price[static_cast<std::size_t>(row_of[k])] += step;
          column_price[k] -= step;
        } else {
          shortest[k] -= step;
        }
      }
      column = next;
    }
    while (column != 0) {
      const auto before = static_cast<std::size_t>(from[column]);
      row_of[column] = row_of[before];
      column = before;
    }
  }
  std::vector<int> rows;
  for (std::size_t k = 1; k <= static_cast<std::size_t>(n); ++k) rows.push_back(row_of[k] - 1);
  return rows;
}

/// Factors of rows and units of multipliers, spread along the relations
///     s_r A_rk = s_k A_kr   and   s_r B_ri = d_i G_ir.
struct Factors {
  const Matrix& A;
  const Matrix& B;
  const Matrix& G;
  Vector s, d;  // 0: not known yet

  Factors(const Matrix& mass, const Matrix& force, const Matrix& gradient)
      : A(mass),
        B(force),
        G(gradient),
        s(Vector::Zero(mass.rows())),
        d(Vector::Zero(gradient.rows())) {
    for (Eigen::Index r = 0; r < s.size(); ++r) {
      if (s[r] != 0) continue;
      s[r] = 1 / A(r, r);
      spread();
    }
  }

  void spread() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Eigen::Index r = 0; r < s.size(); ++r) {
        if (s[r] == 0) continue;
        for (Eigen::Index k = 0; k < s.size(); ++k)
          if (s[k] == 0 && A(r, k) != 0 && A(k, r) != 0) {
            s[k] = s[r] * A(r, k) / A(k, r);
            changed = true;
          }
        for (Eigen::Index i = 0; i < d.size(); ++i)
          if (d[i] == 0 && B(r, i) != 0 && G(i, r) != 0) {
            d[i] = s[r] * B(r, i) / G(i, r);
            changed = true;
          }
      }
      for (Eigen::Index i = 0; i < d.size(); ++i)
        for (Eigen::Index r = 0; r < s.size() && d[i] != 0; ++r)
          if (s[r] == 0 && B(r, i) != 0 && G(i, r) != 0) {
            s[r] = d[i] * G(i, r) / B(r, i);
            changed = true;
          }
    }
  }
};

}  // namespace

// For a symmetric positive definite M, no assignment of rows to columns has a larger product of
// entries than the diagonal, and factors of rows change all products alike: this is how the rows
// find their velocities.
std::optional<std::string> MechanicalSystem::objection(double t, const Vector& x) {
  Contacts contacts;
  Dynamics dynamics;
  evaluate(t, x, contacts);
  evaluate(t, Vector::Zero(static_cast<Eigen::Index>(velocities_.size())), x, dynamics);
  if (!dynamics.F.allFinite() || !dynamics.A.allFinite() || !contacts.g.allFinite() ||
      !contacts.G.allFinite() || !contacts.B.allFinite())
    return "its equations have no finite value there";
  const std::vector<int> order = assignment(-dynamics.A.cwiseAbs().array().log().matrix());
  if (order.empty() && !velocities_.empty()) return "the mass matrix is singular";
  const Matrix A = dynamics.A(order, Eigen::all), B = contacts.B(order, Eigen::all);
  const Factors factors(A, B, contacts.G);

  for (Eigen::Index i = 0; i < contacts.G.rows(); ++i) {
    const std::string& name = laws()[static_cast<std::size_t>(i)].name;
    const Vector force = factors.s.cwiseProduct(B.col(i));
    const Vector gradient = contacts.G.row(i).transpose();
    if (force.isZero(0) && gradient.isZero(0)) continue;
    if (factors.d[i] < 0)
      return fmt::format(
          "the multiplier of law '{}' pulls: it must enter M v' = f + G^T lambda "
          "with the sign of the gradient of its gap",
          name);
    const Vector misfit = force - factors.d[i] * gradient;
    Eigen::Index worst = 0;
    if (factors.d[i] == 0 ||
        misfit.cwiseAbs().maxCoeff(&worst) > tolerance * force.lpNorm<Eigen::Infinity>())
      return fmt::format(
          "the multiplier of law '{}' does not act along the gradient of its gap: equation {} has "
          "it with the factor {:.6g}, the gap's derivative along that velocity is {:.6g}",
          name, rows_[static_cast<std::size_t>(order[static_cast<std::size_t>(worst)])] + 1,
          contacts.B(order[static_cast<std::size_t>(worst)], i), gradient[worst]);
  }
  const Matrix M = factors.s.asDiagonal() * A;
  if (!(M - M.transpose()).isZero(tolerance * M.lpNorm<Eigen::Infinity>()))
    return "the mass matrix is not symmetric, whatever the factors of its rows";
  if (M.size() > 0 && !linear::has_cholesky_factor(M))
    return "the mass matrix is not positive definite";
  return std::nullopt;
}

}  // namespace perp
