#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/exact/decided_sign.hpp>
#include <perp/lcp/exact/exact_norm.hpp>
#include <perp/lcp/exact/exact_pieces.hpp>
#include <perp/lcp/nearest/nearest_of_all.hpp>

namespace perp {
namespace {

/// ‖W (y - center)‖² of a piece: of a point, whose coordinates are known to an ulp, with a bound of its
/// error; of a continuum anything from 0 on.
Bounded<double> square_of(const Piece& piece, const Matrix& W, const Vector& center) {
  if (piece.dimension > 0) return {0, inf};
  Bounded<double> square;
  for (Eigen::Index r = 0; r < W.rows(); ++r) {
    Bounded<double> sum;
    for (Eigen::Index j = 0; j < W.cols(); ++j) {
      if (W(r, j) == 0) continue;
      const double y = piece.vertices(j, 0), ulp = 2 * unit_roundoff * std::abs(y);
      subtract_product(sum, Bounded<double>(W(r, j)),
                       Bounded<double>(center[j]) - Bounded<double>(y, bounded::up(ulp)));
    }
    square = square + sum * sum;
  }
  return square;
}

/// The pieces that may hold the nearest point, in their order.
std::vector<Piece> candidates(std::vector<Piece> all, const Matrix& W, const Vector& center) {
  std::vector<Bounded<double>> squares;
  double least = inf;  // surely not below the least square
  for (const Piece& piece : all) {
    squares.push_back(square_of(piece, W, center));
    const double most = bounded::up(squares.back().value + squares.back().error);
    if (most < least) least = most;
  }
  std::vector<Piece> left;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (!(squares[k].value - 2 * squares[k].error > least)) left.push_back(std::move(all[k]));
  return left;
}

/// A point y = (u, λ) of a mode in doubles.
Solution solution_at(const Mlcp& problem, const std::vector<Rational>& y, const Mode& mode) {
  Solution solution{Vector(problem.p()), Vector(problem.m()), {}, mode};
  for (int j = 0; j < problem.p(); ++j)
    solution.u[j] = to_double(y[static_cast<std::size_t>(j)]);
  for (int j = 0; j < problem.m(); ++j)
    solution.lambda[j] = to_double(y[static_cast<std::size_t>(problem.p() + j)]);
  return solution;
}

}  // namespace

BlockNearest nearest_of_all(const Mlcp& problem, const Matrix& W, const Vector& center,
                            long budget) {
  const SolutionSet set = enumerate(problem, {.max_nodes = budget});
  BlockNearest result{.finished = set.complete, .nodes = set.nodes};
  if (!set.complete) return result;
  const AlgebraicProblem<Rational> exact(problem);
  const ExactNorm norm = ExactNorm::of(W, center);
  std::optional<ExactNearest> least;
  Mode mode;
  for (const Piece& piece :
       candidates(pieces(set, std::numeric_limits<long>::max()), W, center)) {
    bool overflow = false;
    const Generators<Rational> all = exact_generators(exact, piece.modes.front(), overflow);
    if (overflow) {
      result.finished = false;
      continue;
    }
    ExactNearest candidate = exact_nearest(all, norm);
    if (least && candidate.square >= least->square) continue;
    least = std::move(candidate);
    mode = piece.modes.front();
  }
  result.found = least.has_value();
  if (!least) return result;
  result.norm = root(least->square);
  result.bound = result.finished ? std::nextafter(result.norm, 0) : 0;
  result.solution = solution_at(problem, least->y, mode);
  return result;
}

}  // namespace perp
