#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include <perp/core/linear/dense_lu.hpp>
#include <perp/core/linear/least_squares.hpp>
#include <perp/core/linear/power_scale.hpp>
#include <perp/core/linear/spectra.hpp>

namespace perp {
namespace {

using linear::exponent_of;
using linear::no_exponent;
using linear::power_of_two;

/// The exponent of the largest entry of a row, its columns in the units 2^units[j] (nullptr: 1).
int largest_exponent(const double* row, std::size_t n, const int* units) {
  int largest = no_exponent;
  for (std::size_t j = 0; j < n; ++j) {
    const int exponent = exponent_of(row[j]);
    if (exponent != no_exponent) largest = std::max(largest, exponent + (units == nullptr ? 0 : units[j]));
  }
  return largest;
}

/// The row from k on with the largest entry of the column k among those that are no rounding, beside 1 or (not nullptr)
/// beside their terms; -1: none. Both n×n, row after row.
int pivot_row(const double* entries, const double* terms, int n, int k) {
  const auto place = [&](int i) { return static_cast<std::ptrdiff_t>(i) * n + k; };
  int pivot = -1;
  for (int i = k; i < n; ++i) {
    const double size = std::abs(entries[place(i)]);
    if (!(size > DenseLu::singular_pivot * (terms != nullptr ? terms[place(i)] : 1))) continue;
    if (pivot < 0 || size > std::abs(entries[place(pivot)])) pivot = i;
  }
  return pivot;
}

/// terms_ij += |l_ik| terms_kj, where the column k of the entries holds the factors l_ik.
void add_terms(const double* entries, double* terms, int n, int k) {
  const auto row = [n](auto* all, int i) { return all + static_cast<std::ptrdiff_t>(i) * n; };
  for (int i = k + 1; i < n; ++i) {
    const double factor = row(entries, i)[k];
    if (factor == 0) continue;
    for (int j = k + 1; j < n; ++j) row(terms, i)[j] += std::abs(factor) * row(terms, k)[j];
  }
}

}  // namespace

DenseLu::DenseLu(int capacity)
    : lu_(static_cast<std::size_t>(capacity) * static_cast<std::size_t>(capacity)),
      row_scale_(static_cast<std::size_t>(capacity)),
      column_scale_(static_cast<std::size_t>(capacity)),
      exponents_(static_cast<std::size_t>(capacity)),
      scaled_(lu_.size()),
      scaled_units_(static_cast<std::size_t>(capacity)),
      origin_(static_cast<std::size_t>(capacity)),
      terms_(lu_.size()),
      work_(static_cast<std::size_t>(capacity)) {}

/// Rows with their columns in the given units, then columns: the exponents of their largest entries
/// become 0.
void DenseLu::scale(const double* A, const int* units) {
  const auto n = static_cast<std::size_t>(n_);
  exponents_.assign(n, no_exponent);
  for (std::size_t i = 0; i < n; ++i) {
    const int largest = largest_exponent(A + i * n, n, units);
    const int shift = largest == no_exponent ? 0 : -largest;
    row_scale_[i] = power_of_two(shift);
    for (std::size_t j = 0; j < n; ++j) {
      const int exponent = exponent_of(A[i * n + j]);
      if (exponent != no_exponent) exponents_[j] = std::max(exponents_[j], exponent + shift);
    }
  }
  for (std::size_t j = 0; j < n; ++j)
    column_scale_[j] = power_of_two(exponents_[j] == no_exponent ? 0 : -exponents_[j]);
  std::copy_n(A, n * n, scaled_.begin());
  for (std::size_t j = 0; j < n; ++j) scaled_units_[j] = units == nullptr ? 0 : units[j];
  scaled_n_ = n_;
}

/// Units and exponents alone tell how a matrix is scaled: those of near ones are mostly the same.
bool DenseLu::is_scaled_as(const double* A, const int* units) const {
  constexpr std::uint64_t exponents = std::uint64_t{0x7FF} << 52U;
  if (scaled_n_ != n_) return false;
  bool differs = false;
  for (std::size_t j = 0; j < static_cast<std::size_t>(n_); ++j)
    differs |= scaled_units_[j] != (units == nullptr ? 0 : units[j]);
  std::uint64_t bits = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_); ++k)
    bits |= std::bit_cast<std::uint64_t>(A[k]) ^ std::bit_cast<std::uint64_t>(scaled_[k]);
  return !differs && (bits & exponents) == 0;
}

bool DenseLu::factorise(const double* A, int n, const int* units) {
  n_ = n;
  if (!is_scaled_as(A, units)) scale(A, units);
  return factorise_scaled(A, false) || factorise_scaled(A, true);
}

/// A pivot is 0 to rounding beside the largest entries, which are 1, or (by_terms) beside the terms
/// |a_ij| + Σ |l_ik u_kj| that it is the sum of: it may be small and exact, as the h² by which a force
/// moves a position in a step.
bool DenseLu::factorise_scaled(const double* A, bool by_terms) {
  load(A);
  double* terms = by_terms ? terms_.data() : nullptr;
  if (by_terms)
    std::transform(lu_.begin(), lu_.begin() + static_cast<std::ptrdiff_t>(n_) * n_, terms_.begin(),
                   [](double entry) { return std::abs(entry); });
  for (int k = 0; k < n_; ++k) {
    const int pivot = pivot_row(lu_.data(), terms, n_, k);
    if (pivot < 0) return false;
    exchange(k, pivot);
    if (by_terms && pivot != k)
      std::swap_ranges(terms + k * n_, terms + (k + 1) * n_, terms + pivot * n_);
    eliminate(k);
    if (by_terms) add_terms(lu_.data(), terms, n_, k);
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

void DenseLu::bound(double* x) const {
  for (int i = 0; i < n_; ++i) {
    const int from = origin_[static_cast<std::size_t>(i)];
    double sum = row_scale_[static_cast<std::size_t>(from)] * x[from];
    for (int j = 0; j < i; ++j) sum += std::abs(row(i)[j]) * work_[static_cast<std::size_t>(j)];
    work_[static_cast<std::size_t>(i)] = sum;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    double sum = work_[static_cast<std::size_t>(i)];
    for (int j = i + 1; j < n_; ++j) sum += std::abs(row(i)[j]) * work_[static_cast<std::size_t>(j)];
    work_[static_cast<std::size_t>(i)] = sum / std::abs(row(i)[i]);
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
