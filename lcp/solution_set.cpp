#include <fmt/format.h>
#include <algorithm>
#include <limits>

#include <perp/core/base/error.hpp>
#include <perp/lcp/solution_set.hpp>

namespace perp {
namespace {

constexpr long saturated = std::numeric_limits<long>::max();

long product(long a, long b) {
  if (a == 0 || b == 0) return 0;
  return a > saturated / b ? saturated : a * b;
}

Multiplicity classify(long count) {
  if (count < 0) return Multiplicity::continuum;
  if (count == 0) return Multiplicity::none;
  return count == 1 ? Multiplicity::unique : Multiplicity::finite;
}

/// Product of the blocks' counts: 0 wins over a continuum.
template <class Count>
long count_blocks(const SolutionSet& set, Count&& count) {
  long total = 1;
  bool continuum = false;
  for (const Block& block : set.blocks) {
    const long factor = count(block);
    if (factor == 0) return 0;
    if (factor < 0)
      continuum = true;
    else
      total = product(total, factor);
  }
  return continuum ? -1 : total;
}

/// Writes the generators of one block's piece beside those of the whole, at the block's
/// coordinates.
Matrix spread(const Matrix& part, const std::vector<int>& place, Eigen::Index n) {
  Matrix whole = Matrix::Zero(n, part.cols());
  for (Eigen::Index i = 0; i < part.rows(); ++i)
    whole.row(place[static_cast<std::size_t>(i)]) = part.row(i);
  return whole;
}

Matrix beside(const Matrix& left, const Matrix& right) {
  Matrix both(left.rows(), left.cols() + right.cols());
  both << left, right;
  return both;
}

/// Every sum of a column of one and a column of the other.
Matrix sums(const Matrix& left, const Matrix& right) {
  Matrix all(left.rows(), left.cols() * right.cols());
  for (Eigen::Index i = 0; i < left.cols(); ++i)
    for (Eigen::Index j = 0; j < right.cols(); ++j)
      all.col(i * right.cols() + j) = left.col(i) + right.col(j);
  return all;
}

/// Beyond this number the modes of a product are not listed.
constexpr std::size_t mode_limit = 4096;

std::vector<Mode> products(const std::vector<Mode>& left, const std::vector<Mode>& right,
                           const std::vector<int>& place) {
  std::vector<Mode> all;
  for (const Mode& a : left)
    for (const Mode& b : right) {
      if (all.size() == mode_limit) return all;
      all.push_back(a);
      for (std::size_t i = 0; i < place.size(); ++i)
        all.back()[static_cast<std::size_t>(place[i])] = b[i];
    }
  return all;
}

/// Between which the λ of a law are, those of a branch with b ≠ 0 taken at c/b.
Range range_of_lambda(const Law& law) {
  Range all{inf, -inf};
  for (const Branch& branch : law.branches) {
    const Range own =
        branch.b == 0 ? branch.lambda : Range{branch.c / branch.b, branch.c / branch.b};
    all.lower = std::min(all.lower, own.lower);
    all.upper = std::max(all.upper, own.upper);
  }
  return all;
}

/// The letter of a branch λ = c/b of a law with these λ.
char letter_of_level(const Branch& level, const Range& all) {
  const double value = level.c / level.b;
  if (level.w == Range{0, inf} && value == all.lower) return 'L';
  if (level.w == Range{-inf, 0} && value == all.upper) return 'U';
  return level.w == Range{} ? 'X' : '?';
}

}  // namespace

Multiplicity multiplicity(const SolutionSet& set) { return classify(count(set)); }

Multiplicity multiplicity_of_u(const SolutionSet& set) { return classify(count_of_u(set)); }

long count(const SolutionSet& set) {
  return count_blocks(set, [](const Block& block) {
    const bool continuum = std::any_of(block.pieces.begin(), block.pieces.end(),
                                       [](const Piece& piece) { return piece.dimension > 0; });
    return continuum ? -1 : static_cast<long>(block.pieces.size());
  });
}

long count_of_u(const SolutionSet& set) {
  if (set.p == 0) return count(set);
  return count_blocks(set, [](const Block& block) { return block.different_u; });
}

char active_set_letter(const Law& law, int branch) {
  const Branch& piece = law.branches.at(static_cast<std::size_t>(branch));
  if (piece.b == 0) return piece.c == 0 ? 'F' : '?';
  if (piece.a != 0) return '?';
  return letter_of_level(piece, range_of_lambda(law));
}

std::vector<Piece> pieces(const SolutionSet& set, long limit) {
  const Eigen::Index n = set.p + set.m;
  std::vector<Piece> whole;
  if (limit <= 0) return whole;
  whole.push_back({{Mode(static_cast<std::size_t>(set.m), 0)},
                   0,
                   Matrix::Zero(n, 1),
                   Matrix(n, 0),
                   Matrix(n, 0)});
  for (const Block& block : set.blocks) {
    std::vector<int> place = block.u;
    for (const int i : block.lambda) place.push_back(set.p + i);
    std::vector<Piece> next;
    for (const Piece& left : whole)
      for (const Piece& right : block.pieces) {
        if (static_cast<long>(next.size()) == limit) break;
        next.push_back({products(left.modes, right.modes, block.lambda),
                        left.dimension + right.dimension,
                        sums(left.vertices, spread(right.vertices, place, n)),
                        beside(left.rays, spread(right.rays, place, n)),
                        beside(left.lines, spread(right.lines, place, n))});
        std::sort(next.back().modes.begin(), next.back().modes.end());
      }
    whole = std::move(next);
  }
  return whole;
}

void validate(const Norm& norm, const Mlcp& problem) {
  const int n = problem.p() + problem.m();
  if (norm.W.cols() != n)
    throw InvalidInput(fmt::format("norm: W must have {} columns but has {}", n, norm.W.cols()));
  if (norm.center.size() != n)
    throw InvalidInput(
        fmt::format("norm: center must have {} entries but has {}", n, norm.center.size()));
  if (!norm.W.allFinite() || !norm.center.allFinite())
    throw InvalidInput("norm: W and center must be finite");
}

}  // namespace perp
