#include <cmath>
#include <limits>

#include <perp/core/linear/binary_scaling.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/parametric/refined_solution.hpp>

namespace perp {
namespace {

constexpr double contraction = 0.25;  ///< largest row sum of |I - X K| that is refined
constexpr int most_refinements = 60;  ///< each divides the error by 4 at least
constexpr int most_bounds = 48;       ///< of the error, the range of doubles by 2^-50 each

/// `matrix` scaled by exponents, error bounds too.
template <class Scale>
BoundedMatrix scaled(const BoundedMatrix& matrix, Scale scale) {
  BoundedMatrix result;
  result.high = scale(matrix.high);
  result.low = scale(matrix.low);
  result.error = scale(matrix.error);
  return result;
}

/// Did scaling by powers of two leave every entry as it was: none is lost among the smallest numbers?
bool is_kept(const Matrix& given, const Matrix& scaled) {
  for (Eigen::Index k = 0; k < given.size(); ++k)
    if (given.data()[k] != 0 && !std::isnormal(scaled.data()[k])) return false;
  return true;
}

/// R - K Y, and a bound of what it misses by its own rounding and the errors of K and R.
void residual(const BoundedMatrix& K, const BoundedMatrix& R, const BoundedMatrix& Y, Matrix& value,
              Matrix& bound) {
  const Eigen::Index n = K.high.rows();
  const double rounding = static_cast<double>(n + 4) * double_double_rounding;
  value.resize(n, R.high.cols());
  bound = (K.error + rounding * K.high.cwiseAbs()) * Y.high.cwiseAbs() + R.error +
          rounding * R.high.cwiseAbs();
  for (Eigen::Index j = 0; j < R.high.cols(); ++j)
    for (Eigen::Index i = 0; i < n; ++i) {
      DoubleDouble sum = R(i, j);
      for (Eigen::Index l = 0; l < n; ++l)
        if (K.high(i, l) != 0 && Y.high(l, j) != 0) sum = sum - K(i, l) * Y(l, j);
      value(i, j) = sum.high;
    }
  bound *= 1 + 8 * static_cast<double>(n) * unit_roundoff;  // its own rounding
}

/// Δ ≤ error + G Δ, begun with a Δ that is one number for each column, until each entry knows what is coupled
/// with it alone: it may stand beside others that are larger by any power of ten.
Matrix least_bound(const Matrix& error, const Matrix& G, double norm, double grown) {
  Matrix distance = error;
  for (Eigen::Index j = 0; j < error.cols(); ++j)
    distance.col(j).setConstant(error.col(j).maxCoeff() / (1 - norm) * grown);
  bool settles = false;
  for (int k = 0; k < most_bounds && !settles; ++k) {
    const Matrix next = (error + G * distance) * grown;
    settles = k >= 2 && (2 * next.array() >= distance.array()).all();
    distance = next;
  }
  return distance;
}

}  // namespace

void BoundedMatrix::snap() {
  for (Eigen::Index j = 0; j < high.cols(); ++j)
    for (Eigen::Index i = 0; i < high.rows(); ++i) {
      if (high(i, j) == 0 || std::abs(high(i, j)) > error(i, j)) continue;
      error(i, j) += std::abs(high(i, j));
      set(i, j, {});
    }
}

bool solve_bounded(const BoundedMatrix& K_given, const BoundedMatrix& R_given, BoundedMatrix& Y) {
  const Eigen::Index n = K_given.high.rows();
  const BinaryScaling scaling(K_given.high);
  const auto both = [&](const Matrix& M) { return scaling.apply(M); };
  const auto of_rows = [&](const Matrix& M) { return scaling.apply_rows(M); };
  const BoundedMatrix K = scaled(K_given, both), R = scaled(R_given, of_rows);
  if (!is_kept(K_given.high, K.high) || !is_kept(R_given.high, R.high)) return false;
  const linear::FullLu lu(K.high);
  if (lu.pivots().cwiseAbs().minCoeff() == 0) return false;
  const Matrix X = lu.inverse();
  if (!X.allFinite()) return false;

  // |I - X K| with everything that was rounded in making it
  const Matrix X_abs = X.cwiseAbs();
  const double grown = 1 + 16 * static_cast<double>(n) * unit_roundoff;
  Matrix G = (Matrix::Identity(n, n) - X * K.high).cwiseAbs();
  G += X_abs * (static_cast<double>(n + 2) * unit_roundoff * K.high.cwiseAbs() + K.low.cwiseAbs() + K.error);
  G.diagonal().array() += 2 * unit_roundoff;
  G *= grown;
  const double norm = G.rowwise().sum().maxCoeff();
  if (!(norm < contraction)) return false;

  // refine until nothing but the rounding of the residual is left
  Y = BoundedMatrix(n, R.high.cols());
  Matrix value, bound, error;
  for (int k = 0; k < most_refinements; ++k) {
    residual(K, R, Y, value, bound);
    error = X_abs * (value.cwiseAbs() + bound) * grown;
    const Matrix least = X_abs * bound;
    if ((error.array() <= 2 * grown * least.array()).all()) break;
    const Matrix change = X * value;
    for (Eigen::Index j = 0; j < change.cols(); ++j)
      for (Eigen::Index i = 0; i < n; ++i) Y.set(i, j, Y(i, j) + DoubleDouble{change(i, j), 0});
  }
  residual(K, R, Y, value, bound);
  error = X_abs * (value.cwiseAbs() + bound) * grown;
  Y.error = least_bound(error, G, norm, grown);
  if (!Y.error.allFinite()) return false;
  Y = scaled(Y, [&](const Matrix& M) { return scaling.unscale(M); });
  return true;
}

}  // namespace perp
