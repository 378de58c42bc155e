#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include <perp/lcp/exact/exact_pieces.hpp>

namespace perp {
namespace {

using Points = std::vector<std::vector<Rational>>;

Matrix rounded(const Points& points, Eigen::Index n) {
  Matrix matrix(n, static_cast<Eigen::Index>(points.size()));
  for (std::size_t k = 0; k < points.size(); ++k)
    for (Eigen::Index i = 0; i < n; ++i)
      matrix(i, static_cast<Eigen::Index>(k)) = to_double(points[k][static_cast<std::size_t>(i)]);
  return matrix;
}

void sort_all(Generators<Rational>& generators) {
  for (Points* list : {&generators.vertices, &generators.rays, &generators.lines})
    std::sort(list->begin(), list->end());
}

/// The different u of a block's solutions.
class DifferentU {
 public:
  DifferentU(const Mlcp& problem, const std::vector<Piece>& pieces)
      : problem_(problem), pieces_(pieces), p_(problem.p()), exact_(pieces.size()) {
    mix_coordinates();
  }

  long count() {
    for (std::size_t k = 0; k < pieces_.size(); ++k)
      if (pieces_[k].dimension > 0 && !has_one_u(k)) return -1;
    std::vector<std::size_t> order(pieces_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return mixed_[a] < mixed_[b]; });
    long different = 0;
    for (std::size_t i = 0; i < order.size(); ++i) different += is_repeated(order, i) ? 0 : 1;
    return different;
  }

 private:
  /// Coordinates are right to at least 30 bits.
  static bool surely_differ(double a, double b) {
    return std::abs(a - b) > 0x1p-28 * std::max(std::abs(a), std::abs(b));
  }
  /// One number for each u, equal for equal ones to `mixed_error_`: a sum of its coordinates, each in
  /// units of the largest one among the pieces, with weights that cancel by chance alone.
  void mix_coordinates() {
    Vector largest = Vector::Zero(p_);
    for (const Piece& piece : pieces_)
      largest = largest.cwiseMax(piece.vertices.col(0).head(p_).cwiseAbs());
    mixed_.assign(pieces_.size(), 0);
    double weight = 1, terms = 0;
    for (int j = 0; j < p_; ++j) {
      weight = 1 + std::fmod(weight * 1.618033988749895, 1.0);
      if (largest[j] == 0 || !std::isfinite(largest[j])) continue;
      terms += weight;
      for (std::size_t k = 0; k < pieces_.size(); ++k)
        mixed_[k] += weight * (u(k, j) / largest[j]);
    }
    mixed_error_ = 0x1p-27 * terms;
  }

  [[nodiscard]] double u(std::size_t piece, Eigen::Index j) const {
    return pieces_[piece].vertices(j, 0);
  }

  bool has_one_u(std::size_t piece) {
    const Generators<Rational>& all = exact(piece);
    const auto is_zero = [&](const std::vector<Rational>& direction) {
      return std::all_of(direction.begin(), direction.begin() + p_,
                         [](const Rational& value) { return value == 0; });
    };
    return std::all_of(all.rays.begin(), all.rays.end(), is_zero) &&
           std::all_of(all.lines.begin(), all.lines.end(), is_zero) &&
           std::all_of(all.vertices.begin(), all.vertices.end(), [&](const auto& vertex) {
             return std::equal(vertex.begin(), vertex.begin() + p_, all.vertices[0].begin());
           });
  }

  /// Has a piece before the i-th in this order the same u? Its mixed number is then not far below.
  bool is_repeated(const std::vector<std::size_t>& order, std::size_t i) {
    for (std::size_t j = i; j-- > 0;) {
      if (mixed_[order[i]] - mixed_[order[j]] > mixed_error_) return false;
      if (same(order[i], order[j])) return true;
    }
    return false;
  }

  bool same(std::size_t a, std::size_t b) {
    for (Eigen::Index j = 0; j < p_; ++j)
      if (surely_differ(u(a, j), u(b, j))) return false;
    const std::vector<Rational>& left = exact(a).vertices.at(0);
    const std::vector<Rational>& right = exact(b).vertices.at(0);
    return std::equal(left.begin(), left.begin() + p_, right.begin());
  }

  const Generators<Rational>& exact(std::size_t piece) {
    if (!algebraic_) algebraic_ = std::make_unique<AlgebraicProblem<Rational>>(problem_);
    Generators<Rational>& generators = exact_[piece];
    bool overflow = false;
    if (generators.vertices.empty())
      generators = exact_generators(*algebraic_, pieces_[piece].modes.front(), overflow);
    return generators;
  }

  const Mlcp& problem_;
  const std::vector<Piece>& pieces_;
  int p_;
  std::unique_ptr<AlgebraicProblem<Rational>> algebraic_;
  std::vector<Generators<Rational>> exact_;
  std::vector<double> mixed_;
  double mixed_error_ = 0;
};

}  // namespace

Generators<Rational> exact_generators(const AlgebraicProblem<Rational>& problem, const Mode& mode,
                                      bool& overflow, const Points& further) {
  Generators<Rational> generators =
      ModePolyhedron<Rational>(problem, generator_limit)(mode, overflow, further);
  if (!generators.vertices.empty()) reduce_by_lines(generators);
  sort_all(generators);
  return generators;
}

std::vector<ModalPiece<Rational>> exact_pieces(const AlgebraicProblem<Rational>& problem,
                                               const std::vector<Mode>& modes, bool& overflow) {
  PieceCollector<Rational> collector(problem);
  ModePolyhedron<Rational> solutions(problem, generator_limit);
  for (const Mode& mode : modes)
    if (Generators<Rational> all = solutions(mode, overflow); !all.vertices.empty())
      collector.add(mode, std::move(all));
  return collector.take();
}

void change_units(Generators<Rational>& generators, const std::vector<Rational>& unit) {
  for (Points* list : {&generators.vertices, &generators.rays, &generators.lines})
    for (std::vector<Rational>& point : *list) {
      for (std::size_t j = 0; j < point.size(); ++j) point[j] *= unit[j];
      if (list != &generators.vertices) Arithmetic<Rational>::normalise(point);
    }
  sort_all(generators);
}

Piece rounded(std::vector<Mode> modes, int dimension, const Generators<Rational>& generators) {
  const auto n = static_cast<Eigen::Index>(generators.vertices.front().size());
  return {std::move(modes), dimension, rounded(generators.vertices, n),
          rounded(generators.rays, n), rounded(generators.lines, n)};
}

long count_different_u(const Mlcp& problem, const std::vector<Piece>& pieces) {
  if (pieces.empty()) return 0;
  if (problem.p() == 0) return 1;
  return DifferentU(problem, pieces).count();
}

}  // namespace perp
