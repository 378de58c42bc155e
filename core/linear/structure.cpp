// The door to BTF, which works on matrices in compressed columns: a row of ours is a column of its.
#include <algorithm>
#include <stdexcept>

#include <btf.h>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/structure.hpp>

namespace perp::linear {
namespace {

/// Lists one after the other, with where each begins.
struct Compressed {
  std::vector<int> start{0}, entries;

  Compressed(const Pattern& lists, int bound) {
    for (const std::vector<int>& list : lists) {
      for (const int entry : list)
        if (entry < 0 || entry >= bound) throw std::out_of_range("linear::Pattern: entry");
      entries.insert(entries.end(), list.begin(), list.end());
      start.push_back(static_cast<int>(entries.size()));
    }
  }
};

/// Makes a matching a largest one along shortest alternating paths, as many at once as there are without a row in common
/// (Hopcroft and Karp): entries times the root of rows at most, where one path after the other takes entries times rows.
class ShortestPaths {
 public:
  ShortestPaths(const Pattern& rows, Matching& matching) : rows_(rows), matching_(matching) {}

  void run() {
    while (set_depths())
      for (std::size_t row = 0; row < rows_.size(); ++row)
        if (matching_.column_of_row[row] < 0) extend(static_cast<int>(row));
  }

 private:
  /// How many pairs are between each row and one without a partner; false: no path leads to a free column.
  bool set_depths() {
    depth_.assign(rows_.size(), -1);
    next_.assign(rows_.size(), 0);
    std::vector<int> reached;
    for (std::size_t row = 0; row < rows_.size(); ++row)
      if (matching_.column_of_row[row] < 0) depth_[row] = 0, reached.push_back(static_cast<int>(row));
    bool is_open = false;
    for (std::size_t k = 0; k < reached.size(); ++k)
      for (const int column : rows_[at(reached[k])]) {
        const int owner = matching_.row_of_column[at(column)];
        is_open = is_open || owner < 0;
        if (owner < 0 || depth_[at(owner)] >= 0) continue;
        depth_[at(owner)] = depth_[at(reached[k])] + 1;
        reached.push_back(owner);
      }
    return is_open;
  }

  /// Along a path from this row to a free column, if there is one, pairs and what lies between them change places.
  void extend(int row) {
    std::vector<int> path{row};
    while (!path.empty()) {
      const int last = path.back();
      if (next_[at(last)] == rows_[at(last)].size()) {
        path.pop_back();
        continue;
      }
      const int owner = matching_.row_of_column[at(rows_[at(last)][next_[at(last)]++])];
      if (owner < 0) return exchange(path);
      if (depth_[at(owner)] == depth_[at(last)] + 1) path.push_back(owner);
    }
  }

  void exchange(const std::vector<int>& path) {
    for (const int row : path) {
      const int column = rows_[at(row)][next_[at(row)] - 1];
      matching_.column_of_row[at(row)] = column;
      matching_.row_of_column[at(column)] = row;
    }
  }

  const Pattern& rows_;
  Matching& matching_;
  std::vector<int> depth_;
  std::vector<std::size_t> next_;  // entry of each row, of those not tried yet
};

}  // namespace

bool Matching::is_perfect() const {
  const auto has_none = [](int partner) { return partner < 0; };
  return std::none_of(column_of_row.begin(), column_of_row.end(), has_none) &&
         std::none_of(row_of_column.begin(), row_of_column.end(), has_none);
}

Matching maximum_matching(const Pattern& rows, int columns) {
  const auto count = static_cast<int>(rows.size());
  Compressed lists(rows, columns);
  Matching matching{std::vector<int>(rows.size(), -1), std::vector<int>(at(columns), -1)};
  std::vector<int> work(5 * rows.size() + 1);
  double effort = 0;
  // Path after path as long as that is cheap, by entries looked at for each there is.
  constexpr std::size_t few = 1024;
  constexpr double unlimited = 0, most = 16;
  btf_maxtrans(columns, count, lists.start.data(), lists.entries.data(), rows.size() <= few ? unlimited : most, &effort,
               matching.row_of_column.data(), work.data());
  for (int column = 0; column < columns; ++column)
    if (const int row = matching.row_of_column[at(column)]; row >= 0)
      matching.column_of_row[at(row)] = column;
  if (effort < 0) ShortestPaths(rows, matching).run();
  return matching;
}

Components strong_components(const Pattern& successors) {
  const auto count = static_cast<int>(successors.size());
  Compressed lists(successors, count);
  std::vector<int> order(successors.size() + 1), start(successors.size() + 1);
  std::vector<int> work(4 * successors.size() + 1);
  Components components;
  components.of_node.assign(successors.size(), 0);
  // Block upper triangular: node j points to the rows of its column, in its block or an earlier one.
  components.count = btf_strongcomp(count, lists.start.data(), lists.entries.data(), nullptr,
                                    order.data(), start.data(), work.data());
  for (int block = 0; block < components.count; ++block)
    for (int k = start[at(block)]; k < start[at(block + 1)]; ++k)
      components.of_node[at(order[at(k)])] = block;
  return components;
}

}  // namespace perp::linear
