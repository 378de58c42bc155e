#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <perp/core/base/interruption.hpp>
#include <perp/lcp/polyhedra/mode_polyhedron.hpp>

namespace perp {

/// Depth first over the modes of a problem in an ordered field (Rational: no tolerance anywhere;
/// RationalFunction: steps of length h → 0). Every decided branch is one equation, by which an
/// unknown is eliminated from the rows of all quantities; a mode is left as soon as an equation
/// contradicts the others or a decided quantity is constant and outside of its range.
template <class Scalar>
class FieldSearch {
 public:
  FieldSearch(const AlgebraicProblem<Scalar>& problem, long budget)
      : problem_(problem),
        solutions_(problem, generator_limit),
        budget_(budget),
        mode_(static_cast<std::size_t>(problem.m), 0) {}

  using Leaf = std::function<void(const Mode&, Generators<Scalar>)>;

  /// Calls `leaf` with every mode that has solutions. False if the budget or the number of
  /// generators was not enough.
  bool run(const Leaf& leaf) {
    Table table;
    const auto n = static_cast<std::size_t>(problem_.p + problem_.m);
    table.assign(problem_.rows.begin() + problem_.p, problem_.rows.end());
    for (int i = 0; i < problem_.m; ++i) {
      Row lambda(n + 1, Scalar(0));
      lambda[static_cast<std::size_t>(problem_.p + i)] = 1;
      table.push_back(std::move(lambda));
    }
    Table equations(problem_.rows.begin(), problem_.rows.begin() + problem_.p);
    for (std::size_t i = 0; i < equations.size(); ++i) {
      const Row equation = equations[i];
      if (!eliminate(equation, table)) return true;
      if (!eliminate(equation, equations)) return true;
    }
    return descend(0, table, leaf);
  }

  [[nodiscard]] long nodes() const { return nodes_; }

 private:
  using Row = std::vector<Scalar>;
  using Table = std::vector<Row>;  ///< w, then λ

  using A = Arithmetic<Scalar>;

  /// The unknown with the largest coefficient; that of the constant if there is none.
  static std::size_t largest_unknown(const Row& equation) {
    const std::size_t last = equation.size() - 1;
    std::size_t pivot = last;
    for (std::size_t j = 0; j < last; ++j)
      if (equation[j] != 0 && (pivot == last || A::size(equation[j]) > A::size(equation[pivot])))
        pivot = j;
    return pivot;
  }

  /// Uses an equation to remove one unknown from all rows; false if it reads "not 0 = 0".
  static bool eliminate(const Row& equation, Table& table) {
    check_interruption();
    const std::size_t last = equation.size() - 1, pivot = largest_unknown(equation);
    if (pivot == last) return equation[last] == 0;
    for (Row& row : table) {
      if (row[pivot] == 0) continue;
      const Scalar factor = row[pivot] / equation[pivot];
      for (std::size_t j = 0; j < row.size(); ++j)
        if (equation[j] != 0) row[j] = A::difference(row[j], factor * equation[j]);
      row[pivot] = 0;
    }
    return true;
  }

  static bool possible(const Row& row, const Interval<Scalar>& range) {
    for (std::size_t j = 0; j + 1 < row.size(); ++j)
      if (row[j] != 0) return true;
    return !(range.lower && row.back() < *range.lower) &&
           !(range.upper && row.back() > *range.upper);
  }

  /// Calls `leaf` with the decided mode if it has solutions. False: they have too many generators.
  bool visit(const Leaf& leaf) {
    bool overflow = false;
    Generators<Scalar> generators = solutions_(mode_, overflow);
    if (!generators.vertices.empty()) leaf(mode_, std::move(generators));
    return !overflow;
  }

  /// a w + b λ - c of a branch of law i.
  Row equation_of(const LawBranch<Scalar>& branch, std::size_t i, const Table& table) const {
    const auto m = static_cast<std::size_t>(problem_.m);
    Row equation = table[i];
    for (std::size_t j = 0; j < equation.size(); ++j)
      equation[j] = branch.a * equation[j] + branch.b * table[m + i][j];
    equation.back() -= branch.c;
    return equation;
  }

  /// Is no decided quantity of the laws up to `last` constant and outside of its range?
  bool are_possible(const Table& table, std::size_t last) const {
    const auto m = static_cast<std::size_t>(problem_.m);
    for (std::size_t j = 0; j <= last; ++j) {
      const LawBranch<Scalar>& decided = problem_.branch(mode_, static_cast<int>(j));
      if (!possible(table[j], decided.w) || !possible(table[m + j], decided.lambda)) return false;
    }
    return true;
  }

  bool descend(int law, const Table& table, const Leaf& leaf) {
    if (law == problem_.m) return visit(leaf);
    const auto i = static_cast<std::size_t>(law);
    for (std::size_t k = 0; k < problem_.laws[i].size(); ++k) {
      if (nodes_ == budget_) return false;
      ++nodes_;
      mode_[i] = static_cast<int>(k);
      Table next = table;
      if (!eliminate(equation_of(problem_.laws[i][k], i, table), next)) continue;
      if (are_possible(next, i) && !descend(law + 1, next, leaf)) return false;
    }
    return true;
  }

  const AlgebraicProblem<Scalar>& problem_;
  ModePolyhedron<Scalar> solutions_;
  long budget_;
  long nodes_ = 0;
  Mode mode_;
};

}  // namespace perp
