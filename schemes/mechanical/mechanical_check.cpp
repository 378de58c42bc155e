#include <fmt/format.h>
#include <cmath>
#include <utility>

#include <perp/core/linear/spectra.hpp>
#include <perp/schemes/mechanical/mechanical_system.hpp>

namespace perp {
namespace {

constexpr double tolerance = 1e-9;  ///< relative, of forces against gradients and of M against Mᵀ

/// The assignment of rows to columns that minimises the sum of costs (shortest augmenting paths with
/// potentials). Rows and columns are counted from 1, 0: none.
class Assignment {
 public:
  explicit Assignment(const Matrix& cost)
      : cost_(cost),
        size_(static_cast<std::size_t>(cost.rows()) + 1),
        row_price_(size_),
        column_price_(size_),
        row_of_(size_, 0) {}

  /// Rows in the order of columns, counted from 0. Empty if none has a finite cost.
  std::vector<int> find() {
    for (int row = 1; row < static_cast<int>(size_); ++row)
      if (!add(row)) return {};
    std::vector<int> rows;
    for (std::size_t k = 1; k < size_; ++k) rows.push_back(row_of_[k] - 1);
    return rows;
  }

 private:
  /// Gives the row a column: along the shortest path to one that is free every row takes the next.
  bool add(int row) {
    shortest_.assign(size_, inf);
    from_.assign(size_, 0);
    done_.assign(size_, false);
    row_of_[0] = row;
    std::size_t column = 0;
    while (row_of_[column] != 0) {
      done_[column] = true;
      go_on_from(column);
      column = nearest();
      if (column == 0) return false;
      change_prices(shortest_[column]);
    }
    while (column != 0) {
      const std::size_t before = from_[column];
      row_of_[column] = row_of_[before];
      column = before;
    }
    return true;
  }

  /// Paths over the row of this column, where they are shorter.
  void go_on_from(std::size_t column) {
    const int r = row_of_[column];
    for (std::size_t k = 1; k < size_; ++k) {
      if (done_[k]) continue;
      const double length = cost_(r - 1, static_cast<Eigen::Index>(k) - 1) -
                            row_price_[static_cast<std::size_t>(r)] - column_price_[k];
      if (!(length < shortest_[k])) continue;
      shortest_[k] = length;
      from_[k] = column;
    }
  }

  /// The column that is next on the shortest path, 0: none can be reached.
  [[nodiscard]] std::size_t nearest() const {
    double step = inf;
    std::size_t next = 0;
    for (std::size_t k = 1; k < size_; ++k) {
      if (done_[k] || !(shortest_[k] < step)) continue;
      step = shortest_[k];
      next = k;
    }
    return next;
  }

  /// Costs along the way that has been gone become 0.
  void change_prices(double step) {
    for (std::size_t k = 0; k < size_; ++k) {
      if (done_[k]) {
        row_price_[static_cast<std::size_t>(row_of_[k])] += step;
        column_price_[k] -= step;
      } else {
        shortest_[k] -= step;
      }
    }
  }

  const Matrix& cost_;
  std::size_t size_;  // of the lists
  std::vector<double> row_price_, column_price_;
  std::vector<int> row_of_;  // of each column; of column 0 the row that is added
  std::vector<double> shortest_;  // length of the path to each column
  std::vector<std::size_t> from_;  // the column before on it
  std::vector<bool> done_;
};

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
      for (Eigen::Index r = 0; r < s.size(); ++r)
        if (s[r] != 0 && spread_row(r)) changed = true;
      for (Eigen::Index i = 0; i < d.size(); ++i)
        if (d[i] != 0 && spread_unit(i)) changed = true;
    }
  }

 private:
  /// From a row to other rows and to multipliers. Was one not known before?
  bool spread_row(Eigen::Index r) {
    bool found = false;
    for (Eigen::Index k = 0; k < s.size(); ++k)
      if (relate(s[r], A(r, k), A(k, r), s[k])) found = true;
    for (Eigen::Index i = 0; i < d.size(); ++i)
      if (relate(s[r], B(r, i), G(i, r), d[i])) found = true;
    return found;
  }

  /// From a multiplier to rows.
  bool spread_unit(Eigen::Index i) {
    bool found = false;
    for (Eigen::Index r = 0; r < s.size(); ++r)
      if (relate(d[i], G(i, r), B(r, i), s[r])) found = true;
    return found;
  }

  /// The unknown by  known a = unknown b, where it is not known yet and both entries are there.
  static bool relate(double known, double a, double b, double& unknown) {
    if (unknown != 0 || a == 0 || b == 0) return false;
    unknown = known * a / b;
    return unknown != 0;  // below the smallest number it stays unknown
  }
};

bool are_finite(const MechanicalSystem::Dynamics& dynamics, const MechanicalSystem::Contacts& contacts) {
  return dynamics.F.allFinite() && dynamics.A.allFinite() && contacts.g.allFinite() && contacts.G.allFinite() &&
         contacts.B.allFinite();
}

/// What is wrong with the force of multiplier i, that of a law of this name. `equations`: numbers of the rows.
std::optional<std::string> objection_to_force(const Factors& factors, Eigen::Index i, const std::string& name,
                                              const std::vector<int>& equations) {
  const Vector force = factors.s.cwiseProduct(factors.B.col(i));
  const Vector gradient = factors.G.row(i).transpose();
  if (force.isZero(0) && gradient.isZero(0)) return std::nullopt;
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
        name, equations[static_cast<std::size_t>(worst)], factors.B(worst, i), gradient[worst]);
  return std::nullopt;
}

/// What is wrong with M, whose rows have their factors.
std::optional<std::string> objection_to_mass(const Matrix& M) {
  if (!(M - M.transpose()).isZero(tolerance * M.lpNorm<Eigen::Infinity>()))
    return "the mass matrix is not symmetric, whatever the factors of its rows";
  if (M.size() > 0 && !linear::has_cholesky_factor(M))
    return "the mass matrix is not positive definite";
  return std::nullopt;
}

}  // namespace

// For a symmetric positive definite M, no assignment of rows to columns has a larger product of
// entries than the diagonal, and factors of rows change all products alike: this is how the rows
// find their velocities.
std::optional<std::string> MechanicalSystem::objection(double t, const Vector& x) {
  Contacts contacts;
  Dynamics dynamics;
  evaluate(t, x, contacts);
  evaluate(t, Vector::Zero(static_cast<Eigen::Index>(velocities_.size())), x, dynamics);
  if (!are_finite(dynamics, contacts)) return "its equations have no finite value there";
  const Matrix cost = -dynamics.A.cwiseAbs().array().log().matrix();
  const std::vector<int> order = Assignment(cost).find();
  if (order.empty() && !velocities_.empty()) return "the mass matrix is singular";
  const Matrix A = dynamics.A(order, Eigen::all), B = contacts.B(order, Eigen::all);
  const Factors factors(A, B, contacts.G);
  std::vector<int> equations;
  for (const int row : order) equations.push_back(rows_[static_cast<std::size_t>(row)] + 1);
  for (Eigen::Index i = 0; i < contacts.G.rows(); ++i)
    if (auto objection = objection_to_force(factors, i, laws()[static_cast<std::size_t>(i)].name, equations))
      return objection;
  return objection_to_mass(factors.s.asDiagonal() * A);
}

}  // namespace perp
