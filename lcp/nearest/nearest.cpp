#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/linear/least_squares.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/nearest/least_norm.hpp>
#include <perp/lcp/polyhedra/mode_polyhedron.hpp>
#include <perp/lcp/refine.hpp>
#include <perp/lcp/residual_gate.hpp>
#include <perp/lcp/solution_set.hpp>
#include <perp/lcp/structure/coupled_blocks.hpp>

namespace perp {
namespace {

using Real = long double;

constexpr double tie_tolerance = 1e-12;        // two norms this near, relatively, are equal
constexpr std::size_t minimiser_limit = 1000;  // minimisers that are listed

/// One minimiser within a group, in the group's coordinates.
struct Candidate {
  Vector y;
  Mode mode;
  bool in_present = false;
  double norm = 0;
};

/// The nearest points of one group.
class GroupSearch {
 public:
  GroupSearch(const Mlcp& problem, const CoupledBlocks& group, const Norm& norm,
              const Mode* present)
      : block_(group.block),
        problem_(subproblem(problem, group.block)),
        has_present_(present != nullptr) {
    const std::vector<int> indices = coordinates(block_, problem.p());
    const Scaling scaling = equilibrate(problem_);
    unit_.resize(static_cast<Eigen::Index>(indices.size()));
    unit_ << scaling.u_scale, scaling.lambda_scale;
    scaled_problem_ = scaled(problem_, scaling);
    W_ = norm.W(Eigen::all, indices) * unit_.asDiagonal();
    center_ = norm.center(indices).cwiseQuotient(unit_);
    if (!has_present_) return;
    for (const int i : block_.lambda) present_.push_back((*present)[static_cast<std::size_t>(i)]);
    restricted_ = problem_;
    for (std::size_t i = 0; i < present_.size(); ++i) {
      Law& law = restricted_.laws[i];
      law.branches = {law.branches.at(static_cast<std::size_t>(present_[i]))};
    }
  }

  /// All minimisers, the preferred one first. False if an iteration limit was met.
  bool run(std::vector<Candidate>& minimisers) {
    double least = inf;
    for (const Piece& piece : block_.pieces) {
      Candidate candidate;
      if (!minimise(piece, least, candidate)) return false;
      if (candidate.y.size() != unit_.size()) continue;
      least = std::min(least, candidate.norm);
      minimisers.push_back(std::move(candidate));
    }
    std::erase_if(minimisers, [&](const Candidate& other) { return !tied(other.norm, least); });
    for (Candidate& candidate : minimisers) candidate.in_present = lies_in_present(candidate.y);
    for (Candidate& candidate : minimisers)
      if (candidate.in_present) candidate.mode = present_;
    std::sort(minimisers.begin(), minimisers.end(), [](const Candidate& a, const Candidate& b) {
      return a.in_present != b.in_present ? a.in_present : a.mode < b.mode;
    });
    remove_duplicates(minimisers);
    return true;
  }

 private:
  /// Nearest point of a piece, if it can compete with `least`.
  bool minimise(const Piece& piece, double least, Candidate& candidate) const {
    const Eigen::Index n = unit_.size();
    RealMatrix vertices = over_unit(piece.vertices), rays = over_unit(piece.rays),
               lines = over_unit(piece.lines);
    candidate.mode = *std::min_element(piece.modes.begin(), piece.modes.end());
    RealMatrix W = W_.cast<Real>();
    RealVector center = center_.cast<Real>();
    LeastNorm nearest = least_norm(vertices, rays, lines, W, center);
    if (!nearest.converged) return false;
    candidate.norm = static_cast<double>(nearest.norm);
    if (candidate.norm > least && !tied(candidate.norm, least)) return true;
    // Directions that the norm does not see: first nearest in all u, then least λ.
    for (int stage = 0; stage < 2 && !determined(vertices, rays, lines, W); ++stage) {
      if (!cut(candidate.mode, W, nearest.y, vertices, rays, lines)) break;
      const Eigen::Index p = problem_.p(), first = stage == 0 ? 0 : p,
                         count = stage == 0 ? p : n - p;
      W = RealMatrix::Zero(count, n);
      for (Eigen::Index i = 0; i < count; ++i)
        W(i, first + i) = static_cast<Real>(unit_[first + i]);
      if (stage == 1) center.setZero();
      nearest = least_norm(vertices, rays, lines, W, center);
      if (!nearest.converged) return false;
    }
    candidate.y = nearest.y.cast<double>().cwiseProduct(unit_);
    return true;
  }

  [[nodiscard]] RealMatrix over_unit(const Matrix& points) const {
    const Matrix result = unit_.cwiseInverse().asDiagonal() * points;  // powers of two: exact
    return result.cast<Real>();
  }

  /// Are all directions of the polyhedron seen by W?
  static bool determined(const RealMatrix& vertices, const RealMatrix& rays,
                         const RealMatrix& lines, const RealMatrix& W) {
    RealMatrix directions(vertices.rows(), vertices.cols() - 1 + rays.cols() + lines.cols());
    if (directions.cols() == 0) return true;
    directions << vertices.rightCols(vertices.cols() - 1).colwise() - vertices.col(0), rays, lines;
    for (Eigen::Index k = 0; k < directions.cols(); ++k)
      if (const Real size = directions.col(k).norm(); size > 0) directions.col(k) /= size;
    RealMatrix rows = W;
    for (Eigen::Index r = 0; r < rows.rows(); ++r)
      if (const Real size = rows.row(r).norm(); size > 0) rows.row(r) /= size;
    const auto rank = [](const RealMatrix& matrix) {
      return linear::rank_qr(matrix, 1e-11L);
    };
    return rank(rows * directions) == rank(directions);
  }

  /// Replaces the generators by those of the part where W y has the value that it has at `point`.
  /// False if that part is lost by rounding; the generators are then unchanged.
  bool cut(const Mode& mode, const RealMatrix& W, const RealVector& point, RealMatrix& vertices,
           RealMatrix& rays, RealMatrix& lines) const {
    using Points = std::vector<std::vector<Real>>;
    const AlgebraicProblem<Real> problem(scaled_problem_);
    Points all_rays, all_lines;
    std::vector<std::vector<bool>> on_row;
    int rows = 0;
    const auto homogeneous = [&](const RealMatrix& points, Real tau, Points& list) {
      for (Eigen::Index k = 0; k < points.cols(); ++k) {
        list.emplace_back(points.col(k).begin(), points.col(k).end());
        list.back().push_back(tau);
        if (&list == &all_rays) on_row.push_back(active_rows(problem, mode, list.back(), rows));
        Arithmetic<Real>::normalise(list.back());
      }
    };
    homogeneous(vertices, 1, all_rays);
    homogeneous(rays, 0, all_rays);
    homogeneous(lines, 0, all_lines);
    DoubleDescription<Real> cone(std::move(all_lines), std::move(all_rays), on_row, rows,
                                 generator_limit);
    for (Eigen::Index r = 0; r < W.rows(); ++r)
      for (const Real sign : {1.0L, -1.0L}) {
        std::vector<Real> row;
        for (Eigen::Index j = 0; j < W.cols(); ++j) row.push_back(sign * W(r, j));
        row.push_back(-sign * W.row(r).dot(point));
        if (!cone.insert(std::move(row))) return false;
      }
    const Generators<Real> part = dehomogenise(cone);
    if (part.vertices.empty()) return false;
    const auto to_matrix = [&](const Points& points, RealMatrix& matrix) {
      matrix.resize(unit_.size(), static_cast<Eigen::Index>(points.size()));
      for (std::size_t k = 0; k < points.size(); ++k)
        for (Eigen::Index j = 0; j < unit_.size(); ++j)
          matrix(j, static_cast<Eigen::Index>(k)) = points[k][static_cast<std::size_t>(j)];
    };
    to_matrix(part.vertices, vertices);
    to_matrix(part.rays, rays);
    to_matrix(part.lines, lines);
    return true;
  }

  /// Which ends of the mode's ranges the homogeneous generator lies on (τ ≥ 0 is one of them).
  static std::vector<bool> active_rows(const AlgebraicProblem<Real>& problem, const Mode& mode,
                                       const std::vector<Real>& z, int& rows) {
    std::vector<Real> y(z.begin(), z.end() - 1);
    const Real tau = z.back();
    Real leak = 1;
    for (const Real value : y) leak = std::max(leak, std::abs(value));
    leak *= static_cast<Real>(size_leak);
    std::vector<bool> active{tau == 0};
    const auto ends = [&](const Interval<Real>& range, Real value, Real size) {
      for (const std::optional<Real>& end : {range.lower, range.upper})
        if (end)
          active.push_back(Arithmetic<Real>::vanishes(value - *end * tau, 8 * (size + leak)));
    };
    for (int i = 0; i < problem.m; ++i) {
      const LawBranch<Real>& branch = problem.branch(mode, i);
      const Real lambda = y[static_cast<std::size_t>(problem.p + i)];
      const Sum<Real> w = output(problem, i, y, tau == 0);
      if (branch.b != 0) ends(branch.w, w.value, w.size);
      if (branch.a != 0) ends(branch.lambda, lambda, std::abs(lambda));
    }
    rows = static_cast<int>(active.size());
    return active;
  }

  [[nodiscard]] bool lies_in_present(const Vector& y) const {
    // a block without laws has no mode to be in, and `restricted_` may not even have been made
    if (present_.empty() || present_.size() != block_.lambda.size()) return false;
    return residual(restricted_, y.head(problem_.p()), y.tail(problem_.m())) <= solution_tolerance;
  }

  /// Norms are equal to rounding, relative or beside the size of the numbers they are made of.
  [[nodiscard]] bool tied(double a, double b) const {
    const double floor = 1e-14 * (W_.cwiseAbs() * center_.cwiseAbs()).norm();
    return std::abs(a - b) <= tie_tolerance * std::max(a, b) + floor;
  }

  void remove_duplicates(std::vector<Candidate>& minimisers) const {
    std::vector<Candidate> different;
    for (Candidate& candidate : minimisers) {
      const Vector y = candidate.y.cwiseQuotient(unit_);
      // In the units of the equilibrated problem, whose entries are near 1, so that 1 is a natural size.
      const double size = std::max(1.0, y.cwiseAbs().maxCoeff());
      const bool repeated =
          std::any_of(different.begin(), different.end(), [&](const Candidate& other) {
            return (other.y.cwiseQuotient(unit_) - y).cwiseAbs().maxCoeff() <=
                   8 * solution_tolerance * size;
          });
      if (!repeated) different.push_back(std::move(candidate));
      if (different.size() == minimiser_limit) break;
    }
    minimisers = std::move(different);
  }

  const Block& block_;
  Mlcp problem_;
  bool has_present_;
  Mlcp scaled_problem_;
  Mlcp restricted_;  // to the present mode; empty without one
  Mode present_;
  Vector unit_;
  Matrix W_;  // of scaled unknowns
  Vector center_;
};

void check(const Mlcp& problem, const SolutionSet& set, const Norm& norm, const Mode* present) {
  validate(problem);
  if (set.p != problem.p() || set.m != problem.m())
    throw InvalidInput(
        fmt::format("solution set must be of a problem with p = {}, m = {} but has {}, {}",
                    problem.p(), problem.m(), set.p, set.m));
  validate(norm, problem);
  if (present == nullptr) return;
  if (present->size() != problem.laws.size())
    throw InvalidInput(fmt::format("present mode must have {} entries but has {}",
                                   problem.laws.size(), present->size()));
  for (std::size_t i = 0; i < present->size(); ++i)
    if ((*present)[i] < 0 || (*present)[i] >= static_cast<int>(problem.laws[i].branches.size()))
      throw InvalidInput(
          fmt::format("present mode: law {} has no branch {}", i + 1, (*present)[i]));
}

/// The product of the groups' minimisers, the product of the first ones first.
std::vector<Solution> assemble(const Mlcp& problem, const std::vector<CoupledBlocks>& groups,
                               const std::vector<std::vector<Candidate>>& minimisers) {
  const auto count = static_cast<std::size_t>(problem.m());
  std::vector<Solution> solutions{{.u = Vector::Zero(problem.p()),
                                   .lambda = Vector::Zero(problem.m()),
                                   .w = {},
                                   .mode = Mode(count, 0)}};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Block& block = groups[g].block;
    std::vector<Solution> next;
    for (const Solution& partial : solutions)
      for (const Candidate& candidate : minimisers[g]) {
        if (next.size() == minimiser_limit) break;
        next.push_back(partial);
        next.back().u(block.u) = candidate.y.head(static_cast<Eigen::Index>(block.u.size()));
        next.back().lambda(block.lambda) =
            candidate.y.tail(static_cast<Eigen::Index>(block.lambda.size()));
        for (std::size_t i = 0; i < block.lambda.size(); ++i)
          next.back().mode[static_cast<std::size_t>(block.lambda[i])] = candidate.mode[i];
      }
    solutions = std::move(next);
  }
  const Scaling scaling = equilibrate(problem);
  for (Solution& solution : solutions) {
    // A combination of vertices has the rounding of the largest of them.
    if (!(misfit(problem, solution.u, solution.lambda) <= misfit_limit))
      solution = refined(problem, solution.u, solution.lambda, solution.mode);
    solution.w = output(problem, solution.u, solution.lambda);
    solution.residual = residual(problem, scaling, solution.u, solution.lambda);
  }
  return solutions;
}

}  // namespace

Nearest nearest(const Mlcp& problem, const SolutionSet& set, const Norm& norm,
                const Mode* present) {
  check(problem, set, norm, present);
  Nearest result;
  for (const Block& block : set.blocks)
    if (block.pieces.empty()) {
      result.status = set.complete ? Status::no_solution : Status::not_enumerated;
      result.message = set.complete ? "the problem has no solution" : set.certificate;
      return result;
    }
  std::vector<CoupledBlocks> groups = coupled_blocks(set, norm.W);
  std::vector<std::vector<Candidate>> minimisers(groups.size());
  double squares = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!combine_pieces(set, groups[g])) {
      result.status = Status::not_enumerated;
      result.message = fmt::format("the norm couples {} blocks with more than {} pieces together",
                                   groups[g].members.size(), coupled_piece_limit);
      return result;
    }
    if (!GroupSearch(problem, groups[g], norm, present).run(minimisers[g])) {
      result.status = Status::not_solved;
      result.message = "the search for the nearest point met its iteration limit";
      return result;
    }
    squares += minimisers[g][0].norm * minimisers[g][0].norm;
  }
  result.norm = std::sqrt(squares);
  result.minimisers = assemble(problem, groups, minimisers);
  if (!(result.minimisers[0].residual <= solution_tolerance)) {
    result.status = Status::not_solved;
    result.message =
        fmt::format("the nearest point has the residual {:.3g}", result.minimisers[0].residual);
    return result;
  }
  result.status = set.complete ? Status::solved : Status::not_enumerated;
  if (!set.complete) result.message = "nearest of the solutions found; " + set.certificate;
  return result;
}

}  // namespace perp
