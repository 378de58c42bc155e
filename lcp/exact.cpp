#include <fmt/format.h>

#include <perp/lcp/enumerate.hpp>
#include <perp/lcp/maximal_pieces.hpp>

namespace perp {
namespace {

constexpr std::size_t generator_limit = 20'000;

/// Depth first over the modes of a problem without any tolerance: every decided branch is one
/// equation, by which an unknown is eliminated from the rows of all quantities; a mode is left as
/// soon as an equation contradicts the others or a decided quantity is constant and outside of its
/// range.
class ExactSearch {
 public:
  ExactSearch(const AlgebraicProblem<Rational>& problem, long budget)
      : problem_(problem),
        solutions_(problem, generator_limit),
        budget_(budget),
        mode_(static_cast<std::size_t>(problem.m), 0) {}

  /// False if the budget or the number of generators was not enough.
  bool run(PieceCollector<Rational>& collector) {
    Table table;
    const auto n = static_cast<std::size_t>(problem_.p + problem_.m);
    table.assign(problem_.rows.begin() + problem_.p, problem_.rows.end());
    for (int i = 0; i < problem_.m; ++i) {
      Row lambda(n + 1, Rational(0));
      lambda[static_cast<std::size_t>(problem_.p + i)] = 1;
      table.push_back(std::move(lambda));
    }
    Table equations(problem_.rows.begin(), problem_.rows.begin() + problem_.p);
    for (std::size_t i = 0; i < equations.size(); ++i) {
      const Row equation = equations[i];
      if (!eliminate(equation, table)) return true;
      if (!eliminate(equation, equations)) return true;
    }
    return descend(0, table, collector);
  }

  [[nodiscard]] long nodes() const { return nodes_; }

 private:
  using Row = std::vector<Rational>;
  using Table = std::vector<Row>;  ///< w, then λ

  /// Uses an equation to remove one unknown from all rows; false if it reads "not 0 = 0".
  static bool eliminate(const Row& equation, Table& table) {
    std::size_t pivot = 0;
    while (pivot + 1 < equation.size() && equation[pivot] == 0) ++pivot;
    if (pivot + 1 == equation.size()) return equation[pivot] == 0;
    for (Row& row : table) {
      if (row[pivot] == 0) continue;
      const Rational factor = row[pivot] / equation[pivot];
      for (std::size_t j = 0; j < row.size(); ++j)
        if (equation[j] != 0) row[j] -= factor * equation[j];
    }
    return true;
  }

  static bool possible(const Row& row, const Interval<Rational>& range) {
    for (std::size_t j = 0; j + 1 < row.size(); ++j)
      if (row[j] != 0) return true;
    return !(range.lower && row.back() < *range.lower) &&
           !(range.upper && row.back() > *range.upper);
  }

  bool descend(int law, const Table& table, PieceCollector<Rational>& collector) {
    if (law == problem_.m) {
      bool overflow = false;
      Generators<Rational> generators = solutions_(mode_, overflow);
      if (!generators.vertices.empty()) collector.add(mode_, std::move(generators));
      return !overflow;
    }
    const auto i = static_cast<std::size_t>(law), m = static_cast<std::size_t>(problem_.m);
    for (std::size_t k = 0; k < problem_.laws[i].size(); ++k) {
      if (nodes_ == budget_) return false;
      ++nodes_;
      mode_[i] = static_cast<int>(k);
      const LawBranch<Rational>& branch = problem_.laws[i][k];
      Row equation = table[i];
      for (std::size_t j = 0; j < equation.size(); ++j)
        equation[j] = branch.a * equation[j] + branch.b * table[m + i][j];
      equation.back() -= branch.c;
      Table next = table;
      if (!eliminate(equation, next)) continue;
      bool cut = false;
      for (std::size_t j = 0; j <= i && !cut; ++j) {
        const LawBranch<Rational>& decided = problem_.branch(mode_, static_cast<int>(j));
        cut = !possible(next[j], decided.w) || !possible(next[m + j], decided.lambda);
      }
      if (!cut && !descend(law + 1, next, collector)) return false;
    }
    return true;
  }

  const AlgebraicProblem<Rational>& problem_;
  ModePolyhedron<Rational> solutions_;
  long budget_;
  long nodes_ = 0;
  Mode mode_;
};

Matrix to_matrix(const std::vector<std::vector<Rational>>& points, int n) {
  Matrix matrix(n, static_cast<Eigen::Index>(points.size()));
  for (std::size_t k = 0; k < points.size(); ++k)
    for (int i = 0; i < n; ++i)
      matrix(i, static_cast<Eigen::Index>(k)) =
          static_cast<double>(points[k][static_cast<std::size_t>(i)]);
  return matrix;
}

std::vector<std::vector<std::string>> to_fractions(
    const std::vector<std::vector<Rational>>& points) {
  std::vector<std::vector<std::string>> fractions;
  for (const auto& point : points) {
    fractions.emplace_back();
    for (const Rational& value : point) fractions.back().push_back(value.str());
  }
  return fractions;
}

}  // namespace

SolutionSet enumerate_exact(const Mlcp& problem, const EnumerateOptions& options,
                            Fractions* exact_vertices) {
  validate(problem);
  SolutionSet set;
  set.p = problem.p();
  set.m = problem.m();
  set.blocks = independent_blocks(problem);
  if (exact_vertices != nullptr) exact_vertices->assign(set.blocks.size(), {});
  set.complete = true;
  for (std::size_t b = 0; b < set.blocks.size(); ++b) {
    Block& block = set.blocks[b];
    const AlgebraicProblem<Rational> part(subproblem(problem, block));
    PieceCollector<Rational> collector(part);
    ExactSearch search(part, options.max_nodes - set.nodes);
    set.complete = search.run(collector) && set.complete;
    set.nodes += search.nodes();
    for (ModalPiece<Rational>& piece : collector.take()) {
      auto& [vertices, rays, lines] = piece.generators;
      std::sort(vertices.begin(), vertices.end());
      std::sort(rays.begin(), rays.end());
      const int n = part.p + part.m;
      block.pieces.push_back({std::move(piece.modes), piece.dimension, to_matrix(vertices, n),
                              to_matrix(rays, n), to_matrix(lines, n)});
      if (exact_vertices != nullptr) (*exact_vertices)[b].push_back(to_fractions(vertices));
    }
  }
  set.certificate =
      set.complete
          ? fmt::format("complete enumeration in rational arithmetic, {} nodes", set.nodes)
          : fmt::format("not complete: the limits ended the search after {} nodes", set.nodes);
  return set;
}

}  // namespace perp
