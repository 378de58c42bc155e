// Where the inverse of a matrix may hold entries.
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/structure.hpp>
#include <perp/lcp/parametric/refined_solution.hpp>

namespace perp {
namespace {

/// The columns that hold an entry of K, row by row.
linear::Pattern pattern_of(const BoundedMatrix& K) {
  const Eigen::Index n = K.high.rows();
  linear::Pattern rows(static_cast<std::size_t>(n));
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      if (K.high(i, j) != 0 || K.error(i, j) != 0) rows[at(i)].push_back(static_cast<int>(j));
  return rows;
}

/// Where an inverse of K may hold entries, by the places of those of K. In a chain whose states do not act back
/// the others are 0, and no rounding of states behind, which may be larger by any power of ten, reaches a state before
/// them.
class PlacesOfInverse {
 public:
  explicit PlacesOfInverse(const BoundedMatrix& K) {
    linear::Pattern rows = pattern_of(K);
    pairs_ = linear::maximum_matching(rows, static_cast<int>(K.high.rows()));
    if (!pairs_.is_perfect()) return;
    // The unknown of each equation follows from those of the others that it holds.
    for (std::vector<int>& row : rows)
      for (int& j : row) j = pairs_.row_of_column[at(j)];
    parts_ = linear::strong_components(rows);
    if (parts_.count > 1) find_reach(rows);
  }

  void clear_others(Matrix& X) const {
    if (reaches_.empty()) return;
    for (std::size_t i = 0; i < parts_.of_node.size(); ++i)
      for (std::size_t k = 0; k < parts_.of_node.size(); ++k)
        if (!reaches_[at(parts_.of_node[i])][at(parts_.of_node[k])])
          X(pairs_.column_of_row[i], static_cast<Eigen::Index>(k)) = 0;
  }

 private:
  /// Edges lead to parts with smaller numbers, whose reach is known.
  void find_reach(const linear::Pattern& successors) {
    std::vector<std::vector<int>> members(at(parts_.count));
    for (std::size_t i = 0; i < successors.size(); ++i)
      members[at(parts_.of_node[i])].push_back(static_cast<int>(i));
    for (int part = 0; part < parts_.count; ++part) {
      std::vector<bool> reach(at(parts_.count));
      reach[at(part)] = true;
      for (const int i : members[at(part)])
        for (const int next : successors[at(i)]) join(parts_.of_node[at(next)], reach);
      reaches_.push_back(std::move(reach));
    }
  }
  void join(int other, std::vector<bool>& reach) const {
    if (reach[at(other)]) return;
    for (int k = 0; k <= other; ++k)
      if (reaches_[at(other)][at(k)]) reach[at(k)] = true;
  }

  linear::Matching pairs_;
  linear::Components parts_;
  std::vector<std::vector<bool>> reaches_;  // of each part; empty: all of it
};

/// The same of few unknowns, whose sets are words.
class FewPlacesOfInverse {
 public:
  static constexpr Eigen::Index most = 64;

  explicit FewPlacesOfInverse(const BoundedMatrix& K) : n_(static_cast<int>(K.high.rows())) {
    row_of_column_.fill(-1);
    for (int i = 0; i < n_; ++i) {
      Word& row = columns_[at(i)] = 0;
      for (int j = 0; j < n_; ++j)
        if (K.high(i, j) != 0 || K.error(i, j) != 0) row |= bit(j);
    }
    is_perfect_ = true;
    for (int i = 0; i < n_ && is_perfect_; ++i) {
      Word tried = 0;
      is_perfect_ = matches(i, tried);
    }
    if (is_perfect_) find_reach();
  }

  void clear_others(Matrix& X) const {
    for (int j = 0; is_perfect_ && j < n_; ++j)
      for (int k = 0; k < n_; ++k)
        if ((reach_[at(row_of_column_[at(j)])] & bit(k)) == 0) X(j, k) = 0;
  }

 private:
  using Word = std::uint64_t;
  static Word bit(int k) { return Word{1} << static_cast<unsigned>(k); }

  /// Finds an unknown for this equation, if need be another one for those that have theirs.
  bool matches(int row, Word& tried) {
    for (Word left = columns_[at(row)] & ~tried; left != 0; left = columns_[at(row)] & ~tried) {
      const int column = std::countr_zero(left);
      tried |= bit(column);
      const int other = row_of_column_[at(column)];
      if (other >= 0 && !matches(other, tried)) continue;
      row_of_column_[at(column)] = row;
      return true;
    }
    return false;
  }

  /// The equations whose unknowns the unknown of each depends on, by others too (Warshall).
  void find_reach() {
    for (int i = 0; i < n_; ++i) {
      reach_[at(i)] = 0;
      for (Word left = columns_[at(i)]; left != 0; left &= left - 1) reach_[at(i)] |= bit(row_of_column_[at(std::countr_zero(left))]);
    }
    for (int k = 0; k < n_; ++k)
      for (int i = 0; i < n_; ++i)
        if ((reach_[at(i)] & bit(k)) != 0) reach_[at(i)] |= reach_[at(k)];
  }

  int n_;
  bool is_perfect_ = false;
  std::array<Word, most> columns_, reach_;  // of each equation
  std::array<int, most> row_of_column_{};
};

}  // namespace

void clear_impossible(const BoundedMatrix& K, Matrix& X) {
  if (K.high.rows() <= FewPlacesOfInverse::most)
    FewPlacesOfInverse(K).clear_others(X);
  else
    PlacesOfInverse(K).clear_others(X);
}

}  // namespace perp
