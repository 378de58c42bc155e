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
  constexpr double unlimited = 0;
  btf_maxtrans(columns, count, lists.start.data(), lists.entries.data(), unlimited, &effort,
               matching.row_of_column.data(), work.data());
  for (int column = 0; column < columns; ++column)
    if (const int row = matching.row_of_column[at(column)]; row >= 0)
      matching.column_of_row[at(row)] = column;
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
