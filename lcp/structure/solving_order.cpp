#include <algorithm>
#include <cstddef>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/lcp/structure/solving_order.hpp>

namespace perp {
namespace {

using Rows = std::vector<std::vector<Rational>>;

/// Rows and columns that stand last, the last one first.
class LastOnes {
 public:
  LastOnes(const Rows& rows, int n) : rows_of_(at(n)), count_(at(n)), has_row_(at(n), 0), has_column_(at(n), 0) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (rows[at(i)][at(j)] != 0) rows_of_[at(j)].push_back(i);
    for (int j = 0; j < n; ++j) {
      count_[at(j)] = rows_of_[at(j)].size();
      if (count_[at(j)] == 1) waiting_.push_back(j);
    }
    while (!waiting_.empty()) {
      const int j = waiting_.back();
      waiting_.pop_back();
      const auto own = std::ranges::find_if(rows_of_[at(j)], [&](int i) { return !has_row(i); });
      if (own != rows_of_[at(j)].end()) take(rows[at(*own)], *own, j);  // else its row stands last for another one
    }
  }

  [[nodiscard]] bool has_row(int i) const { return has_row_[at(i)] != 0; }
  [[nodiscard]] bool has_column(int j) const { return has_column_[at(j)] != 0; }
  [[nodiscard]] const std::vector<int>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<int>& columns() const { return columns_; }

 private:
  void take(const std::vector<Rational>& row, int i, int j) {
    has_row_[at(i)] = has_column_[at(j)] = 1;
    rows_.push_back(i);
    columns_.push_back(j);
    for (std::size_t other = 0; other < count_.size(); ++other)
      if (row[other] != 0 && --count_[other] == 1) waiting_.push_back(static_cast<int>(other));
  }

  std::vector<std::vector<int>> rows_of_;
  std::vector<std::size_t> count_;  ///< of the rows that hold an unknown and do not stand last
  std::vector<char> has_row_, has_column_;
  std::vector<int> rows_, columns_, waiting_;
};

}  // namespace

SolvingOrder::SolvingOrder(Rows& rows, int n) {
  const LastOnes last(rows, n);
  Rows ordered;
  for (int i = 0; i < n; ++i) {
    if (!last.has_row(i)) ordered.push_back(std::move(rows[at(i)]));
    if (!last.has_column(i)) columns.push_back(i);
  }
  in_core = static_cast<int>(columns.size());
  for (std::size_t l = last.rows().size(); l-- > 0;) {
    ordered.push_back(std::move(rows[at(last.rows()[l])]));
    columns.push_back(last.columns()[l]);
  }
  rows = std::move(ordered);
}

}  // namespace perp
