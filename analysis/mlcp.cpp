// All solutions of one complementarity problem, its independent blocks put together.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/mlcp.hpp>
#include <perp/core/base/error.hpp>

namespace perp {
namespace {

constexpr double most_modes_with_fractions = 4096;  // fractions are written up to here, and
constexpr int most_unknowns_with_fractions = 24;    // beyond where they are asked for
constexpr long most_pieces = 100'000;

bool are_doubles(const WholePiece& piece) {
  return std::all_of(piece.vertices.begin(), piece.vertices.end(), [](const auto& vertex) {
    return std::all_of(vertex.begin(), vertex.end(), [](double v) { return std::isfinite(v); });
  });
}

/// The letters L, F, U, X of each mode of a piece, at the block's places.
std::vector<std::string> active_sets(const Mlcp& problem, const Block& block, const Piece& piece) {
  std::vector<std::string> sets;
  for (const Mode& mode : piece.modes) {
    std::string letters;
    for (std::size_t i = 0; i < mode.size(); ++i)
      letters +=
          active_set_letter(problem.laws[static_cast<std::size_t>(block.lambda[i])], mode[i]);
    sets.push_back(letters);
  }
  return sets;
}

/// Puts the pieces of the blocks together, one after the other.
class Product {
 public:
  Product(const Mlcp& problem, const SolutionSet& set, const Fractions* fractions)
      : problem_(problem), set_(set), fractions_(fractions) {}

  std::vector<WholePiece> operator()() {
    const auto total = static_cast<std::size_t>(problem_.p() + problem_.m());
    WholePiece start;
    start.active_sets.emplace_back(static_cast<std::size_t>(problem_.m()), '?');
    start.vertices.emplace_back(total, 0.0);
    start.exact_vertices.emplace_back(total, "0");
    std::vector<WholePiece> pieces{start};
    for (std::size_t b = 0; b < set_.blocks.size(); ++b) {
      std::vector<WholePiece> next;
      for (const WholePiece& whole : pieces)
        for (std::size_t k = 0; k < set_.blocks[b].pieces.size(); ++k) {
          if (static_cast<long>(next.size()) >= most_pieces)
            throw InvalidInput(fmt::format(
                "the solution set has more than {} pieces, too many to write", most_pieces));
          next.push_back(joined(whole, b, k));
        }
      pieces = std::move(next);
    }
    return pieces;
  }

 private:
  WholePiece joined(const WholePiece& whole, std::size_t b, std::size_t k) const {
    const Block& block = set_.blocks[b];
    const Piece& piece = block.pieces[k];
    WholePiece result;
    result.dimension = whole.dimension + piece.dimension;
    for (const std::string& outer : whole.active_sets)
      for (const std::string& inner : active_sets(problem_, block, piece)) {
        result.active_sets.push_back(outer);
        for (std::size_t i = 0; i < inner.size(); ++i)
          result.active_sets.back()[static_cast<std::size_t>(block.lambda[i])] = inner[i];
      }
    for (std::size_t v = 0; v < whole.vertices.size(); ++v)
      for (Eigen::Index c = 0; c < piece.vertices.cols(); ++c) {
        result.vertices.push_back(whole.vertices[v]);
        place(block, piece.vertices.col(c), result.vertices.back());
        if (fractions_ == nullptr) continue;
        result.exact_vertices.push_back(whole.exact_vertices[v]);
        const auto& exact = (*fractions_)[b][k][static_cast<std::size_t>(c)];
        for (std::size_t j = 0; j < exact.size(); ++j)
          result.exact_vertices.back()[coordinate(block, j)] = exact[j];
      }
    result.rays = directions(whole.rays, block, piece.rays);
    result.lines = directions(whole.lines, block, piece.lines);
    return result;
  }

  /// Where coordinate j of a block stands in (u, λ) of the whole problem.
  [[nodiscard]] std::size_t coordinate(const Block& block, std::size_t j) const {
    const std::size_t inner = block.u.size();
    return j < inner ? static_cast<std::size_t>(block.u[j])
                     : static_cast<std::size_t>(problem_.p() + block.lambda[j - inner]);
  }

  void place(const Block& block, const Eigen::Ref<const Vector>& from,
             std::vector<double>& to) const {
    for (Eigen::Index j = 0; j < from.size(); ++j)
      to[coordinate(block, static_cast<std::size_t>(j))] = from[j] == 0 ? 0.0 : from[j];
  }

  [[nodiscard]] std::vector<std::vector<double>> directions(std::vector<std::vector<double>> list,
                                                            const Block& block,
                                                            const Matrix& columns) const {
    for (Eigen::Index c = 0; c < columns.cols(); ++c) {
      list.emplace_back(static_cast<std::size_t>(problem_.p() + problem_.m()), 0.0);
      place(block, columns.col(c), list.back());
    }
    return list;
  }

  const Mlcp& problem_;
  const SolutionSet& set_;
  const Fractions* fractions_;
};

bool is_small(const Mlcp& problem) {
  double modes = 1;
  for (const Law& law : problem.laws) modes *= static_cast<double>(law.branches.size());
  return modes <= most_modes_with_fractions &&
         problem.p() + problem.m() <= most_unknowns_with_fractions;
}

/// The least norm over the set, from its exact generators.
std::optional<ExactMinimum> minimum_of(const Mlcp& problem, const SolutionSet& set,
                                       const WeightedNorm& norm) {
  std::vector<Mode> modes;
  for (Piece& piece : pieces(set, most_pieces)) modes.push_back(std::move(piece.modes.front()));
  return exact_minimum(problem, modes, norm);
}

/// `is_written`: its numbers are those that are written.
Status status_of(const SolutionSet& set, bool is_written) {
  if (!set.complete) return Status::not_enumerated;
  if (multiplicity(set) == Multiplicity::none) return Status::no_solution;
  return is_written ? Status::solved : Status::not_solved;
}

}  // namespace

MlcpAnswer all_solutions(const Mlcp& problem, const EnumerateOptions& limits,
                         VertexArithmetic arithmetic, const WeightedNorm* weighted_norm) {
  MlcpAnswer answer;
  answer.is_exact = arithmetic == VertexArithmetic::rational ||
                    (arithmetic == VertexArithmetic::by_size && is_small(problem));
  Fractions fractions;
  answer.set =
      answer.is_exact ? enumerate_exact(problem, limits, &fractions) : enumerate(problem, limits);
  answer.pieces = Product(problem, answer.set, answer.is_exact ? &fractions : nullptr)();
  const bool is_written =
      answer.is_exact || std::all_of(answer.pieces.begin(), answer.pieces.end(), are_doubles);
  if (weighted_norm != nullptr) answer.minimum = minimum_of(problem, answer.set, *weighted_norm);
  answer.status = status_of(answer.set, is_written);
  return answer;
}

Norm euclidean_norm(const Mlcp& problem) {
  const int n = problem.p() + problem.m(), rows = problem.p() > 0 ? problem.p() : n;
  Norm norm{Matrix::Zero(rows, n), Vector::Zero(n)};
  norm.W.leftCols(rows).setIdentity();
  return norm;
}

std::string active_set(const Mlcp& problem, const Mode& mode) {
  std::string letters;
  for (std::size_t i = 0; i < mode.size(); ++i)
    letters += active_set_letter(problem.laws[i], mode[i]);
  return letters;
}

}  // namespace perp
