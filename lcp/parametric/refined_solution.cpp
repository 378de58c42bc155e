#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/binary_scaling.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/parametric/refined_solution.hpp>

namespace perp {
namespace {

constexpr double contraction = 0.25;  ///< largest row sum of |I - X K| that is refined
constexpr int least_refinements = 2;
constexpr int most_refinements = 60;  ///< each divides the error by 4 at least
constexpr int most_bounds = 48;       ///< of the error, the range of doubles by 2^-50 each

// Each element of a long chain moves the exponents of a scaling by as much as the one before it. Where scaled right sides leave
// the range of doubles scales are limited: products of one, its rounding and `least_inverse` are doubles then.
constexpr int limited_range = 240;
constexpr double least_inverse = 0x1p-500;

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

/// sum - a b, if none of both operations rounds.
bool subtract_exactly(double a, double b, double& sum) {
  constexpr double least = 0x1p-960;  // what the product of two doubles has rounded off is a double from here on
  const DoubleDouble product = two_product(a, b);
  if (product.low != 0 || !(std::abs(product.high) >= least)) return false;
  const DoubleDouble next = two_sum(sum, -product.high);
  sum = next.high;
  return next.low == 0;
}

/// The entries of K that are not 0, row by row: equations hold few of the unknowns.
class Entries {
 public:
  explicit Entries(const BoundedMatrix& K) : n_(K.high.rows()) {
    const double rounding = rounding_of_sum();
    entries_.reserve(at((K.high.array() != 0 || K.error.array() != 0).count()));
    ends_.reserve(at(n_));
    for (Eigen::Index i = 0; i < n_; ++i) {
      for (Eigen::Index l = 0; l < n_; ++l)
        if (K.high(i, l) != 0 || K.error(i, l) != 0)
          entries_.push_back({l, K(i, l), K.error(i, l) + rounding * std::abs(K.high(i, l)),
                              K.low(i, l) == 0 && K.error(i, l) == 0});
      ends_.push_back(entries_.size());
    }
  }

  /// R - K Y, and a bound of what it misses by its own rounding and the errors of K and R.
  void residual(const BoundedMatrix& R, const BoundedMatrix& Y, Matrix& value, Matrix& bound) const {
    const double rounding = rounding_of_sum();
    value.resize(n_, R.high.cols());
    bound = R.error + rounding * R.high.cwiseAbs();
    for (Eigen::Index j = 0; j < R.high.cols(); ++j)
      for (Eigen::Index i = 0; i < n_; ++i) {
        CompensatedSum sum{R.high(i, j), R.low(i, j)};
        double missing = bound(i, j);
        for (const Entry& entry : row(i)) {
          const double y = Y.high(entry.column, j);
          if (y == 0) continue;
          missing += entry.rounding * std::abs(y);
          sum.add_product(entry.value, {-y, -Y.low(entry.column, j)});
        }
        value(i, j) = sum.high + sum.low;
        bound(i, j) = missing;
      }
    bound *= 1 + 8 * static_cast<double>(n_) * unit_roundoff;  // its own rounding
  }

  /// The same of Y = 0.
  void residual_of_nothing(const BoundedMatrix& R, Matrix& value, Matrix& bound) const {
    value = R.high + R.low;
    bound = (R.error + rounding_of_sum() * R.high.cwiseAbs()) * (1 + 8 * static_cast<double>(n_) * unit_roundoff);
  }

  /// Is R - K Y exactly 0 in this column, Y without its low part? Told where no product and no sum rounds.
  [[nodiscard]] bool hold_exactly(const BoundedMatrix& R, const BoundedMatrix& Y, Eigen::Index column) const {
    for (Eigen::Index i = 0; i < n_; ++i) {
      if (R.low(i, column) != 0 || R.error(i, column) != 0) return false;
      double left = R.high(i, column);
      for (const Entry& entry : row(i)) {
        const double y = Y.high(entry.column, column);
        if (y != 0 && !(entry.is_double && subtract_exactly(entry.value.high, y, left))) return false;
      }
      if (left != 0) return false;
    }
    return true;
  }

  /// |I - X K| with everything that was rounded in making it.
  [[nodiscard]] Matrix defect(const Matrix& X, double grown) const {
    Matrix product = Matrix::Zero(n_, n_), terms = Matrix::Zero(n_, n_);
    const double each = static_cast<double>(n_ + 2) * unit_roundoff;
    for (Eigen::Index i = 0; i < n_; ++i)
      for (const Entry& entry : row(i)) {
        const double size = each * std::abs(entry.value.high) + std::abs(entry.value.low) + entry.rounding;
        product.col(entry.column) += entry.value.high * X.col(i);
        terms.col(entry.column) += size * X.col(i).cwiseAbs();
      }
    Matrix G = (Matrix::Identity(n_, n_) - product).cwiseAbs() + terms;
    G.diagonal().array() += 2 * unit_roundoff;
    return grown * G;
  }

 private:
  struct Entry {
    Eigen::Index column;
    DoubleDouble value;
    double rounding;  ///< the error of the entry and what a product with it adds
    bool is_double;   ///< is it a double without an error?
  };

  /// Of a sum over a row, beside each of its terms.
  [[nodiscard]] double rounding_of_sum() const { return static_cast<double>(n_ + 4) * compensated_rounding(static_cast<int>(n_) + 4); }
  [[nodiscard]] std::span<const Entry> row(Eigen::Index i) const {
    const std::size_t first = i == 0 ? 0 : ends_[static_cast<std::size_t>(i - 1)];
    return {entries_.data() + first, ends_[static_cast<std::size_t>(i)] - first};
  }

  Eigen::Index n_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> ends_;
};

/// An approximate inverse and |I - X K|, whose row sums are small. Complete pivoting is for what partial
/// pivoting does not invert well. False: neither does.
bool invert(const BoundedMatrix& scaled_K, const Entries& entries, double grown, bool is_limited, Matrix& X, Matrix& G) {
  const Matrix& K = scaled_K.high;
  const Eigen::Index n = K.rows();
  const auto is_inverse = [&] {
    if (!X.allFinite()) return false;
    if (is_limited) X = (X.array().abs() < least_inverse).select(least_inverse, X);  // what is below would be lost from bounds
    clear_impossible(scaled_K, X);
    G = entries.defect(X, grown);
    return G.rowwise().sum().maxCoeff() < contraction;
  };
  const linear::Lu lu(K);
  if (lu.factors().diagonal().cwiseAbs().minCoeff() > 0) {
    X = lu.solve(Matrix(Matrix::Identity(n, n)));
    if (is_inverse()) return true;
  }
  const linear::FullLu full(K);
  if (full.pivots().cwiseAbs().minCoeff() == 0) return false;
  X = full.inverse();
  return is_inverse();
}

/// Columns of Y that solve K Y = R exactly without their low parts are exact, as `unknowns` where they keep their digits.
void drop_errors(const Entries& K, const BoundedMatrix& R, const BoundedMatrix& Y, BoundedMatrix& unknowns) {
  for (Eigen::Index j = 0; j < R.high.cols(); ++j) {
    if (!K.hold_exactly(R, Y, j) || !is_kept(Y.high.col(j), unknowns.high.col(j))) continue;
    unknowns.low.col(j).setZero();
    unknowns.error.col(j).setZero();
  }
}

/// Y becomes Y + change, in doubled precision.
void add(BoundedMatrix& Y, const Matrix& change) {
  for (Eigen::Index j = 0; j < change.cols(); ++j)
    for (Eigen::Index i = 0; i < change.rows(); ++i) {
      CompensatedSum sum{Y.high(i, j), Y.low(i, j)};
      sum.add(change(i, j));
      Y.set(i, j, sum.value());
    }
}

/// The entries of one column that are not 0 in the least Δ with Δ = error + G Δ: those with an error, and what these act on.
std::vector<char> entries_with_bound(const Matrix& error, Eigen::Index column, const Matrix& G) {
  const Eigen::Index n = error.rows();
  std::vector<char> has_bound(at(n), 0);
  std::vector<Eigen::Index> waiting;
  const auto add = [&](Eigen::Index i) {
    has_bound[at(i)] = 1;
    waiting.push_back(i);
  };
  for (Eigen::Index i = 0; i < n; ++i)
    if (error(i, column) != 0) add(i);
  while (!waiting.empty()) {
    const Eigen::Index from = waiting.back();
    waiting.pop_back();
    for (Eigen::Index i = 0; i < n; ++i)
      if (has_bound[at(i)] == 0 && G(i, from) != 0) add(i);
  }
  return has_bound;
}

/// Δ ≤ error + G Δ, begun with a Δ that is one number for each column, 0 where nothing makes a difference, until each entry
/// knows what is coupled with it alone: it may stand beside others that are larger by any power of ten.
Matrix least_bound(const Matrix& error, const Matrix& G, double norm, double grown) {
  Matrix distance = Matrix::Zero(error.rows(), error.cols());
  for (Eigen::Index j = 0; j < error.cols(); ++j) {
    const double most = error.col(j).maxCoeff() / (1 - norm) * grown;
    if ((error.col(j).array() != 0).all()) {
      distance.col(j).setConstant(most);
      continue;
    }
    const std::vector<char> has_bound = entries_with_bound(error, j, G);
    for (Eigen::Index i = 0; i < error.rows(); ++i)
      if (has_bound[at(i)] != 0) distance(i, j) = most;
  }
  bool settles = false;
  Matrix next;
  for (int k = 0; k < most_bounds && !settles; ++k) {
    next.noalias() = G * distance;
    next = (error + next) * grown;
    settles = k >= 2 && (2 * next.array() >= distance.array()).all();
    distance.swap(next);
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

struct BoundedInverse::Parts {
  Parts(BinaryScaling scaling_of_K, const BoundedMatrix& scaled_K)
      : n(scaled_K.high.rows()),
        grown(1 + 16 * static_cast<double>(n) * unit_roundoff),
        scaling(std::move(scaling_of_K)),
        entries(scaled_K) {}

  Eigen::Index n;
  double grown;  ///< for the rounding of a bound of n terms
  BinaryScaling scaling;
  Entries entries;  ///< of the scaled K
  Matrix X, X_abs, G;
  double norm = 0;  ///< largest row sum of G
};

std::optional<BoundedInverse> BoundedInverse::of(const BoundedMatrix& K) { return in_scales(K, BinaryScaling(K.high), false); }

std::optional<BoundedInverse> BoundedInverse::in_limited_scales(const BoundedMatrix& K) {
  BinaryScaling scaling(K.high);
  if (scaling.range() <= limited_range) return std::nullopt;
  scaling.limit(limited_range);
  return in_scales(K, std::move(scaling), true);
}

std::optional<BoundedInverse> BoundedInverse::in_scales(const BoundedMatrix& K, BinaryScaling scaling, bool is_limited) {
  const BoundedMatrix scaled_K = scaled(K, [&](const Matrix& M) { return scaling.apply(M); });
  if (!is_kept(K.high, scaled_K.high)) return std::nullopt;
  auto parts = std::make_shared<Parts>(std::move(scaling), scaled_K);
  if (!invert(scaled_K, parts->entries, parts->grown, is_limited, parts->X, parts->G)) return std::nullopt;
  parts->X_abs = parts->X.cwiseAbs();
  parts->norm = parts->G.rowwise().sum().maxCoeff();
  return BoundedInverse(std::move(parts));
}

bool BoundedInverse::solve(const BoundedMatrix& given, BoundedMatrix& Y) const {
  const Eigen::Index n = parts_->n;
  const double grown = parts_->grown;
  const BinaryScaling& scaling = parts_->scaling;
  const Matrix &X = parts_->X, &X_abs = parts_->X_abs;
  const BoundedMatrix R = scaled(given, [&](const Matrix& M) { return scaling.apply_rows(M); });
  if (!is_kept(given.high, R.high)) return false;

  // Refine until nothing but the rounding of the residual is left: twice at least, since a residual costs less
  // than to tell whether it is.
  Y = BoundedMatrix(n, R.high.cols());
  Matrix value, bound;
  const auto is_rounding = [&] {
    if ((value.cwiseAbs().array() <= bound.array()).all()) return true;
    const Matrix least = X_abs * bound;
    return (((X_abs * value.cwiseAbs() + least) * grown).array() <= 2 * grown * least.array()).all();
  };
  for (int k = 0;; ++k) {
    if (k == 0)
      parts_->entries.residual_of_nothing(R, value, bound);
    else
      parts_->entries.residual(R, Y, value, bound);
    if (k == most_refinements || (k >= least_refinements && is_rounding())) break;
    add(Y, X * value);
  }
  Y.error = least_bound(X_abs * (value.cwiseAbs() + bound) * grown, parts_->G, parts_->norm, grown);
  if (!Y.error.allFinite()) return false;
  BoundedMatrix unknowns = scaled(Y, [&](const Matrix& M) { return scaling.unscale(M); });
  // Some are rounded to the smallest numbers, along a chain to 0.
  unknowns.error = (Y.error.array() > 0).select(unknowns.error.cwiseMax(std::numeric_limits<double>::denorm_min()), unknowns.error);
  drop_errors(parts_->entries, R, Y, unknowns);
  Y = std::move(unknowns);
  return true;
}

// |K⁻¹| = |(X K)⁻¹ X| ≤ (I - G)⁻¹ |X|
Vector BoundedInverse::image(const Vector& r) const {
  const Parts& parts = *parts_;
  const Matrix first = parts.X_abs * parts.scaling.apply_rows(r) * parts.grown;
  return parts.scaling.unscale(least_bound(first, parts.G, parts.norm, parts.grown));
}

// K⁻¹ = C X R with the factors of columns and rows
Vector BoundedInverse::combination(const Vector& v) const {
  const Parts& parts = *parts_;
  return parts.scaling.apply_rows(parts.X.transpose() * parts.scaling.unscale(v));
}

std::size_t BoundedInverse::storage() const { return 3 * static_cast<std::size_t>(parts_->X.size()); }

bool solve_bounded(const BoundedMatrix& K, const BoundedMatrix& R, BoundedMatrix& Y) {
  std::optional<BoundedInverse> inverse = BoundedInverse::of(K);
  if (!inverse) return false;
  if (inverse->solve(R, Y)) return true;
  inverse = BoundedInverse::in_limited_scales(K);
  return inverse && inverse->solve(R, Y);
}

}  // namespace perp
