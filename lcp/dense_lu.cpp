#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include <perp/core/linear/least_squares.hpp>
#include <perp/lcp/dense_lu.hpp>

namespace perp {
namespace {

/// Share of a pivot's own terms that may be rounding: of the elimination, and of the entries, which
/// are derivatives good to some hundred units in their last place.
constexpr double singular_pivot = 0x1p-43;
constexpr double singular_value = 0x1p-40;  ///< the same of a matrix that is known to be singular
constexpr int most_exponent = 1000;         ///< of a scale, which has to be a double

double power_of_two(int exponent) {
  return std::ldexp(1.0, std::clamp(exponent, -most_exponent, most_exponent));
}

/// As std::ilogb; 1024 of what is not finite.
int exponent_of(double value) {
  const auto field = static_cast<int>((std::bit_cast<std::uint64_t>(value) >> 52U) & 0x7ffU);
  if (field != 0) return field - 1023;
  return value == 0 ? BinaryScaling::no_entry : std::ilogb(value);
}

/// A scaled matrix on the way of an elimination with complete pivoting.
struct Reduced {
  Matrix value, terms;
  std::vector<char> is_used;  // rows that have had a pivot

  /// Eliminates with the columns [first, end) in rows not used yet; how many pivots stand out of the
  /// rounding of their terms.
  int eliminate(int first, int end) {
    std::vector<int> columns;
    for (int j = first; j < end; ++j) columns.push_back(j);
    int count = 0;
    for (; !columns.empty(); ++count) {
      const auto [row, place] = largest(columns);
      if (row < 0) return count;
      subtract(row, columns[at(place)]);
      is_used[at(row)] = 1;
      columns.erase(columns.begin() + place);
    }
    return count;
  }

 private:
  [[nodiscard]] std::pair<int, int> largest(const std::vector<int>& columns) const {
    std::pair<int, int> best{-1, -1};
    double most = 0;
    for (int k = 0; k < static_cast<int>(columns.size()); ++k)
      for (int i = 0; i < static_cast<int>(value.rows()); ++i) {
        const double size = std::abs(value(i, columns[at(k)]));
        if (is_used[at(i)] != 0 || size <= most || size <= singular_pivot * terms(i, columns[at(k)]))
          continue;
        most = size;
        best = {i, k};
      }
    return best;
  }
  void subtract(int row, int column) {
    for (int i = 0; i < static_cast<int>(value.rows()); ++i) {
      if (i == row || is_used[at(i)] != 0 || value(i, column) == 0) continue;
      const double factor = value(i, column) / value(row, column);
      value.row(i) -= factor * value.row(row);
      terms.row(i) += std::abs(factor) * terms.row(row);
      value(i, column) = 0;
    }
  }
};

}  // namespace

DenseLu::DenseLu(int capacity)
    : exponents_(at(capacity) * at(capacity)),
      scaled_exponents_(exponents_.size()),
      lu_(exponents_.size()),
      row_scale_(at(capacity)),
      column_scale_(at(capacity)),
      column_size_(at(capacity)),
      origin_(at(capacity)),
      terms_(lu_.size()),
      work_(at(capacity)) {}

/// The scaling is a function of the exponents alone: as long as these stay, so does it.
void DenseLu::scale(const double* A) {
  const auto count = static_cast<std::ptrdiff_t>(n_) * n_;
  std::transform(A, A + count, exponents_.begin(), exponent_of);
  if (scaled_size_ == n_ &&
      std::equal(exponents_.begin(), exponents_.begin() + count, scaled_exponents_.begin()))
    return;
  scaling_.compute(exponents_.data(), n_, n_);
  std::transform(scaling_.row.begin(), scaling_.row.end(), row_scale_.begin(), power_of_two);
  std::transform(scaling_.column.begin(), scaling_.column.end(), column_scale_.begin(),
                 power_of_two);
  scaled_exponents_.swap(exponents_);
  scaled_size_ = n_;
}

bool DenseLu::factorise(const double* A, int n) {
  n_ = n;
  scale(A);
  load(A);
  for (int k = 0; k < n_; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n_; ++i)
      if (std::abs(row(i)[k]) > std::abs(row(pivot)[k])) pivot = i;
    if (!is_beyond_rounding(k, row(pivot)[k])) return factorise_by_terms(A);
    exchange(k, pivot);
    eliminate(k);
  }
  return true;
}

void DenseLu::load(const double* A) {
  std::fill_n(column_size_.begin(), n_, 0.0);
  for (int i = 0; i < n_; ++i) {
    double* to = row(i);
    for (int j = 0; j < n_; ++j) {
      to[j] = scaled(A, i, j);
      column_size_[at(j)] = std::max(column_size_[at(j)], std::abs(to[j]));
    }
    origin_[at(i)] = i;
  }
}

/// Beside the largest that the terms of a pivot can be: max |a_ik| + Σ |u_ik|, since no factor is
/// above 1.
bool DenseLu::is_beyond_rounding(int k, double pivot) const {
  double terms = column_size_[at(k)];
  for (int i = 0; i < k; ++i) terms += std::abs(row(i)[k]);
  return std::abs(pivot) > singular_pivot * terms;
}

void DenseLu::exchange(int k, int pivot) {
  if (pivot == k) return;
  std::swap_ranges(row(k), row(k) + n_, row(pivot));
  std::swap(origin_[at(k)], origin_[at(pivot)]);
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

/// A pivot may be small and exact, as the h² by which a force moves a position in a step: it is 0 to
/// rounding where it is so beside the terms |a_ij| + Σ |l_ik u_kj| that it is the sum of.
bool DenseLu::factorise_by_terms(const double* A) {
  load(A);
  const auto size = static_cast<std::ptrdiff_t>(n_) * n_;
  std::transform(lu_.begin(), lu_.begin() + size, terms_.begin(),
                 [](double entry) { return std::abs(entry); });
  const auto terms = [&](int i) { return &terms_[at(i * n_)]; };
  for (int k = 0; k < n_; ++k) {
    int pivot = -1;
    for (int i = k; i < n_; ++i)
      if (std::abs(row(i)[k]) > singular_pivot * terms(i)[k] &&
          (pivot < 0 || std::abs(row(i)[k]) > std::abs(row(pivot)[k])))
        pivot = i;
    if (pivot < 0) return false;
    exchange(k, pivot);
    if (pivot != k) std::swap_ranges(terms(k), terms(k) + n_, terms(pivot));
    eliminate(k);
    for (int i = k + 1; i < n_; ++i)
      for (int j = k + 1; j < n_ && row(i)[k] != 0; ++j)
        terms(i)[j] += std::abs(row(i)[k]) * terms(k)[j];
  }
  return true;
}

void DenseLu::solve(double* x) const {
  for (int i = 0; i < n_; ++i) {
    const int from = origin_[at(i)];
    double sum = row_scale_[at(from)] * x[from];
    for (int j = 0; j < i; ++j) sum -= row(i)[j] * work_[at(j)];
    work_[at(i)] = sum;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    double sum = work_[at(i)];
    for (int j = i + 1; j < n_; ++j) sum -= row(i)[j] * work_[at(j)];
    work_[at(i)] = sum / row(i)[i];
  }
  for (int j = 0; j < n_; ++j) x[j] = column_scale_[at(j)] * work_[at(j)];
}

void DenseLu::solve_transposed(double* x) const {
  for (int i = 0; i < n_; ++i) {
    double sum = column_scale_[at(i)] * x[i];
    for (int j = 0; j < i; ++j) sum -= row(j)[i] * work_[at(j)];
    work_[at(i)] = sum / row(i)[i];
  }
  for (int i = n_ - 1; i >= 0; --i) {
    double sum = work_[at(i)];
    for (int j = i + 1; j < n_; ++j) sum -= row(j)[i] * work_[at(j)];
    work_[at(i)] = sum;
  }
  for (int i = 0; i < n_; ++i) {
    const auto to = at(origin_[at(i)]);
    x[to] = row_scale_[to] * work_[at(i)];
  }
}

int DenseLu::determinant_sign() const {
  bool negative = false;
  for (int i = 0; i < n_; ++i) negative = negative != (row(i)[i] < 0);
  // Each exchange that sorts the order of the rows changes the sign once.
  for (int i = 0; i < n_; ++i)
    for (int k = i + 1; k < n_; ++k) negative = negative != (origin_[at(k)] < origin_[at(i)]);
  return negative ? -1 : 1;
}

DenseLu::Remainder DenseLu::solve_least_squares(const double* A, const double* r,
                                                double* x) const {
  Remainder left;
  std::fill_n(x, n_, 0.0);
  for (int p = 0; p < parts(); ++p) {
    std::vector<int> columns, rows;
    for (int j = 0; j < n_; ++j)
      if (part(j) == p) columns.push_back(j);
    for (int i = 0; i < n_; ++i)
      if (std::any_of(columns.begin(), columns.end(), [&](int j) { return A[i * n_ + j] != 0; }))
        rows.push_back(i);
    if (rows.empty()) continue;
    Matrix S(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(columns.size()));
    Vector right(S.rows());
    for (Eigen::Index i = 0; i < S.rows(); ++i) {
      right[i] = row_scale_[at(rows[at(i)])] * r[rows[at(i)]];
      for (Eigen::Index j = 0; j < S.cols(); ++j) S(i, j) = scaled(A, rows[at(i)], columns[at(j)]);
    }
    const Vector y = linear::least_norm_solution(S, right, singular_value);
    for (Eigen::Index j = 0; j < S.cols(); ++j)
      x[columns[at(j)]] = column_scale_[at(columns[at(j)])] * y[j];
    if (const double size = right.norm(); size > 0) left.add((S * y - right).norm() / size);
  }
  for (int i = 0; i < n_; ++i)  // 0 = r_i
    if (r[i] != 0 && std::all_of(A + i * n_, A + (i + 1) * n_, [](double a) { return a == 0; }))
      left.add(1);
  return left;
}

bool DenseLu::determines(const double* A, int count) const {
  Reduced reduced{Matrix(n_, n_), Matrix(n_, n_), std::vector<char>(at(n_), 0)};
  for (int i = 0; i < n_; ++i)
    for (int j = 0; j < n_; ++j) reduced.value(i, j) = scaled(A, i, j);
  reduced.terms = reduced.value.cwiseAbs();
  reduced.eliminate(count, n_);
  return reduced.eliminate(0, count) == count;
}

}  // namespace perp
