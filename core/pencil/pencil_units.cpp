// Units of a pencil, as powers of two: its eigenvalues are computed without them.
#include <cmath>
#include <initializer_list>

#include <perp/core/linear/rank_elimination.hpp>
#include <perp/core/pencil/pencil_units.hpp>

namespace perp {
namespace {

constexpr double undetermined = 1e-11;  ///< of the equations of exponents: nothing tells one
constexpr int grid = 20;                ///< exponents are multiples of 2^-grid: their rounding is gone
/// Where exponents are rounded to whole numbers: not at a fraction that averages have.
constexpr double rounded_up_from = 0.5137;

/// Least squares for exponents of which sums shall be those of numbers, with the opposite sign.
class ExponentEquations {
 public:
  explicit ExponentEquations(Eigen::Index exponents) : normal_(Matrix::Zero(exponents, exponents)), right_(Vector::Zero(exponents)) {}

  /// Σ exponents ≈ −log₂|entry|, for an entry that is not 0.
  void add(double entry, std::initializer_list<Eigen::Index> exponents) {
    if (entry == 0 || !std::isfinite(entry)) return;
    for (const Eigen::Index p : exponents) {
      right_[p] -= std::ilogb(entry);
      for (const Eigen::Index q : exponents) normal_(p, q) += 1;
    }
  }

  /// Whole numbers. Pivots, and what nothing tells and stays 0, are those of the places of the entries.
  [[nodiscard]] Eigen::VectorXi solution() const {
    const Vector ones = Vector::Ones(right_.size());
    RankElimination elimination;
    elimination.factorise(normal_, ones, ones, undetermined);
    Vector exact;
    elimination.solve(right_, exact);
    return exact.unaryExpr([](double exponent) {
      const double on_grid = std::ldexp(std::round(std::ldexp(exponent, grid)), -grid);
      return static_cast<int>(std::floor(on_grid + 1 - rounded_up_from));
    });
  }

 private:
  Matrix normal_;
  Vector right_;
};

}  // namespace

double remove_units(Matrix& E, Matrix& A) {
  const Eigen::Index n = E.rows();
  ExponentEquations equations(2 * n + 1);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) {
      equations.add(A(i, j), {i, n + j});
      equations.add(E(i, j), {i, n + j, 2 * n});
    }
  const Eigen::VectorXi exponents = equations.solution();
  const int unit = exponents[2 * n];
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) {
      const int both = exponents[i] + exponents[n + j];
      A(i, j) = std::ldexp(A(i, j), both);
      E(i, j) = std::ldexp(E(i, j), both + unit);
    }
  return std::ldexp(1.0, unit);
}

}  // namespace perp
