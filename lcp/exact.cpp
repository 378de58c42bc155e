#include <fmt/format.h>

#include <perp/lcp/enumerate.hpp>
#include <perp/lcp/field_search.hpp>
#include <perp/lcp/maximal_pieces.hpp>

namespace perp {
namespace {

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
    FieldSearch<Rational> search(part, options.max_nodes - set.nodes);
    const bool finished = search.run([&](const Mode& mode, Generators<Rational> generators) {
      collector.add(mode, std::move(generators));
    });
    set.complete = finished && set.complete;
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
          : fmt::format("not proved complete: the limits ended the search after {} nodes",
                        set.nodes);
  return set;
}

}  // namespace perp
