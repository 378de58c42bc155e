#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <perp/core/base/interruption.hpp>
#include <perp/lcp/exact/arithmetic.hpp>

namespace perp {

/// Solutions of linear equations: origin + span(directions).
template <class Scalar>
struct AffineSpace {
  std::vector<Scalar> origin;
  std::vector<std::vector<Scalar>> directions;
  std::vector<int> free;  ///< directions[k] is 1 at unknown free[k], which is 0 elsewhere
};

/// Gauss-Jordan elimination with full pivoting of rows · (y, 1) = 0, each row n+1 entries.
template <class Scalar>
class FieldElimination {
 public:
  FieldElimination(std::vector<std::vector<Scalar>> rows, int n)
      : columns_(static_cast<std::size_t>(n)),
        rows_(std::move(rows)),
        size_(rows_.size(), Scalar(0)),
        used_(rows_.size(), false),
        pivot_row_(columns_, rows_.size()) {
    if constexpr (!A::exact)
      for (std::size_t r = 0; r < rows_.size(); ++r)
        for (const Scalar& value : rows_[r]) size_[r] = std::max<Scalar>(size_[r], A::size(value));
  }

  /// Eliminates by rows with one entry: no search is needed, and fixed unknowns keep their exact
  /// value.
  void use_single_entries() {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const std::vector<Scalar>& row = rows_[r];
      const auto is_entry = [](const Scalar& value) { return value != 0; };
      if (std::count_if(row.begin(), row.end() - 1, is_entry) != 1) continue;
      const auto column =
          static_cast<std::size_t>(std::find_if(row.begin(), row.end(), is_entry) - row.begin());
      if (!A::no_pivot(row[column], size_[r])) eliminate(r, column);
    }
  }

  /// Eliminates by the largest entries, the first `preferred` unknowns before the others.
  void use_largest_entries(int preferred) {
    for (;;) {
      const auto [row, column] = largest_pivot(static_cast<std::size_t>(preferred));
      if (row == rows_.size()) return;
      eliminate(row, column);
    }
  }

  /// What is left; nothing if an equation reads "not 0 = 0".
  [[nodiscard]] std::optional<AffineSpace<Scalar>> solutions() const {
    for (std::size_t r = 0; r < rows_.size(); ++r)
      if (!used_[r] && !A::vanishes(rows_[r][columns_], size_[r])) return std::nullopt;
    AffineSpace<Scalar> space{eliminated_unknowns(columns_), {}, {}};
    for (std::size_t free = 0; free < columns_; ++free) {
      if (is_eliminated(free)) continue;
      std::vector<Scalar> direction = eliminated_unknowns(free);
      direction[free] = 1;
      space.directions.push_back(std::move(direction));
      space.free.push_back(static_cast<int>(free));
    }
    return space;
  }

 private:
  using A = Arithmetic<Scalar>;

  [[nodiscard]] bool is_eliminated(std::size_t unknown) const {
    return pivot_row_[unknown] < rows_.size();
  }

  /// What a column (an unknown, or the constant) contributes to the eliminated unknowns; 0 for the others.
  [[nodiscard]] std::vector<Scalar> eliminated_unknowns(std::size_t column) const {
    std::vector<Scalar> values(columns_, Scalar(0));
    for (std::size_t j = 0; j < columns_; ++j)
      if (is_eliminated(j)) values[j] = -rows_[pivot_row_[j]][column];
    return values;
  }

  struct Place {
    std::size_t row, column;
  };

  /// The largest entry of the unused rows, the first `preferred` unknowns before the others; number of rows: none.
  [[nodiscard]] Place largest_pivot(std::size_t preferred) const {
    Place pivot{rows_.size(), 0};
    Scalar best = 0;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (used_[r]) continue;
      for (std::size_t j = 0; j < columns_; ++j) {
        if (rows_[r][j] == 0 || A::no_pivot(rows_[r][j], size_[r])) continue;
        const Scalar weighted = A::size(rows_[r][j]) * Scalar(j < preferred ? 64 : 1);
        if (weighted <= best) continue;
        best = weighted;
        pivot = {r, j};
      }
    }
    return pivot;
  }

  void eliminate(std::size_t pivot, std::size_t column) {
    check_interruption();
    used_[pivot] = true;
    pivot_row_[column] = pivot;
    std::vector<Scalar>& equation = rows_[pivot];
    const Scalar value = equation[column];
    for (Scalar& entry : equation)
      if (entry != 0) entry /= value;
    equation[column] = 1;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const Scalar factor = rows_[r][column];
      if (r == pivot || factor == 0) continue;
      subtract(r, factor, equation);
      rows_[r][column] = 0;
    }
  }

  /// Subtracts factor · equation from row r.
  void subtract(std::size_t r, const Scalar& factor, const std::vector<Scalar>& equation) {
    for (std::size_t j = 0; j <= columns_; ++j) {
      if (equation[j] == 0) continue;
      const Scalar term = factor * equation[j];
      if constexpr (!A::exact) size_[r] = std::max<Scalar>(size_[r], A::size(term));
      rows_[r][j] = A::difference(rows_[r][j], term);
    }
  }

  std::size_t columns_;
  std::vector<std::vector<Scalar>> rows_;
  std::vector<Scalar> size_;            ///< of a row: the largest number that was added up in it; not
                                        ///< of an exact one
  std::vector<bool> used_;              ///< is the row a pivot's?
  std::vector<std::size_t> pivot_row_;  ///< of an unknown; number of rows: not eliminated
};

/// Solves row · (y, 1) = 0 for all rows; nothing if the equations contradict each other. The first
/// `preferred` unknowns are only left free where their coefficients are small beside the others.
template <class Scalar>
std::optional<AffineSpace<Scalar>> solve_equations(std::vector<std::vector<Scalar>> rows, int n,
                                                   int preferred = 0) {
  FieldElimination<Scalar> elimination(std::move(rows), n);
  elimination.use_single_entries();
  elimination.use_largest_entries(preferred);
  return elimination.solutions();
}

}  // namespace perp
