#include <algorithm>
#include <cmath>

#include <perp/core/linear/dense_lu.hpp>
#include <perp/core/linear/least_squares.hpp>
#include <perp/core/linear/power_scale.hpp>
#include <perp/core/linear/spectra.hpp>

namespace perp {
namespace {

using linear::exponent_of;
using linear::no_exponent;
using linear::power_of_two;

}  // namespace

DenseLu::DenseLu(int capacity)
    : lu_(static_cast<std::size_t>(capacity) * static_cast<std::size_t>(capacity)),
      row_scale_(static_cast<std::size_t>(capacity)),
      column_scale_(static_cast<std::size_t>(capacity)),
      exponents_(static_cast<std::size_t>(capacity)),
      origin_(static_cast<std::size_t>(capacity)),
      terms_(lu_.size()),
      work_(static_cast<std::size_t>(capacity)) {}

/// Rows with their columns in the given units, then columns: the exponents of their largest entries
/// become 0.
void DenseLu::scale(const double* A, const int* units) {
  const auto n = static_cast<std::size_t>(n_);
  exponents_.assign(n, no_exponent);
  for (std::size_t i = 0; i < n; ++i) {
    int largest = no_exponent;
    for (std::size_t j = 0; j < n; ++j) {
      const int exponent = exponent_of(A[i * n + j]);
      if (exponent != no_exponent) largest = std::max(largest, exponent + (units == nullptr ? 0 : units[j]));
    }
    const int shift = largest == no_exponent ? 0 : -largest;
    row_scale_[i] = power_of_two(shift);
    for (std::size_t j = 0; j < n; ++j) {
      const int exponent = exponent_of(A[i * n + j]);
      if (exponent != no_exponent) exponents_[j] = std::max(exponents_[j], exponent + shift);
    }
  }
  for (std::size_t j = 0; j < n; ++j)
    column_scale_[j] = power_of_two(exponents_[j] == no_exponent ? 0 : -exponents_[j]);
}

bool DenseLu::factorise(const double* A, int n, const int* units) {
  n_ = n;
  scale(A, units);
  return factorise_scaled(A, false) || factorise_scaled(A, true);
}

/// A pivot is 0 to rounding beside the largest entries, which are 1, or (by_terms) beside the terms
/// |a_ij| + Σ |l_ik u_kj| that it is the sum of: it may be small and exact, as the h² by which a force
/// moves a position in a step.
bool DenseLu::factorise_scaled(const double* A, bool by_terms) {
  load(A);
  const auto terms = [&](int i) { return &terms_[static_cast<std::size_t>(i * n_)]; };
  if (by_terms)
    std::transform(lu_.begin(), lu_.begin() + static_cast<std::ptrdiff_t>(n_) * n_, terms_.begin(),
                   [](double entry) { return std::abs(entry); });
  for (int k = 0; k < n_; ++k) {
    int pivot = -1;
    for (int i = k; i < n_; ++i)
      if (std::abs(row(i)[k]) > singular_pivot * (by_terms ? terms(i)[k] : 1) &&
          (pivot < 0 || std::abs(row(i)[k]) > std::abs(row(pivot)[k])))
        pivot = i;
    if (pivot < 0) return false;
    exchange(k, pivot);
    if (by_terms && pivot != k) std::swap_ranges(terms(k), terms(k) + n_, terms(pivot));
    eliminate(k);
    for (int i = k + 1; by_terms && i < n_; ++i)
      for (int j = k + 1; j < n_ && row(i)[k] != 0; ++j)
        terms(i)[j] += std::abs(row(i)[k]) * terms(k)[j];
  }
  return true;
}

void DenseLu::load(const double* A) {
  for (int i = 0; i < n_; ++i) {
    const double scale = row_scale_[static_cast<std::size_t>(i)];
    double* to = row(i);
    for (int j = 0; j < n_; ++j)
      to[j] = scale * A[i * n_ + j] * column_scale_[static_cast<std::size_t>(j)];
    origin_[static_cast<std::size_t>(i)] = i;
  }
}

void DenseLu::exchange(int k, int pivot) {
  if (pivot == k) return;
  std::swap_ranges(row(k), row(k) + n_, row(pivot));
  std::swap(origin_[static_cast<std::size_t>(k)], origin_[static_cast<std::size_t>(pivot)]);
}

void DenseLu::eliminate(int k) {
  const double* top = row(k);
  for (int i = k + 1; i < n_; ++i) {
    double* below = row(i);
    if (below[k] == 0) continue;
    const double factor = below[k] /= top[k];
    for (int j = k + 1; j < n_; ++j) below[j] -= factor * top[j];
  }
}

void DenseLu::solve(double* x) const {
  for (int i = 0; i < n_; ++i) {
    const int from = origin_[static_cast<std::size_t>(i)];
    double sum = row_scale_[static_cast<std::size_t>(from)] * x[from];
    for (int j = 0; j < i; ++j) sum -= row(i)[j] * work_[static_cast<std::size_t>(j)];
    work_[static_cast<std::size_t>(i)] = sum;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    double sum = work_[static_cast<std::size_t>(i)];
    for (int j = i + 1; j < n_; ++j) sum -= row(i)[j] * work_[static_cast<std::size_t>(j)];
    work_[static_cast<std::size_t>(i)] = sum / row(i)[i];
  }
  for (int j = 0; j < n_; ++j)
    x[j] = column_scale_[static_cast<std::size_t>(j)] * work_[static_cast<std::size_t>(j)];
}

void DenseLu::solve_transposed(double* x) const {
  for (int i = 0; i < n_; ++i) {
    double sum = column_scale_[static_cast<std::size_t>(i)] * x[i];
    for (int j = 0; j < i; ++j) sum -= row(j)[i] * work_[static_cast<std::size_t>(j)];
    work_[static_cast<std::size_t>(i)] = sum / row(i)[i];
  }
  for (int i = n_ - 1; i >= 0; --i) {
    double sum = work_[static_cast<std::size_t>(i)];
    for (int j = i + 1; j < n_; ++j) sum -= row(j)[i] * work_[static_cast<std::size_t>(j)];
    work_[static_cast<std::size_t>(i)] = sum;
  }
  for (int i = 0; i < n_; ++i) {
    const auto to = static_cast<std::size_t>(origin_[static_cast<std::size_t>(i)]);
    x[to] = row_scale_[to] * work_[static_cast<std::size_t>(i)];
  }
}

int DenseLu::determinant_sign() const {
  bool negative = false;
  for (int i = 0; i < n_; ++i) negative = negative != (row(i)[i] < 0);
  // Each exchange that sorts the order of the rows changes the sign once.
  for (int i = 0; i < n_; ++i)
    for (int k = i + 1; k < n_; ++k)
      negative = negative != (origin_[static_cast<std::size_t>(k)] <
                              origin_[static_cast<std::size_t>(i)]);
  return negative ? -1 : 1;
}

Matrix DenseLu::scaled(const double* A) const {
  Matrix S(n_, n_);
  for (int i = 0; i < n_; ++i)
    for (int j = 0; j < n_; ++j)
      S(i, j) = row_scale_[static_cast<std::size_t>(i)] * A[i * n_ + j] *
                column_scale_[static_cast<std::size_t>(j)];
  return S;
}

DenseLu::Remainder DenseLu::solve_least_squares(const double* A, const double* r,
                                                double* x) const {
  const Matrix S = scaled(A);
  Vector right = Vector::Zero(n_);
  Remainder left;
  for (int i = 0; i < n_; ++i) {
    if (!S.row(i).isZero(0))
      right[i] = row_scale_[static_cast<std::size_t>(i)] * r[i];
    else
      left.contradicts = left.contradicts || r[i] != 0;
  }
  const Vector y = linear::least_norm_solution(S, right, 10 * singular_pivot);
  for (int j = 0; j < n_; ++j) x[j] = column_scale_[static_cast<std::size_t>(j)] * y[j];
  if (const double size = right.norm(); size > 0) left.share = (S * y - right).norm() / size;
  return left;
}

bool DenseLu::determines(const double* A, int count) const {
  const linear::Svd svd = linear::svd(scaled(A));
  for (int k = 0; k < n_; ++k)
    if (svd.values[k] <= 10 * singular_pivot * svd.values[0] &&
        svd.V.col(k).head(count).lpNorm<Eigen::Infinity>() > 1e-7)
      return false;
  return true;
}

}  // namespace perp
