#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/lcp/parametric/mode_points.hpp>

namespace perp {
namespace {

constexpr double largest_share = 0x1p-20;  ///< of the terms of a margin: a larger error tells nothing of it

/// A sum in doubled precision with a bound of its error and the sum of the sizes of its terms.
struct BoundedSum {
  DoubleDouble value;
  double error = 0, terms = 0;
  int count = 0;

  /// `by` × a number of which `size` is at least the sum of the terms.
  void add(double by, const DoubleDouble& number, double missing, double size) {
    if (by == 0) return;
    value = value + number * by;
    error += std::abs(by) * missing;
    terms += std::abs(by) * size;
    ++count;
  }
  void write(ModePoints::Values& to, int i) const {
    to.value.set(i, 0, value);
    to.value.error(i, 0) = (error + (count + 4) * double_double_rounding * terms) * (1 + 4 * (count + 2) * unit_roundoff);
    to.terms[i] = terms * (1 + 4 * (count + 2) * unit_roundoff);
  }
};

void resize(ModePoints::Values& values, Eigen::Index count) {
  values.value = BoundedMatrix(count, 1);
  values.terms = Vector::Zero(count);
}

void set_constant(ModePoints::Values& values, int i, double a, double b) {
  values.value.set(i, 0, quotient(a, b));
  values.terms[i] = std::abs(values.value.high(i, 0));
  values.value.error(i, 0) = double_double_rounding * values.terms[i];
}

}  // namespace

ModePoints::ModePoints(const ParametricMlcp& family, std::vector<Branch> branches, BoundedInverse inverse,
                       const BoundedMatrix& R)
    : family_(&family), branches_(std::move(branches)), inverse_(std::move(inverse)) {
  for (int i = 0; i < static_cast<int>(branches_.size()); ++i)
    for (const bool upper : {false, true}) {
      const BoundedEnd end = bounded_end(branches_[perp::at(i)], upper);
      if (!std::isfinite(end.bound.high)) continue;
      ends_.push_back({i, branches_[perp::at(i)].b == 0, upper, false});
      bounds_.push_back(end);
    }
  for (Eigen::Index i = 0; i < R.high.rows(); ++i) {
    R_.emplace_back();
    for (Eigen::Index j = 0; j < R.high.cols(); ++j)
      if (R.high(i, j) != 0 || R.error(i, j) != 0) R_.back().push_back({j, R(i, j), R.error(i, j)});
  }
}

const ModePoints::Point* ModePoints::at(const double* theta) const {
  const int k = family_->k();
  if (is_known_ && std::equal(theta, theta + k, point_.theta.begin())) return &point_;
  ++count_;
  is_known_ = false;
  point_.theta.assign(theta, theta + k);
  if (!solve(theta)) return nullptr;
  find_w(theta);
  if (!find_margins(theta)) return nullptr;
  is_known_ = true;
  return &point_;
}

// c = vᵀ K⁻¹ R for λ or, with Q2 θ + q2, for w.
double ModePoints::margin_terms(int end, const double* theta) const {
  const ModeMap::Margin& margin = ends_[perp::at(end)];
  const Mlcp& base = family_->base;
  const int p = base.p(), m = base.m(), k = family_->k();
  Vector v = Vector::Zero(p + m), row = Vector::Zero(k + 1);
  if (margin.of_lambda) {
    v[p + margin.law] = 1;
  } else {
    v << base.M21.row(margin.law).transpose(), base.M22.row(margin.law).transpose();
    row << family_->Q2.row(margin.law).transpose(), base.q2[margin.law];
  }
  const Vector factors = inverse_.combination(v);
  for (std::size_t i = 0; i < R_.size(); ++i)
    for (const Entry& entry : R_[i]) row[entry.column] += factors[static_cast<Eigen::Index>(i)] * entry.value.high;
  row[k] -= bounds_[perp::at(end)].bound.high;
  return (row.head(k).array() * Eigen::Map<const Vector>(theta, k).array()).abs().sum() + std::abs(row[k]);
}

/// R (θ, 1)
ModePoints::Values ModePoints::right_side(const double* theta) const {
  const auto n = static_cast<Eigen::Index>(R_.size());
  const int k = family_->k();
  Values right;
  resize(right, n);
  for (int i = 0; i < n; ++i) {
    BoundedSum sum;
    for (const Entry& entry : R_[perp::at(i)])
      sum.add(entry.column < k ? theta[entry.column] : 1, entry.value, entry.error, std::abs(entry.value.high));
    sum.write(right, i);
  }
  return right;
}

/// y = K⁻¹ R (θ, 1). False: not all of it is finite.
bool ModePoints::solve(const double* theta) const {
  const int p = family_->base.p();
  const Values right = right_side(theta);
  if (!right.terms.allFinite() || !inverse_.solve(right.value, point_.y.value)) return false;
  point_.y.value.snap();
  point_.y.terms = inverse_.image(right.terms);
  for (std::size_t i = 0; i < branches_.size(); ++i)
    if (branches_[i].a == 0) set_constant(point_.y, p + static_cast<int>(i), branches_[i].c, branches_[i].b);
  return point_.y.value.high.allFinite() && point_.y.terms.allFinite();
}

/// w = M21 u + M22 λ + Q2 θ + q2
void ModePoints::find_w(const double* theta) const {
  const Mlcp& base = family_->base;
  const int p = base.p(), m = base.m();
  resize(point_.w, m);
  const Values& y = point_.y;
  for (int i = 0; i < m; ++i) {
    if (branches_[perp::at(i)].b == 0) {
      set_constant(point_.w, i, branches_[perp::at(i)].c, branches_[perp::at(i)].a);
      continue;
    }
    BoundedSum sum;
    sum.add(1, {base.q2[i], 0}, 0, std::abs(base.q2[i]));
    for (int j = 0; j < p + m; ++j)
      sum.add(j < p ? base.M21(i, j) : base.M22(i, j - p), y.value(j, 0), y.value.error(j, 0), y.terms[j]);
    for (int j = 0; j < family_->k(); ++j) sum.add(family_->Q2(i, j), {theta[j], 0}, 0, std::abs(theta[j]));
    sum.write(point_.w, i);
  }
  point_.w.value.snap();
}

/// Distances of w, or of λ on vertical branches, from the ends. False: one is not told from 0, by an error that is no
/// rounding of its terms.
bool ModePoints::find_margins(const double* theta) const {
  const int p = family_->base.p();
  resize(point_.margins, static_cast<Eigen::Index>(ends_.size()));
  for (int i = 0; i < static_cast<int>(ends_.size()); ++i) {
    const ModeMap::Margin& end = ends_[perp::at(i)];
    const BoundedEnd& bound = bounds_[perp::at(i)];
    const Values& of = end.of_lambda ? point_.y : point_.w;
    const int row = end.of_lambda ? p + end.law : end.law;
    const double sign = end.upper ? -1 : 1;
    BoundedSum sum;
    sum.add(sign, of.value(row, 0), of.value.error(row, 0), of.terms[row]);
    sum.add(-sign, bound.bound, double_double_rounding * bound.terms, bound.terms);
    sum.write(point_.margins, i);
  }
  for (int i = 0; i < static_cast<int>(ends_.size()); ++i) {
    const double error = point_.margins.value.error(i, 0);
    if (std::abs(point_.margins.value.high(i, 0)) <= error && error > largest_share * own_terms(i, theta)) return false;
  }
  point_.margins.value.snap();
  return true;
}

/// The terms of a margin as they are added, of λ those that bound it.
double ModePoints::own_terms(int end, const double* theta) const {
  const ModeMap::Margin& margin = ends_[perp::at(end)];
  const Mlcp& base = family_->base;
  const int p = base.p(), m = base.m();
  double terms = std::abs(bounds_[perp::at(end)].bound.high);
  if (margin.of_lambda) return terms + point_.y.terms[p + margin.law];
  terms += std::abs(base.q2[margin.law]);
  for (int j = 0; j < p + m; ++j)
    terms += std::abs((j < p ? base.M21(margin.law, j) : base.M22(margin.law, j - p)) * point_.y.value.high(j, 0));
  for (int j = 0; j < family_->k(); ++j) terms += std::abs(family_->Q2(margin.law, j) * theta[j]);
  return terms;
}

}  // namespace perp
