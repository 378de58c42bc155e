// Linear algebra of enclosures.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <perp/analysis/enclosure/interval_matrix.hpp>

namespace perp::enclosure {

IntervalMatrix::IntervalMatrix(const Matrix& points)
    : IntervalMatrix(static_cast<int>(points.rows()), static_cast<int>(points.cols())) {
  for (int i = 0; i < rows(); ++i)
    for (int j = 0; j < columns_; ++j) (*this)(i, j) = Interval(points(i, j));
}

IntervalMatrix operator*(const IntervalMatrix& a, const IntervalMatrix& b) {
  IntervalMatrix product(a.rows(), b.columns());
  for (int i = 0; i < a.rows(); ++i)
    for (int k = 0; k < a.columns(); ++k)
      for (int j = 0; j < b.columns(); ++j) add_product(product(i, j), a(i, k), b(k, j));
  return product;
}

IntervalMatrix operator-(const IntervalMatrix& a, const IntervalMatrix& b) {
  IntervalMatrix difference(a.rows(), a.columns());
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.columns(); ++j) difference(i, j) = a(i, j) - b(i, j);
  return difference;
}

Box operator*(const IntervalMatrix& a, const Box& x) {
  Box product(static_cast<std::size_t>(a.rows()));
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.columns(); ++j)
      add_product(product[static_cast<std::size_t>(i)], a(i, j), x[static_cast<std::size_t>(j)]);
  return product;
}

Box operator+(const Box& a, const Box& b) {
  Box sum(a.size());
  std::transform(a.begin(), a.end(), b.begin(), sum.begin(),
                 [](const Interval& x, const Interval& y) { return x + y; });
  return sum;
}

Box operator-(const Box& a, const Box& b) {
  Box difference(a.size());
  std::transform(a.begin(), a.end(), b.begin(), difference.begin(),
                 [](const Interval& x, const Interval& y) { return x - y; });
  return difference;
}

Matrix middle(const IntervalMatrix& a) {
  Matrix points(a.rows(), a.columns());
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.columns(); ++j) points(i, j) = middle(a(i, j));
  return points;
}

std::vector<double> middle(const Box& a) {
  std::vector<double> points(a.size());
  std::transform(a.begin(), a.end(), points.begin(), [](const Interval& x) { return middle(x); });
  return points;
}

Box middle_of(Box box) {
  for (Interval& side : box)
    if (is_wide(side)) side = Interval(middle(side));
  return box;
}

Box points(const std::vector<double>& x) {
  Box box(x.size());
  std::transform(x.begin(), x.end(), box.begin(), [](double value) { return Interval(value); });
  return box;
}

Box hull(const Box& a, const Box& b) {
  Box both(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) both[i] = hull(a[i], b[i]);
  return both;
}

bool is_bounded(const Box& a) {
  return std::all_of(a.begin(), a.end(), [](const Interval& x) { return x.is_bounded(); });
}

Interval common_part(const Interval& a, const Interval& b) {
  const std::optional<Interval> both = intersection(a, b);
  if (!both) throw std::logic_error("two enclosures of one solution do not meet");
  return *both;
}

Box common(const Box& a, const Box& b) {
  Box box(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) box[i] = common_part(a[i], b[i]);
  return box;
}

namespace {

constexpr int picard_terms = 8;

/// Sums of products of numbers that are not negative, rounded upward; zeros stay zeros.
Matrix product_up(const Matrix& a, const Matrix& b) {
  Matrix product = Matrix::Zero(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index k = 0; k < a.cols(); ++k) {
      if (a(i, k) == 0) continue;
      for (Eigen::Index j = 0; j < b.cols(); ++j)
        if (b(k, j) != 0)
          product(i, j) = directed::add_up(product(i, j), directed::multiply_up(a(i, k), b(k, j)));
    }
  return product;
}

/// Which states act on which, in any number of steps.
Matrix reachable(const Matrix& a) {
  Matrix reach = a.unaryExpr([](double x) { return x == 0 ? 0.0 : 1.0; });
  for (Eigen::Index k = 0; k < a.rows(); ++k)
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      if (reach(i, k) != 0)
        for (Eigen::Index j = 0; j < a.cols(); ++j) reach(i, j) = std::max(reach(i, j), reach(k, j));
  return reach;
}

/// D = diag(d): what the states are measured in, so that bounds do not depend on their units.
class Sizes {
 public:
  explicit Sizes(std::vector<double> d) : d_(std::move(d)) {}

  /// d_i/d_j, rounded upward.
  [[nodiscard]] double ratio(Eigen::Index i, Eigen::Index j) const {
    return directed::divide_up((*this)[i], (*this)[j]);
  }

  /// d ≥ M d, where that can be.
  void enlarge(const Matrix& M) {
    for (Eigen::Index round = 0; round < M.rows(); ++round)
      for (Eigen::Index i = 0; i < M.rows(); ++i)
        for (Eigen::Index j = 0; j < M.rows(); ++j)
          if (M(i, j) > 0) (*this)[i] = std::max((*this)[i], M(i, j) * (*this)[j]);
    for (double& size : d_)
      if (!(size > 0x1p-500) || !(size < 0x1p500)) size = 1;
  }

  /// The largest sum of a row of D⁻¹ M D, rounded upward.
  [[nodiscard]] double norm(const Matrix& M) const {
    double largest = 0;
    for (Eigen::Index i = 0; i < M.rows(); ++i) {
      double row = 0;
      for (Eigen::Index j = 0; j < M.rows(); ++j)
        if (M(i, j) > 0)
          row = directed::add_up(row, directed::multiply_up(M(i, j), ratio(j, i)));
      largest = std::max(largest, row);
    }
    return largest;
  }

  /// A_ij + rest Σ_k A_ik d_k/d_j, rounded upward.
  [[nodiscard]] double with_rest(const Matrix& A, Eigen::Index i, Eigen::Index j,
                                 double rest) const {
    double sum = A(i, j);
    for (Eigen::Index k = 0; k < A.rows(); ++k)
      if (A(i, k) != 0)
        sum = directed::add_up(
            sum, directed::multiply_up(A(i, k), directed::multiply_up(ratio(k, j), rest)));
    return sum;
  }

 private:
  double& operator[](Eigen::Index i) { return d_[static_cast<std::size_t>(i)]; }
  const double& operator[](Eigen::Index i) const { return d_[static_cast<std::size_t>(i)]; }

  std::vector<double> d_;
};

}  // namespace

// With M = |A| |τ| and p terms: Σ_{k > p} M^k/k! ≤ M^(p+1)/(p+1)! e^M entry by entry, and for any
// D = diag(d) > 0 with row sums of D⁻¹ M D at most μ: (e^M − I)_ij ≤ d_i/d_j (e^μ − 1). Where no
// state acts on another one, directly or not, every power of M is 0.
Matrix change_bound(const Matrix& rates, double time, std::vector<double> sizes) {
  const auto n = rates.rows();
  const Matrix M =
      rates.unaryExpr([time](double rate) { return directed::multiply_up(rate, time); });
  Sizes d(std::move(sizes));
  d.enlarge(M);
  Matrix sum = M, power = M;  // M^k/k!
  for (int k = 2; k <= picard_terms + 1; ++k) {
    power = product_up(power, M).unaryExpr([k](double x) { return directed::divide_up(x, k); });
    if (k <= picard_terms) sum = sum.binaryExpr(power, [](double a, double b) {
      return directed::add_up(a, b);
    });
  }
  const double mu = d.norm(M);
  const double rest = (exp(Interval(mu)) - Interval(1)).hi;
  const Matrix reach = reachable(M);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      if (reach(i, j) != 0)
        sum(i, j) = directed::add_up(sum(i, j), d.with_rest(power, i, j, rest));
  return sum;
}

namespace {

/// Gram and Schmidt, twice. What is nearly a combination of the columns before it is replaced by
/// the unit vector that they hold least of.
void orthonormalize(Matrix& q) {
  const auto project = [&q](Eigen::Index j) {
    for (int round = 0; round < 2; ++round)
      for (Eigen::Index k = 0; k < j; ++k) q.col(j) -= q.col(k).dot(q.col(j)) * q.col(k);
  };
  for (Eigen::Index j = 0; j < q.cols(); ++j) {
    const double length = q.col(j).norm();
    project(j);
    if (!(q.col(j).norm() > 1e-8 * length)) {
      Eigen::Index least = 0;
      q.leftCols(j).rowwise().squaredNorm().minCoeff(&least);
      q.col(j).setZero();
      q(least, j) = 1;
      project(j);
    }
    q.col(j) /= q.col(j).norm();
  }
}

/// For E = I − QᵀQ with ‖E‖_∞ ≤ e < 1:  Q⁻¹ = (I − E)⁻¹ Qᵀ = Qᵀ + (E + E² + …) Qᵀ, and an entry of
/// the last term is at most e/(1 − e) times the largest |entry| of its column of Qᵀ. False: e is
/// not small.
bool enclose_inverse(const Matrix& q, IntervalMatrix& inverse) {
  const auto n = static_cast<int>(q.rows());
  const IntervalMatrix transposed(Matrix(q.transpose()));
  const IntervalMatrix product = transposed * IntervalMatrix(q);
  double e = 0;
  for (int i = 0; i < n; ++i) {
    double row = 0;
    for (int j = 0; j < n; ++j)
      row = directed::add_up(row, magnitude(Interval(i == j ? 1 : 0) - product(i, j)));
    if (!(row < 0.01)) return false;
    e = std::max(e, row);
  }
  const double share = directed::divide_up(e, directed::subtract_down(1, e));
  inverse = transposed;
  for (int j = 0; j < n; ++j) {
    const double largest = q.row(j).cwiseAbs().maxCoeff();
    for (int i = 0; i < n; ++i) inverse(i, j) += symmetric(directed::multiply_up(share, largest));
  }
  return true;
}

/// Of Q_o and its inverse: Q = D Q_o, Q⁻¹ = Q_o⁻¹ D⁻¹.
void scale(Matrix& q, IntervalMatrix& inverse, const std::vector<double>& scales) {
  for (int i = 0; i < inverse.rows(); ++i) {
    const double d = scales[static_cast<std::size_t>(i)];
    q.row(i) *= d;
    for (int j = 0; j < inverse.rows(); ++j) inverse(j, i) = inverse(j, i) / Interval(d);
  }
}

}  // namespace

// Q = D Q_o with D = diag(scales): Q⁻¹ = Q_o⁻¹ D⁻¹. Scaling by powers of two is exact because small
// entries of Q_o are made 0 before its inverse is enclosed.
Frame orthogonal_frame(const Matrix& directions, const std::vector<double>& lengths,
                       const std::vector<double>& scales) {
  const auto n = static_cast<int>(directions.rows());
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<int> order(at(n));
  std::iota(order.begin(), order.end(), 0);
  Matrix scaled = directions;
  for (int i = 0; i < n; ++i) scaled.row(i) /= scales[at(i)];
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return scaled.col(a).norm() * lengths[at(a)] > scaled.col(b).norm() * lengths[at(b)];
  });
  Matrix q(n, n);
  for (int j = 0; j < n; ++j) q.col(j) = scaled.col(order[at(j)]);
  orthonormalize(q);
  Matrix sorted = q.unaryExpr([](double x) { return std::abs(x) < 0x1p-200 ? 0.0 : x; });
  for (int j = 0; j < n; ++j) q.col(order[at(j)]) = sorted.col(j);
  Frame frame;
  if (!q.allFinite() || !enclose_inverse(q, frame.inverse)) {
    q.setIdentity();
    frame.inverse = IntervalMatrix(q);
  }
  scale(q, frame.inverse, scales);
  frame.columns = q;
  return frame;
}

}  // namespace perp::enclosure
