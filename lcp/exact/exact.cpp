#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/exact/exact_pieces.hpp>

namespace perp {
namespace {

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
  SolutionSet set = enumerate(problem, options);
  if (exact_vertices != nullptr) exact_vertices->assign(set.blocks.size(), {});
  for (std::size_t b = 0; b < set.blocks.size(); ++b) {
    const AlgebraicProblem<Rational> part(subproblem(problem, set.blocks[b]));
    for (Piece& piece : set.blocks[b].pieces) {
      bool overflow = false;
      const Generators<Rational> exact = exact_generators(part, piece.modes.front(), overflow);
      piece = rounded(std::move(piece.modes), piece.dimension, exact);
      if (exact_vertices != nullptr) (*exact_vertices)[b].push_back(to_fractions(exact.vertices));
    }
  }
  return set;
}

}  // namespace perp
