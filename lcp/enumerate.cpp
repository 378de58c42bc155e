#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/lcp/enumerate.hpp>
#include <perp/lcp/maximal_pieces.hpp>
#include <perp/lcp/mode_tree.hpp>

namespace perp {
namespace {

using Real = long double;

constexpr std::size_t generator_limit = 20'000;  // of one mode's continuum
constexpr double storage_limit = 1e9;            // bytes, of the tableaus of one block

/// Unit scaling of a problem that is equilibrated already, with the components of the original.
Scaling unit(const Scaling& scaling) {
  Scaling ones = scaling;
  ones.u_scale.setOnes();
  ones.row_scale.setOnes();
  ones.lambda_scale.setOnes();
  ones.w_scale.setOnes();
  return ones;
}

/// The smallest multiple of a direction (largest entry 1) with integer entries up to 1000, or
/// itself.
void make_primitive(Vector& direction) {
  direction /= direction.cwiseAbs().maxCoeff();
  double smallest = 1;
  for (const double value : direction)
    if (value != 0) smallest = std::min(smallest, std::abs(value));
  for (int factor = 1; factor <= 1000; ++factor) {
    // the smallest entry must become an integer too: most factors are refused by this one test
    if (const double probe = factor * smallest; std::abs(probe - std::round(probe)) > 1e-9)
      continue;
    const Vector multiple = factor * direction;
    Vector rounded = multiple;
    for (double& value : rounded) value = std::round(value);
    const bool integer = ((multiple - rounded).cwiseAbs().array() <= 1e-12 * factor).all() &&
                         ((rounded.array() == 0) == (direction.array() == 0)).all();
    if (integer) {
      direction = rounded;
      return;
    }
  }
}

enum class Role { vertex, ray, line };

/// Generators of the scaled problem in the units of the original.
Matrix unscaled(const std::vector<std::vector<Real>>& points, const Vector& unit_of, Role role) {
  const Eigen::Index n = unit_of.size();
  Matrix matrix(n, static_cast<Eigen::Index>(points.size()));
  for (std::size_t k = 0; k < points.size(); ++k) {
    Vector point(n);
    for (Eigen::Index i = 0; i < n; ++i)
      point[i] = static_cast<double>(points[k][static_cast<std::size_t>(i)]) * unit_of[i] + 0.0;
    if (role != Role::vertex) make_primitive(point);
    if (role == Role::line) {
      const auto* first =
          std::find_if(point.data(), point.data() + n, [](double v) { return v != 0; });
      if (first != point.data() + n && *first < 0) point = -point;
    }
    matrix.col(static_cast<Eigen::Index>(k)) = point;
  }
  return matrix;
}

/// All solutions of one block.
class BlockSearch {
 public:
  BlockSearch(const Mlcp& problem, const EnumerateOptions& options)
      : scaling_(equilibrate(problem)),
        problem_(scaled(problem, scaling_)),
        unit_(unit(scaling_)),
        algebraic_(problem_),
        tol_(options.tol) {}

  /// Works on at most `budget` nodes and keeps at most `room` modes. False if a limit ended the
  /// search.
  bool run(long budget, long room, std::vector<Piece>& pieces) {
    const double n = problem_.p() + problem_.m(), m = problem_.m();
    if (m * m * n * sizeof(double) / 2 > storage_limit) return false;
    PieceCollector<Real> collector(algebraic_);
    ModePolyhedron<Real> solutions(algebraic_, generator_limit);
    ModeTree tree(problem_);
    std::vector<std::vector<std::vector<Real>>> rejected;
    bool overflow = false;
    const bool finished = tree.search(budget, [&](const Mode& mode) {
      Generators<Real> generators = solutions(mode, overflow);
      if (generators.vertices.empty()) return true;
      if (!passes(generators)) {
        rejected.push_back(std::move(generators.vertices));
        return true;
      }
      if (kept_ == room) return false;
      collector.add(mode, std::move(generators));
      ++kept_;
      return true;
    });
    nodes_ = tree.nodes();
    Vector unit_of(problem_.p() + problem_.m());
    unit_of << scaling_.u_scale, scaling_.lambda_scale;
    std::vector<ModalPiece<Real>> found = collector.take();
    for (const auto& vertices : rejected)
      rejected_ += !std::all_of(vertices.begin(), vertices.end(), [&](const std::vector<Real>& y) {
        return is_among(y, found);
      });
    for (ModalPiece<Real>& piece : found) {
      auto& [vertices, rays, lines] = piece.generators;
      std::sort(vertices.begin(), vertices.end());
      std::sort(rays.begin(), rays.end());
      pieces.push_back({std::move(piece.modes), piece.dimension,
                        unscaled(vertices, unit_of, Role::vertex),
                        unscaled(rays, unit_of, Role::ray), unscaled(lines, unit_of, Role::line)});
    }
    return finished && !overflow;
  }

  [[nodiscard]] long nodes() const { return nodes_; }
  [[nodiscard]] long kept() const { return kept_; }
  /// Modes that seemed to have solutions of their own which then missed the tolerance.
  [[nodiscard]] long rejected() const { return rejected_; }

 private:
  /// Nothing is a solution before the residual of every vertex passed.
  bool passes(const Generators<Real>& generators) const {
    Vector u(problem_.p()), lambda(problem_.m());
    for (const std::vector<Real>& y : generators.vertices) {
      for (int j = 0; j < u.size(); ++j) u[j] = static_cast<double>(y[static_cast<std::size_t>(j)]);
      for (int j = 0; j < lambda.size(); ++j)
        lambda[j] = static_cast<double>(y[static_cast<std::size_t>(u.size() + j)]);
      if (!(residual(problem_, unit_, u, lambda) <= tol_)) return false;
    }
    return true;
  }

  /// Is it a vertex of a piece that passed: a mode that ends next to the solution of another one?
  static bool is_among(const std::vector<Real>& y, const std::vector<ModalPiece<Real>>& pieces) {
    const auto near = [&](const std::vector<Real>& vertex) {
      Real size = 1, distance = 0;
      for (std::size_t j = 0; j < y.size(); ++j) {
        size = std::max(size, std::abs(vertex[j]));
        distance = std::max(distance, std::abs(y[j] - vertex[j]));
      }
      return distance <= static_cast<Real>(solution_tolerance) * size;
    };
    return std::any_of(pieces.begin(), pieces.end(), [&](const ModalPiece<Real>& piece) {
      return std::any_of(piece.generators.vertices.begin(), piece.generators.vertices.end(), near);
    });
  }

  Scaling scaling_;
  Mlcp problem_;
  Scaling unit_;
  AlgebraicProblem<Real> algebraic_;
  double tol_;
  long nodes_ = 0;
  long kept_ = 0;
  long rejected_ = 0;
};

}  // namespace

SolutionSet enumerate(const Mlcp& problem, const EnumerateOptions& options) {
  validate(problem);
  SolutionSet set;
  set.p = problem.p();
  set.m = problem.m();
  set.blocks = independent_blocks(problem);
  std::size_t finished = 0;
  long kept = 0, rejected = 0;
  for (Block& block : set.blocks) {
    BlockSearch search(subproblem(problem, block), options);
    if (search.run(options.max_nodes - set.nodes, options.max_solutions - kept, block.pieces))
      ++finished;
    set.nodes += search.nodes();
    kept += search.kept();
    rejected += search.rejected();
  }
  set.complete = finished == set.blocks.size() && rejected == 0;
  set.certificate =
      set.complete
          ? fmt::format("complete enumeration: {} laws in {} blocks, {} nodes", set.m,
                        set.blocks.size(), set.nodes)
          : fmt::format(
                "not complete: {} of {} blocks finished, {} nodes of at most {}, {} modes with "
                "solutions of at most {}",
                finished, set.blocks.size(), set.nodes, options.max_nodes, kept,
                options.max_solutions);
  if (rejected > 0)
    set.certificate += fmt::format("; points of {} modes miss the tolerance {}", rejected,
                                   options.tol);
  return set;
}

}  // namespace perp
