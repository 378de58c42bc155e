#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <random>

#include <perp/core/base/error.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/core/linear/spectra.hpp>
#include <perp/core/pencil/finite_eigenvalues.hpp>
#include <perp/core/pencil/pencil.hpp>
#include <perp/core/pencil/pencil_units.hpp>
#include <perp/core/pencil/reciprocal_power.hpp>

namespace perp {
namespace {

constexpr double rank_tolerance = 1e-10;  ///< of a column, relative to the largest one
constexpr double singular = 1e-14;        ///< reciprocal condition of A − σ E
/// Shifts, in units of the size of A against E; no simple fractions of each other.
constexpr double shifts[] = {0.7310585786, -1.3170578903, 3.1192029221, -0.2689414214, 11.2710301};

constexpr int samples = 3;              ///< of what rounding makes of a matrix


constexpr double roundings = 64;  ///< of one entry of (A − σ E)⁻¹ E Q, by the order and the condition

double largest_column(const Matrix& matrix) { return std::sqrt(matrix.colwise().squaredNorm().maxCoeff()); }

/// Orthonormal basis of the range of a matrix, the largest column first (Gram and Schmidt, twice). Columns up to
/// `rounding` are none.
Matrix range_of(Matrix matrix, double rounding = 0) {
  Matrix basis(matrix.rows(), std::min(matrix.rows(), matrix.cols()));
  double first = 0;
  for (Eigen::Index rank = 0; rank < basis.cols(); ++rank) {
    Eigen::Index largest = 0;
    const double size = std::sqrt(matrix.colwise().squaredNorm().maxCoeff(&largest));
    if (rank == 0) first = size;
    if (!(size > std::max(rank_tolerance * first, rounding))) return basis.leftCols(rank);
    Vector column = matrix.col(largest);
    for (Eigen::Index k = 0; k < rank; ++k) column -= basis.col(k).dot(column) * basis.col(k);
    basis.col(rank) = column.normalized();
    for (Eigen::Index j = 0; j < matrix.cols(); ++j)
      matrix.col(j) -= basis.col(rank).dot(matrix.col(j)) * basis.col(rank);
  }
  return basis;
}

/// Orthonormal basis of what all powers of M reach. On the nilpotent part M Q is 0 but for the rounding of M, of which
/// nothing is a range.
Matrix range_of_powers(const Matrix& M, double rounding) {
  Matrix Q = range_of(M);
  for (Eigen::Index last = M.cols(); Q.cols() < last && Q.cols() > 0;) {
    last = Q.cols();
    Q = range_of(M * Q, rounding);
  }
  return Q;
}

/// The eigenvalue of the pencil for one of (A − σ E)⁻¹ E, without a negative zero.
std::complex<double> unshifted(const std::complex<double>& value, double shift, double unit) {
  const std::complex<double> s = unit * (shift + 1.0 / value);
  return {s.real(), s.imag() == 0 ? 0.0 : s.imag()};
}

/// Larger real parts first, then larger imaginary ones.
bool is_first(const std::complex<double>& a, const std::complex<double>& b) {
  return a.real() != b.real() ? a.real() > b.real() : a.imag() > b.imag();
}

/// The shift for which A − σ E is best conditioned; 0 where it is singular for all of them.
double best_shift(const Matrix& E, const Matrix& A, double& condition) {
  const double size = A.norm() > 0 && E.norm() > 0 ? A.norm() / E.norm() : 1;
  double best = 0;
  condition = singular;
  for (const double shift : shifts) {
    const double here = scaled_reciprocal_condition(A - shift * size * E);
    if (here <= condition) continue;
    condition = here;
    best = shift * size;
  }
  return best;
}

/// Brings a pencil s E - A to entries near 1 by powers of two: rows and columns of both matrices, and the unit of
/// s, which is returned (s = unit times that of the scaled pencil). Eigenvalues do not change otherwise.
double balance_pencil(Matrix& E, Matrix& A) {
  constexpr int sweeps = 8;
  const auto larger = [](const auto& a, const auto& b) { return std::max(a.cwiseAbs().maxCoeff(), b.cwiseAbs().maxCoeff()); };
  double unit = remove_units(E, A);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const double ratio = E.isZero(0) || A.isZero(0) ? 1 : reciprocal_power(E.cwiseAbs().maxCoeff() / A.cwiseAbs().maxCoeff());
    E *= ratio;
    unit *= ratio;
    for (Eigen::Index i = 0; i < E.rows(); ++i) {
      const double factor = reciprocal_power(larger(E.row(i), A.row(i)));
      E.row(i) *= factor, A.row(i) *= factor;
    }
    for (Eigen::Index j = 0; j < E.cols(); ++j) {
      const double factor = reciprocal_power(larger(E.col(j), A.col(j)));
      E.col(j) *= factor, A.col(j) *= factor;
    }
  }
  return unit;
}

}  // namespace

namespace {

/// (A − σ E)⁻¹ E on what all of its powers reach, of a balanced pencil.
struct Reduced {
  Matrix matrix;
  double shift = 0, unit = 1;  ///< σ, and that of s
  double rounding = 0;         ///< of an entry of the matrix

  [[nodiscard]] std::vector<std::complex<double>> eigenvalues(const Matrix& of) const {
    std::vector<std::complex<double>> values;
    if (of.cols() > 0)
      for (const std::complex<double>& value : linear::eigenvalues(of)) values.push_back(unshifted(value, shift, unit));
    std::stable_sort(values.begin(), values.end(), is_first);
    return values;
  }
};

std::optional<Reduced> reduced(const Matrix& given_E, const Matrix& given_A) {
  Matrix E = given_E, A = given_A;
  if (E.rows() != E.cols() || A.rows() != A.cols() || E.rows() != A.rows())
    throw InvalidInput(fmt::format("E and A must be square and of one size but are {}x{} and {}x{}",
                                   E.rows(), E.cols(), A.rows(), A.cols()));
  Reduced result;
  if (E.rows() == 0) return result;
  result.unit = balance_pencil(E, A);
  double condition = 0;
  result.shift = best_shift(E, A, condition);
  if (result.shift == 0) return std::nullopt;
  const Matrix M = linear::FullLu(A - result.shift * E).solve(E);
  result.rounding = std::min(rank_tolerance, roundings * static_cast<double>(E.rows()) * 0x1p-52 / condition) *
                    largest_column(M);
  const Matrix Q = range_of_powers(M, result.rounding);
  result.matrix = Q.transpose() * M * Q;
  return result;
}

/// Distance from a value to the nearest of these; infinite without any.
double distance(const std::complex<double>& value, const std::vector<std::complex<double>>& others) {
  double smallest = inf;
  for (const std::complex<double>& other : others) smallest = std::min(smallest, std::abs(value - other));
  return smallest;
}

}  // namespace

std::optional<std::vector<std::complex<double>>> finite_eigenvalues(const Matrix& E, const Matrix& A) {
  const std::optional<Reduced> pencil = reduced(E, A);
  if (!pencil) return std::nullopt;
  return pencil->eigenvalues(pencil->matrix);
}

std::optional<FiniteSpectrum> finite_spectrum(const Matrix& E, const Matrix& A) {
  const std::optional<Reduced> pencil = reduced(E, A);
  if (!pencil) return std::nullopt;
  FiniteSpectrum spectrum{pencil->eigenvalues(pencil->matrix), {}};
  spectrum.errors.assign(spectrum.values.size(), 0);
  std::mt19937 random;
  for (int sample = 0; sample < samples; ++sample) {
    const Matrix moved = pencil->matrix + pencil->rounding * Matrix::NullaryExpr(pencil->matrix.rows(), pencil->matrix.cols(), [&] {
                           return random() % 2 == 0 ? 1.0 : -1.0;
                         });
    const std::vector<std::complex<double>> others = pencil->eigenvalues(moved);
    for (std::size_t k = 0; k < others.size(); ++k)
      spectrum.errors[k] = std::max(spectrum.errors[k], distance(spectrum.values[k], others));
  }
  return spectrum;
}

}  // namespace perp
