#include <cmath>
#include <optional>

#include <perp/lcp/enumerate.hpp>
#include <perp/lcp/exact_norm.hpp>
#include <perp/lcp/exact_pieces.hpp>
#include <perp/lcp/nearest_of_all.hpp>

namespace perp {
namespace {

ExactNorm exactly(const Matrix& W, const Vector& center) {
  ExactNorm norm{{}, std::vector<Rational>(static_cast<std::size_t>(W.rows()), Rational(1)), {}};
  norm.center.assign(center.begin(), center.end());
  for (Eigen::Index r = 0; r < W.rows(); ++r) {
    norm.W.emplace_back();
    for (Eigen::Index j = 0; j < W.cols(); ++j) norm.W.back().emplace_back(W(r, j));
  }
  return norm;
}

}  // namespace

BlockNearest nearest_of_all(const Mlcp& problem, const Matrix& W, const Vector& center,
                            long budget) {
  const SolutionSet set = enumerate(problem, {.max_nodes = budget});
  BlockNearest result{.finished = set.complete, .nodes = set.nodes};
  if (!set.complete) return result;
  const AlgebraicProblem<Rational> exact(problem);
  const ExactNorm norm = exactly(W, center);
  std::optional<ExactNearest> least;
  Mode mode;
  for (const Piece& piece : pieces(set, std::numeric_limits<long>::max())) {
    bool overflow = false;
    const Generators<Rational> all = exact_generators(exact, piece.modes.front(), overflow);
    result.finished = result.finished && !overflow;
    if (overflow) continue;
    ExactNearest candidate = exact_nearest(all, norm);
    if (least && candidate.square >= least->square) continue;
    least = std::move(candidate);
    mode = piece.modes.front();
  }
  result.found = least.has_value();
  if (!least) return result;
  result.norm = root(least->square);
  result.bound = result.finished ? std::nextafter(result.norm, 0) : 0;
  result.solution = {Vector(problem.p()), Vector(problem.m()), {}, mode};
  for (int j = 0; j < problem.p(); ++j)
    result.solution.u[j] = to_double(least->y[static_cast<std::size_t>(j)]);
  for (int j = 0; j < problem.m(); ++j)
    result.solution.lambda[j] = to_double(least->y[static_cast<std::size_t>(problem.p() + j)]);
  return result;
}

}  // namespace perp
