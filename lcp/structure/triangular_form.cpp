#include <algorithm>
#include <numeric>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/structure.hpp>
#include <perp/lcp/structure/triangular_form.hpp>

namespace perp {
namespace {

using linear::Components;
using linear::Pattern;

constexpr int none = -1;

/// Appends the unknowns from number `first` on, but for `own`, that have an entry in a row.
void append_entries(const Matrix& matrix, int row, int first, int own, std::vector<int>& list) {
  for (int j = 0; j < matrix.cols(); ++j)
    if (matrix(row, j) != 0 && first + j != own) list.push_back(first + j);
}

/// Rows: the p equations, then the m laws. Columns: u, then λ.
Pattern pattern_of(const Mlcp& problem) {
  const int p = problem.p(), m = problem.m();
  Pattern columns(static_cast<std::size_t>(p + m));
  for (int i = 0; i < p; ++i) {
    append_entries(problem.M11, i, 0, none, columns[at(i)]);
    append_entries(problem.M12, i, p, none, columns[at(i)]);
  }
  for (int i = 0; i < m; ++i) {
    const int own = p + i;
    columns[at(own)].push_back(own);  // first: a law is best matched with its own λ
    append_entries(problem.M21, i, 0, own, columns[at(own)]);
    append_entries(problem.M22, i, p, own, columns[at(own)]);
  }
  return columns;
}

/// The order in which the parts are searched: whatever a part needs comes before it, and what can
/// prove early that there is no solution comes early. A part without a choice of branches, which is
/// a consequence or a check of what it needs, comes as soon as that is known; and what few parts
/// decide comes before what needs many.
class SearchOrder {
 public:
  SearchOrder(const Pattern& needs, std::vector<char> has_choice)
      : needs_(needs), needed_by_(needs.size()), has_choice_(std::move(has_choice)) {
    for (std::size_t part = 0; part < needs.size(); ++part)
      for (const int other : needs[part])
        needed_by_[static_cast<std::size_t>(other)].push_back(static_cast<int>(part));
    for (const std::vector<int>& list : needs) missing_.push_back(static_cast<int>(list.size()));
    placed_.assign(needs.size(), 0);
  }

  std::vector<int> operator()() {
    std::vector<std::pair<int, int>> ends;  // parts that no other needs, with what they need
    for (std::size_t part = 0; part < needs_.size(); ++part)
      if (needed_by_[part].empty())
        ends.emplace_back(ancestors(static_cast<int>(part)), static_cast<int>(part));
    std::sort(ends.begin(), ends.end());
    for (const auto& [count, part] : ends) place(part);
    return std::move(order_);
  }

 private:
  /// Number of parts that a part needs, the needs of these included.
  [[nodiscard]] int ancestors(int part) const {
    std::vector<char> seen(needs_.size(), 0);
    std::vector<int> open{part};
    int count = 0;
    while (!open.empty()) {
      const int next = open.back();
      open.pop_back();
      for (const int other : needs_[static_cast<std::size_t>(next)]) {
        char& known = seen[static_cast<std::size_t>(other)];
        if (known != 0) continue;
        known = 1;
        ++count;
        open.push_back(other);
      }
    }
    return count;
  }

  /// Appends what the part needs, the part, and what has no choice after that.
  void place(int part) {
    const auto p = static_cast<std::size_t>(part);
    if (placed_[p] != 0) return;
    for (const int other : needs_[p]) place(other);
    if (placed_[p] != 0) return;  // it had no choice after the last of these
    placed_[p] = 1;
    order_.push_back(part);
    for (const int other : needed_by_[p]) --missing_[static_cast<std::size_t>(other)];
    for (const int other : needed_by_[p]) {
      const auto o = static_cast<std::size_t>(other);
      if (missing_[o] == 0 && has_choice_[o] == 0) place(other);
    }
  }

  const Pattern& needs_;
  Pattern needed_by_;
  std::vector<char> has_choice_, placed_;
  std::vector<int> missing_, order_;
};

/// The unknowns of parts that are taken together.
class TakenUnknowns {
 public:
  explicit TakenUnknowns(const Mlcp& problem)
      : problem_(problem), taken_(static_cast<std::size_t>(problem.p() + problem.m()), false) {}

  void take(const Block& part) {
    for (const int j : part.u) taken_[static_cast<std::size_t>(j)] = true;
    for (const int j : part.lambda) taken_[static_cast<std::size_t>(problem_.p() + j)] = true;
  }

  /// Does an equation or a law of the part hold one of them?
  [[nodiscard]] bool are_needed_by(const Block& part) const {
    return std::ranges::any_of(
               part.equations, [&](int i) { return are_in_row(problem_.M11, problem_.M12, i); }) ||
           std::ranges::any_of(part.lambda,
                               [&](int i) { return are_in_row(problem_.M21, problem_.M22, i); });
  }

 private:
  [[nodiscard]] bool are_in_row(const Matrix& left, const Matrix& right, int i) const {
    for (int j = 0; j < problem_.p(); ++j)
      if (left(i, j) != 0 && taken_[static_cast<std::size_t>(j)]) return true;
    for (int j = 0; j < problem_.m(); ++j)
      if (right(i, j) != 0 && taken_[static_cast<std::size_t>(problem_.p() + j)]) return true;
    return false;
  }

  const Mlcp& problem_;
  std::vector<bool> taken_;
};

/// Joins parts i..., given in increasing order, to one.
Block joined(const std::vector<Block>& parts, const std::vector<std::size_t>& which) {
  Block all;
  for (const std::size_t i : which)
    for (auto list : {&Block::u, &Block::lambda, &Block::equations})
      (all.*list).insert((all.*list).end(), (parts[i].*list).begin(), (parts[i].*list).end());
  for (auto list : {&Block::u, &Block::lambda, &Block::equations})
    std::sort((all.*list).begin(), (all.*list).end());
  return all;
}

Block whole(const Mlcp& problem) {
  Block block;
  block.u.resize(static_cast<std::size_t>(problem.p()));
  block.lambda.resize(static_cast<std::size_t>(problem.m()));
  std::iota(block.u.begin(), block.u.end(), 0);
  std::iota(block.lambda.begin(), block.lambda.end(), 0);
  block.equations = block.u;
  return block;
}

/// The rows that each row needs: those that are matched with its columns.
Pattern needs_of(const Pattern& columns, const linear::Matching& matching) {
  Pattern needs(columns.size());
  for (std::size_t row = 0; row < columns.size(); ++row)
    for (const int column : columns[row])
      needs[row].push_back(matching.row_of_column[at(column)]);
  return needs;
}

std::vector<Block> in_search_order(const Mlcp& problem, std::vector<Block> parts,
                                   const Components& components, const Pattern& needs) {
  Pattern of_parts(parts.size());
  for (std::size_t row = 0; row < needs.size(); ++row) {
    const int part = components.of_node[row];
    for (const int other : needs[row])
      if (components.of_node[at(other)] != part)
        of_parts[at(part)].push_back(components.of_node[at(other)]);
  }
  for (std::vector<int>& list : of_parts) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  std::vector<char> has_choice;
  for (const Block& part : parts)
    has_choice.push_back(std::any_of(part.lambda.begin(), part.lambda.end(), [&](int i) {
      return problem.laws[static_cast<std::size_t>(i)].branches.size() > 1;
    }));
  std::vector<Block> ordered;
  for (const int part : SearchOrder(of_parts, std::move(has_choice))())
    ordered.push_back(std::move(parts[static_cast<std::size_t>(part)]));
  return ordered;
}

}  // namespace

std::vector<Block> triangular_parts(const Mlcp& problem) {
  const int p = problem.p(), m = problem.m();
  const Pattern columns = pattern_of(problem);
  const linear::Matching matching = linear::maximum_matching(columns, p + m);
  if (p + m == 0 || !matching.is_perfect()) return {whole(problem)};
  const auto row_of = [&](int column) { return matching.row_of_column[at(column)]; };
  Pattern needs = needs_of(columns, matching);
  for (int i = p; i < p + m; ++i)  // a law and its own λ stay together
    needs[static_cast<std::size_t>(row_of(i))].push_back(i);
  const Components components = linear::strong_components(needs);
  std::vector<Block> parts(at(components.count));
  const auto part_of = [&](int row) -> Block& { return parts[at(components.of_node[at(row)])]; };
  for (int j = 0; j < p; ++j) part_of(row_of(j)).u.push_back(j);
  for (int i = 0; i < m; ++i) part_of(p + i).lambda.push_back(i);
  for (int i = 0; i < p; ++i) part_of(i).equations.push_back(i);
  return in_search_order(problem, std::move(parts), components, needs);
}

void put_together(const Mlcp& problem, std::vector<Block>& parts, std::size_t stuck, bool joint) {
  TakenUnknowns taken(problem);
  std::vector<std::size_t> together;
  std::vector<Block> rest;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool end = joint && i + 1 == parts.size();
    if (i == stuck || end || taken.are_needed_by(parts[i])) {
      taken.take(parts[i]);
      together.push_back(i);
    } else {
      rest.push_back(parts[i]);
    }
  }
  rest.push_back(joined(parts, together));
  parts = std::move(rest);
}

}  // namespace perp
