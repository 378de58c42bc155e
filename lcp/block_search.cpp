#include <algorithm>
#include <cmath>

#include <perp/lcp/block_search.hpp>
#include <perp/lcp/certificate.hpp>
#include <perp/lcp/maximal_pieces.hpp>
#include <perp/lcp/mode_tree.hpp>

namespace perp {
namespace {

using Real = long double;

constexpr std::size_t generator_limit = 20'000;  // of one mode's continuum
constexpr int fewest_for_uniqueness = 8;         // laws; below, the tree costs less than the proof
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

/// The search of one block by its tree of modes.
class BlockSearch {
 public:
  BlockSearch(const Mlcp& problem, const EnumerateOptions& options)
      : scaling_(equilibrate(problem)),
        problem_(scaled(problem, scaling_)),
        unit_(unit(scaling_)),
        algebraic_(problem_),
        tol_(options.tol),
        collector_(algebraic_),
        unique_(problem.m() >= fewest_for_uniqueness && has_at_most_one_solution(problem)) {}

  BlockFindings run(long budget, long room) {
    const double n = problem_.p() + problem_.m(), m = problem_.m();
    if (m * m * n * sizeof(double) / 2 > storage_limit) return std::move(result_);
    ModePolyhedron<Real> solutions(algebraic_, generator_limit);
    ModeTree tree(problem_);
    bool overflow = false;
    std::vector<Mode> meeting;  // of the only solution
    Mode known;
    const bool finished = tree.search(budget, [&](const Mode& mode) {
      const std::vector<Real> point = take(mode, solutions(mode, overflow), room);
      if (unique_ && !point.empty() && meeting_modes(point, room, meeting)) {
        known = mode;
        return false;
      }
      return result_.modes <= room;
    });
    for (const Mode& mode : meeting)
      if (mode != known) take(mode, solutions(mode, overflow), room);
    result_.unique = !meeting.empty();
    result_.finished = (finished || result_.unique) && !overflow && result_.modes <= room;
    result_.modes = std::min(result_.modes, room);
    result_.nodes = tree.nodes();
    result_.explored = result_.finished ? 1 : tree.explored();
    write_pieces();
    return std::move(result_);
  }

 private:
  /// Keeps the solutions of a mode, if it has any that pass and there is room; gives one of them.
  std::vector<Real> take(const Mode& mode, Generators<Real> generators, long room) {
    if (generators.vertices.empty()) return {};
    if (!passes(generators)) {
      rejected_.push_back(std::move(generators.vertices));
      return {};
    }
    std::vector<Real> point = generators.vertices.front();
    if (++result_.modes <= room) collector_.add(mode, std::move(generators));
    return point;
  }

  /// The modes whose branches all meet (w, λ) of a point. False if they are too many.
  bool meeting_modes(const std::vector<Real>& y, long room, std::vector<Mode>& modes) const {
    constexpr double near = 1e-8;  // candidates: each is solved for itself
    modes = {Mode{}};
    for (int i = 0; i < problem_.m(); ++i) {
      const auto w = static_cast<double>(output(algebraic_, i, y, false).value);
      const auto lambda = static_cast<double>(y[static_cast<std::size_t>(problem_.p() + i)]);
      const Law& law = problem_.laws[static_cast<std::size_t>(i)];
      const double size = 1 + std::abs(w) + std::abs(lambda);
      std::vector<Mode> longer;
      for (std::size_t branch = 0; branch < law.branches.size(); ++branch) {
        if (distance({law.name, {law.branches[branch]}}, w, lambda) > near * size) continue;
        for (const Mode& mode : modes) {
          longer.push_back(mode);
          longer.back().push_back(static_cast<int>(branch));
        }
      }
      modes = std::move(longer);
      if (static_cast<long>(modes.size()) > room) break;
    }
    if (static_cast<long>(modes.size()) > room) modes.clear();
    return !modes.empty();
  }

  /// The pieces in the units of the problem as given; what was rejected and is no neighbour of one.
  void write_pieces() {
    Vector unit_of(problem_.p() + problem_.m());
    unit_of << scaling_.u_scale, scaling_.lambda_scale;
    std::vector<ModalPiece<Real>> found = collector_.take();
    for (const auto& vertices : rejected_)
      result_.rejected +=
          !std::all_of(vertices.begin(), vertices.end(),
                       [&](const std::vector<Real>& y) { return is_among(y, found); });
    for (ModalPiece<Real>& piece : found) {
      auto& [vertices, rays, lines] = piece.generators;
      std::sort(vertices.begin(), vertices.end());
      std::sort(rays.begin(), rays.end());
      result_.pieces.push_back(
          {std::move(piece.modes), piece.dimension, unscaled(vertices, unit_of, Role::vertex),
           unscaled(rays, unit_of, Role::ray), unscaled(lines, unit_of, Role::line)});
    }
  }

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
  PieceCollector<Real> collector_;
  bool unique_;  ///< proved: there is at most one solution
  std::vector<std::vector<std::vector<Real>>> rejected_;
  BlockFindings result_;
};

}  // namespace

BlockFindings search_block(const Mlcp& block, const EnumerateOptions& options) {
  return BlockSearch(block, options).run(options.max_nodes, options.max_solutions);
}

}  // namespace perp
