#pragma once

#include <perp/core/linear/dense_lu.hpp>
#include <perp/schemes/lanes/eight.hpp>

namespace perp::eight {

inline constexpr int most_unknowns = 8;

/// DenseLu of eight matrices of one size whose pivots are in the same rows.
struct LaneLu {
  static constexpr long long none = -(1LL << 40);  ///< exponent of a zero
  static constexpr long long exponents = 0x7FFLL << 52;

  int n = 0;
  Eight lu[most_unknowns * most_unknowns];
  Eight row_scale[most_unknowns], column_scale[most_unknowns], of_column[most_unknowns];  ///< the last are 1/column_scale
  Eight scaled[most_unknowns * most_unknowns];  ///< the matrix that was scaled last
  bool is_scaled = false;
  int origin[most_unknowns] = {};
  bool is_odd = false;
  Bits negative;  ///< determinants

  /// The lanes are others: nothing is known of their matrices.
  void forget() {
    is_scaled = is_odd = false;
    for (int i = 0; i < most_unknowns; ++i) origin[i] = i;
  }

  PERP_EIGHT_INLINE static Bits exponent_of(const Eight& value) {
    const Bits field = moved_right(bits_of(value), 52) & all_bits(0x7ff);
    return chosen(field == all_bits(0), all_bits(none), field - all_bits(1023));
  }
  PERP_EIGHT_INLINE static Eight power_of_two(const Bits& exponent) {
    const Bits high = chosen(exponent < all_bits(1000), exponent, all_bits(1000));
    const Bits bounded = chosen(high > all_bits(-1000), high, all_bits(-1000));
    return numbers_of((bounded + all_bits(1023)) << 52);
  }

  PERP_EIGHT_INLINE void scale(const Eight* A, const Bits* units) {
    Bits of_columns[most_unknowns];
    for (int j = 0; j < n; ++j) of_columns[j] = all_bits(none);
    for (int i = 0; i < n; ++i) {
      Bits largest = all_bits(none);
      for (int j = 0; j < n; ++j) {
        const Bits exponent = exponent_of(A[i * n + j]), with_unit = exponent + units[j];
        const Bits counts = (exponent != all_bits(none)) & (with_unit > largest);
        largest = chosen(counts, with_unit, largest);
      }
      const Bits shift = chosen(largest == all_bits(none), all_bits(0), -largest);
      row_scale[i] = power_of_two(shift);
      for (int j = 0; j < n; ++j) {
        const Bits exponent = exponent_of(A[i * n + j]), moved = exponent + shift;
        of_columns[j] = chosen((exponent != all_bits(none)) & (moved > of_columns[j]), moved, of_columns[j]);
      }
    }
    for (int j = 0; j < n; ++j)
      column_scale[j] = power_of_two(chosen(of_columns[j] == all_bits(none), all_bits(0), -of_columns[j]));
    for (int j = 0; j < n; ++j) of_column[j] = all(1) / column_scale[j];
    for (int i = 0; i < n * n; ++i) scaled[i] = A[i];
    is_scaled = true;
  }

  /// Exponents alone decide how it is scaled.
  PERP_EIGHT_INLINE bool is_scaled_as(const Eight* A) const {
    Bits differs = all_bits(0);
    for (int i = 0; i < n * n; ++i) differs |= bits_of(A[i]) ^ bits_of(scaled[i]);
    return is_scaled && !any(differs & all_bits(exponents));
  }

  /// The row that DenseLu would take for column k, in each lane; -1: none is large enough.
  PERP_EIGHT_INLINE Bits pivots(int k) const {
    Bits pivot = all_bits(-1);
    Eight largest = all(0);
    for (int i = k; i < n; ++i) {
      const Eight size = size_of(lu[i * n + k]);
      const Bits is_it = (size > all(DenseLu::singular_pivot)) & ((pivot < all_bits(0)) | (size > largest));
      pivot = chosen(is_it, all_bits(i), pivot);
      largest = chosen(is_it, size, largest);
    }
    return pivot;
  }

  /// The lanes of `of` whose matrices are regular with the pivots of the first of them.
  PERP_EIGHT_INLINE Bits factorise(const Eight* A, int size, const Bits* units, const Bits& of) {
    if (n != size) forget();
    n = size;
    if (!is_scaled_as(A)) scale(A, units);
    if (any(of & ~factorise_as_before(A))) return search_pivots(A, of);
    write_signs();
    return of;
  }

  /// With the rows in the order of the last time: the lanes in which their pivots are larger than all below them, as those
  /// that are searched for are.
  PERP_EIGHT_INLINE Bits factorise_as_before(const Eight* A) {
    const int size = n;
    Eight rows[most_unknowns * most_unknowns];
    for (int i = 0; i < size; ++i) {
      const int from = origin[i];
      for (int j = 0; j < size; ++j) rows[i * size + j] = row_scale[from] * A[from * size + j] * column_scale[j];
    }
    Bits sure = all_bits(-1);
    for (int k = 0; k < size; ++k) {
      const Eight largest = size_of(rows[k * size + k]);
      sure &= largest > all(DenseLu::singular_pivot);
      for (int i = k + 1; i < size; ++i) sure &= largest > size_of(rows[i * size + k]);
      for (int i = k + 1; i < size; ++i) eliminate(rows + k * size, rows + i * size, k, size);
    }
    for (int i = 0; i < size * size; ++i) lu[i] = rows[i];
    return sure;
  }

  PERP_EIGHT_INLINE static void eliminate(const Eight* pivot, Eight* row, int k, int size) {
    const Bits is_there = row[k] != all(0);
    if (!any(is_there)) return;
    const Eight factor = row[k] / pivot[k];
    put(is_there, row[k], factor);
    for (int j = k + 1; j < size; ++j) put(is_there, row[j], row[j] - factor * pivot[j]);
  }

  PERP_EIGHT_INLINE Bits search_pivots(const Eight* A, const Bits& of) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) lu[i * n + j] = row_scale[i] * A[i * n + j] * column_scale[j];
      origin[i] = i;
    }
    Bits good = of;
    is_odd = false;
    for (int k = 0; k < n; ++k) {
      const Bits found = pivots(k);
      int pivot = -1;
      for (int i = width - 1; i >= 0; --i)
        if (good[i] != 0) pivot = static_cast<int>(found[i]);
      if (pivot < 0) {
        forget();
        return all_bits(0);
      }
      good &= found == all_bits(pivot);
      exchange(k, pivot);
      for (int i = k + 1; i < n; ++i) eliminate(lu + k * n, lu + i * n, k, n);
    }
    write_signs();
    return good;
  }

  PERP_EIGHT_INLINE void write_signs() {
    negative = all_bits(is_odd ? -1 : 0);
    for (int i = 0; i < n; ++i) negative ^= lu[i * n + i] < all(0);
  }

  PERP_EIGHT_INLINE void exchange(int k, int pivot) {
    if (pivot == k) return;
    for (int j = 0; j < n; ++j) {
      const Eight other = lu[k * n + j];
      lu[k * n + j] = lu[pivot * n + j];
      lu[pivot * n + j] = other;
    }
    const int from = origin[k];
    origin[k] = origin[pivot];
    origin[pivot] = from;
    is_odd = !is_odd;
  }

  PERP_EIGHT_INLINE void solve(Eight* x) {
    const int size = n;
    Eight y[most_unknowns];
    for (int i = 0; i < size; ++i) {
      Eight sum = row_scale[origin[i]] * x[origin[i]];
      for (int j = 0; j < i; ++j) sum -= lu[i * size + j] * y[j];
      y[i] = sum;
    }
    for (int i = size - 1; i >= 0; --i) {
      Eight sum = y[i];
      for (int j = i + 1; j < size; ++j) sum -= lu[i * size + j] * y[j];
      y[i] = sum / lu[i * size + i];
    }
    for (int j = 0; j < size; ++j) x[j] = column_scale[j] * y[j];
  }

  PERP_EIGHT_INLINE void bound(Eight* x) const {
    const int size = n;
    Eight y[most_unknowns];
    for (int i = 0; i < size; ++i) {
      Eight sum = row_scale[origin[i]] * x[origin[i]];
      for (int j = 0; j < i; ++j) sum += size_of(lu[i * size + j]) * y[j];
      y[i] = sum;
    }
    for (int i = size - 1; i >= 0; --i) {
      Eight sum = y[i];
      for (int j = i + 1; j < size; ++j) sum += size_of(lu[i * size + j]) * y[j];
      y[i] = sum / size_of(lu[i * size + i]);
    }
    for (int j = 0; j < size; ++j) x[j] = column_scale[j] * y[j];
  }
};

}  // namespace perp::eight
