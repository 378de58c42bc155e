#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <perp/core/base/interruption.hpp>
#include <perp/lcp/enumeration/branch_verdict.hpp>

namespace perp {

/// An equation form·(y, 1) = 0 that eliminates one unknown from all later ones.
template <class Scalar>
struct SparsePivot {
  std::vector<Scalar> form;
  std::size_t unknown;
};

/// Gaussian elimination in Markowitz's order: the equation with the fewest unknowns next, in it the
/// unknown of the fewest equations among those that are not much smaller than its largest. An unknown that
/// its own equations fix is found from these alone: what is 0 by structure comes out as 0 exactly, with
/// bounds too. Of the n unknowns only those `allowed` are eliminated; equations without a pivot are left
/// out.
template <class Scalar>
class SparseElimination {
 public:
  SparseElimination(std::vector<std::vector<Scalar>> rows, std::vector<char> allowed)
      : rows_(std::move(rows)), allowed_(std::move(allowed)), columns_(allowed_.size()) {
    used_.assign(rows_.size(), 0);
    entries_.assign(rows_.size(), 0);
    in_column_.assign(columns_, 0);
    for (std::size_t r = 0; r < rows_.size(); ++r)
      for (std::size_t j = 0; j < columns_; ++j)
        if (!is_zero(rows_[r][j])) count(r, j, 1);
  }

  std::vector<SparsePivot<Scalar>> operator()() {
    std::vector<SparsePivot<Scalar>> pivots;
    for (;;) {
      check_interruption();
      const auto [row, column] = next_pivot();
      if (row == rows_.size()) return pivots;
      used_[row] = 1;
      allowed_[column] = 0;
      for (std::size_t j = 0; j < columns_; ++j)
        if (!is_zero(rows_[row][j])) --in_column_[j];
      for (std::size_t r = 0; r < rows_.size(); ++r)
        if (used_[r] == 0 && !is_zero(rows_[r][column])) subtract(row, column, r);
      pivots.push_back({std::move(rows_[row]), column});
    }
  }

 private:
  void count(std::size_t row, std::size_t column, int change) {
    entries_[row] += change;
    in_column_[column] += change;
  }

  std::pair<std::size_t, std::size_t> next_pivot() const {
    std::pair<std::size_t, std::size_t> best{rows_.size(), columns_};
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (used_[r] != 0 || entries_[r] == 0) continue;
      if (best.first < rows_.size() && entries_[r] >= entries_[best.first]) continue;
      const std::size_t column = pivot_column(r);
      if (column < columns_) best = {r, column};
    }
    return best;
  }

  /// Is it surely no 0, of an unknown that may be eliminated?
  [[nodiscard]] bool can_be_pivot(std::size_t row, std::size_t column) const {
    return allowed_[column] != 0 && decided_sign(rows_[row][column]) != 0;
  }

  /// The column of the row's largest entry that can be a pivot; the number of columns: none can.
  [[nodiscard]] std::size_t largest_pivot(std::size_t row) const {
    const std::vector<Scalar>& entries = rows_[row];
    std::size_t largest = columns_;
    for (std::size_t j = 0; j < columns_; ++j) {
      if (!can_be_pivot(row, j)) continue;
      if (largest == columns_ || is_larger(entries[j], entries[largest])) largest = j;
    }
    return largest;
  }

  [[nodiscard]] std::size_t pivot_column(std::size_t row) const {
    const std::vector<Scalar>& entries = rows_[row];
    const std::size_t largest = largest_pivot(row);
    std::size_t best = columns_;
    for (std::size_t j = 0; j < columns_; ++j) {
      if (!can_be_pivot(row, j)) continue;
      if (is_larger(entries[largest], Scalar(64) * entries[j])) continue;
      if (best == columns_ || in_column_[j] < in_column_[best]) best = j;
    }
    return best;
  }

  void subtract(std::size_t pivot, std::size_t column, std::size_t row) {
    const Scalar factor = rows_[row][column] / rows_[pivot][column];
    count(row, column, -1);
    rows_[row][column] = Scalar(0);
    for (std::size_t j = 0; j <= columns_; ++j) {
      if (j == column || is_zero(rows_[pivot][j])) continue;
      const bool before = !is_zero(rows_[row][j]);
      subtract_product(rows_[row][j], factor, rows_[pivot][j]);
      const bool after = !is_zero(rows_[row][j]);
      if (j < columns_ && before != after) count(row, j, after ? 1 : -1);
    }
  }

  std::vector<std::vector<Scalar>> rows_;
  std::vector<char> allowed_, used_;
  std::size_t columns_;
  std::vector<int> entries_, in_column_;  ///< numbers of entries, of rows that are not used yet
};

/// a w + b λ - c of a branch as a form in (u, λ, 1).
template <class Scalar>
std::vector<Scalar> branch_equation(const AlgebraicProblem<Scalar>& problem, int law, int branch) {
  const LawBranch<Scalar>& of =
      problem.laws[static_cast<std::size_t>(law)][static_cast<std::size_t>(branch)];
  std::vector<Scalar> form(problem.w_row(law).size(), Scalar(0));
  if (!is_zero(of.a))
    for (std::size_t j = 0; j < form.size(); ++j)
      if (!is_zero(problem.w_row(law)[j])) form[j] = of.a * problem.w_row(law)[j];
  Scalar& own = form[static_cast<std::size_t>(problem.p + law)];
  own = own + of.b;
  form.back() = form.back() - of.c;
  return form;
}

/// The only point of a mode's equations, by sparse elimination; nothing if they leave more than one, as
/// far as that is decided.
template <class Scalar>
std::optional<std::vector<Scalar>> sparse_point(const AlgebraicProblem<Scalar>& problem,
                                                const Mode& mode) {
  const auto n = static_cast<std::size_t>(problem.p + problem.m);
  std::vector<std::vector<Scalar>> rows(problem.rows.begin(), problem.rows.begin() + problem.p);
  for (int i = 0; i < problem.m; ++i)
    rows.push_back(branch_equation(problem, i, mode[static_cast<std::size_t>(i)]));
  const std::vector<SparsePivot<Scalar>> pivots =
      SparseElimination<Scalar>(std::move(rows), std::vector<char>(n, 1))();
  if (pivots.size() != n) return std::nullopt;
  std::vector<Scalar> y(n, Scalar(0));
  for (auto pivot = pivots.rbegin(); pivot != pivots.rend(); ++pivot) {
    Scalar sum = -pivot->form[n];
    for (std::size_t j = 0; j < n; ++j)
      if (j != pivot->unknown && !is_zero(pivot->form[j]))
        subtract_product(sum, y[j], pivot->form[j]);
    y[pivot->unknown] = sum / pivot->form[pivot->unknown];
  }
  return y;
}

/// w_i at y.
template <class Scalar>
Scalar w_at(const AlgebraicProblem<Scalar>& problem, int law, const std::vector<Scalar>& y) {
  const std::vector<Scalar>& row = problem.w_row(law);
  Scalar w = row.back();
  for (std::size_t j = 0; j < y.size(); ++j) subtract_product(w, -row[j], y[j]);
  return w;
}

/// Of every law the branches that hold a point.
using MeetingBranches = std::vector<std::vector<int>>;

/// Those of a point that satisfies the equations of `mode`; a law without any: the point is no solution.
/// Nothing where bounds leave one open.
template <class Scalar>
std::optional<MeetingBranches> meeting_branches(const AlgebraicProblem<Scalar>& problem,
                                                const Mode& mode, const std::vector<Scalar>& y) {
  MeetingBranches all;
  for (int i = 0; i < problem.m; ++i) {
    const auto law = static_cast<std::size_t>(i);
    Scalar w = w_at(problem, i, y);
    const Scalar& lambda = y[static_cast<std::size_t>(problem.p + i)];
    const LawBranch<Scalar>& own = problem.branch(mode, i);
    if (is_zero(own.b)) w = own.c / own.a;
    all.emplace_back();
    for (std::size_t k = 0; k < problem.laws[law].size(); ++k) {
      const LawBranch<Scalar>& branch = problem.laws[law][k];
      const bool is_own = static_cast<int>(k) == mode[law];
      Membership held = is_own ? Membership::yes : on_line(branch, w, lambda);
      if (held != Membership::no) held = meet(held, in_ranges(branch, w, lambda));
      if (held == Membership::undecided) return std::nullopt;
      if (held == Membership::yes) all.back().push_back(static_cast<int>(k));
    }
  }
  return all;
}

/// All modes of these branches, in their order.
std::vector<Mode> modes_of(const MeetingBranches& branches);
/// Their number, at most `limit`.
long count_modes(const MeetingBranches& branches, long limit);

}  // namespace perp
