#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/nearest/law_rows.hpp>
#include <perp/lcp/nearest/nearest_of_all.hpp>
#include <perp/lcp/nearest/nearest_search.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/lcp/refine.hpp>

namespace perp {
namespace {

using Real = long double;

constexpr double gap = 1e-8;       // relative, between a solution and what is proved
constexpr double on_graph = 1e-6;  // (w, λ) this near to all laws are tried as a solution
constexpr double fewest_modes = 1024;  // below, all solutions cost less than the search
constexpr std::size_t nearest_storage = 1'000'000'000;  // bytes, of the tableaus of open nodes

/// Branch and bound over the laws of one block.
class NearestSearch {
 public:
  NearestSearch(const Mlcp& problem, Matrix W, Vector center, long budget, double tol)
      : given_(problem),
        W_(std::move(W)),
        center_(std::move(center)),
        scaling_(equilibrate(problem)),
        problem_(scaled(problem, scaling_)),
        algebraic_(problem_),
        rows_(problem_, algebraic_, units_of(scaling_), W_, center_),
        budget_(budget),
        tol_(tol) {}

  void run() {
    if (!rows_.consistent()) return;
    Node start{rows_.root_ranges(), NormRelaxation(rows_.rows()), Mode(at(problem_.m()), -1)};
    start.relaxation.make_nonbasic(rows_.first_of_norm());
    // Within a ball first: far solutions by weak couplings are many and hard to refute.
    Node root = start;
    root.bound = root.relaxation.bound(root.ranges);
    if (root.bound == inf) return;
    const double size = std::max(root.bound, 0x1p-6 * rows_.rows().a.norm());
    for (const double radius : {4 * size, 64 * size, 1024 * size, inf}) {
      if (radius == 0) continue;
      radius_ = std::min(radius, best_.norm);
      bound_ = inf;
      Node ball = start;
      rows_.keep_within(ball.ranges, radius_);
      ball.bound = ball.relaxation.bound(ball.ranges);
      finished_ = search(std::move(ball));
      if (!finished_ || best_.norm <= radius) return;  // else what is outside is not known yet
    }
  }

  [[nodiscard]] bool finished() const { return finished_ && exact_; }
  [[nodiscard]] bool found() const { return best_.norm < inf; }
  [[nodiscard]] double norm() const { return best_.norm; }
  [[nodiscard]] double bound() const { return std::min({bound_, best_.norm, radius_}); }
  [[nodiscard]] const Solution& solution() const { return best_.solution; }
  [[nodiscard]] long nodes() const { return nodes_; }

 private:
  struct Node {
    std::vector<Range> ranges;
    NormRelaxation relaxation;
    Mode mode;  ///< -1: not decided
    double bound = 0;
    int depth = 0;
    long number = 0;  ///< in the order of opening
  };
  struct Best {
    Solution solution{};
    double norm = inf;
  };

  static Vector units_of(const Scaling& scaling) {
    Vector unit(scaling.u_scale.size() + scaling.lambda_scale.size());
    unit << scaling.u_scale, scaling.lambda_scale;
    return unit;
  }

  void decide(Node& node, int law, int branch) const {
    rows_.decide(node.ranges, law, branch);
    rows_.keep_within(node.ranges, radius_);
    node.mode[at(law)] = branch;
    ++node.depth;
  }

  /// Takes the open nodes, nearest first. False if a limit ended the search.
  bool search(Node root) {
    open_.clear();
    open(std::make_unique<Node>(std::move(root)));
    const NormRows& rows = rows_.rows();
    const std::size_t bytes = sizeof(double) * at(rows.rows() + static_cast<int>(rows.a.size())) *
                              at(rows.parameters() + 1);
    while (!open_.empty()) {
      check_interruption();
      std::pop_heap(open_.begin(), open_.end(), later);
      const std::unique_ptr<Node> node = std::move(open_.back());
      open_.pop_back();
      if (!is_cut(node->bound) && !visit(*node)) return false;
      close(*node);
      if (open_.size() * bytes > nearest_storage) return stop();
    }
    return true;
  }

  /// Closed, or divided into the branches of a law. False if the budget ended the search.
  bool visit(const Node& node) {
    int law = -1;
    if (farthest_law(node, law) <= on_graph) {
      try_point(node);
      if (is_cut(node.bound)) return true;
    }
    if (law < 0) {
      try_mode(node.mode);
      return true;
    }
    const auto count = static_cast<int>(problem_.laws[at(law)].branches.size());
    for (int k = 0; k < count; ++k) {
      if (nodes_ == budget_) {
        bound_ = std::min(bound_, node.bound);
        return stop();
      }
      ++nodes_;
      auto child = std::make_unique<Node>(node);
      decide(*child, law, k);
      child->bound = std::max(node.bound, child->relaxation.bound(child->ranges));
      if (is_cut(child->bound))
        close(*child);
      else
        open(std::move(child));
    }
    return true;
  }

  /// Order of the heap: the least bound on top, of equal ones the one with more decided laws.
  static bool later(const std::unique_ptr<Node>& a, const std::unique_ptr<Node>& b) {
    return std::tuple(a->bound, -a->depth, a->number) > std::tuple(b->bound, -b->depth, b->number);
  }
  void open(std::unique_ptr<Node> node) {
    node->number = nodes_;
    open_.push_back(std::move(node));
    std::push_heap(open_.begin(), open_.end(), later);
  }
  bool stop() {
    for (const std::unique_ptr<Node>& node : open_) bound_ = std::min(bound_, node->bound);
    return false;
  }

  [[nodiscard]] bool is_cut(double bound) const {
    return bound == inf || bound >= best_.norm * (1 - gap);
  }
  /// What was cut is no nearer than its bound; what was searched is known.
  void close(const Node& node) {
    if (is_cut(node.bound)) bound_ = std::min(bound_, node.bound);
  }

  /// The law to decide: the one with the largest product of the distances from its two nearest
  /// branches (w λ for complementarity): there each branch moves the point most. -1 if all are
  /// decided. Gives the largest distance from a law.
  double farthest_law(const Node& node, int& law) const {
    double largest = 0, most = -1;
    for (int i = 0; i < problem_.m(); ++i) {
      const double w = node.relaxation.value(rows_.w(i));
      const double lambda = node.relaxation.value(rows_.lambda(i));
      double nearest = inf, second = inf;
      for (const Branch& branch : problem_.laws[at(i)].branches) {
        const double far = branch_distance(branch, w, lambda);
        second = std::min(second, std::max(far, nearest));
        nearest = std::min(nearest, far);
      }
      nearest /= 1 + std::abs(w) + std::abs(lambda);
      largest = std::max(largest, nearest);
      if (node.mode[at(i)] >= 0) continue;
      const double product = nearest > on_graph ? nearest * std::min(second, 1e6) : 0;
      if (product > most) {
        most = product;
        law = i;
      }
    }
    return largest;
  }

  /// By how much (w, λ) misses a branch.
  static double branch_distance(const Branch& branch, double w, double lambda) {
    const auto beyond = [](const Range& range, double value) {
      return std::max({0.0, range.lower - value, value - range.upper});
    };
    const double from_line = std::abs(branch.a * w + branch.b * lambda - branch.c) /
                             std::max(std::abs(branch.a), std::abs(branch.b));
    const double of_w = branch.b != 0 ? beyond(branch.w, w) : 0;
    const double of_lambda = branch.a != 0 ? beyond(branch.lambda, lambda) : 0;
    return std::max({from_line, of_w, of_lambda});
  }

  /// The point of the relaxation as a solution, if it passes.
  void try_point(const Node& node) {
    const Vector point = rows_.unknowns(node.relaxation);
    const Vector u = point.head(given_.p()), lambda = point.tail(given_.m());
    if (keep(point)) return;
    const Solution polished = refined(given_, u, lambda, nearest_mode(given_, u, lambda));
    Vector better(point.size());
    better << polished.u, polished.lambda;
    keep(better);
  }

  /// The nearest point of the decided mode, by its polyhedron.
  void try_mode(const Mode& mode) {
    bool overflow = false;
    const Generators<Real> generators =
        ModePolyhedron<Real>(algebraic_, generator_limit)(mode, overflow);
    exact_ = exact_ && !overflow;
    if (generators.vertices.empty()) return;
    const Eigen::Index n = given_.p() + given_.m();
    SolutionSet single{given_.p(), given_.m(), {whole_block()}, true};
    Piece piece{{mode}, generators.vertices.size() > 1 ? 1 : 0, {}, {}, {}};
    const auto columns = [&](const auto& points) {
      Matrix matrix(n, static_cast<Eigen::Index>(points.size()));
      for (std::size_t k = 0; k < points.size(); ++k)
        matrix.col(static_cast<Eigen::Index>(k)) = rows_.in_units(points[k]);
      return matrix;
    };
    piece.vertices = columns(generators.vertices);
    piece.rays = columns(generators.rays);
    piece.lines = columns(generators.lines);
    single.blocks[0].pieces.push_back(std::move(piece));
    const Nearest found = nearest(given_, single, {W_, center_});
    if (found.status != Status::solved) {
      exact_ = false;
      return;
    }
    Vector y(n);
    y << found.minimisers[0].u, found.minimisers[0].lambda;
    keep(y);
  }

  [[nodiscard]] Block whole_block() const {
    Block block;
    for (int j = 0; j < given_.p(); ++j) block.u.push_back(j);
    for (int i = 0; i < given_.m(); ++i) block.lambda.push_back(i);
    block.equations = block.u;
    return block;
  }

  /// Makes a point the best solution; false if its residual does not pass.
  bool keep(const Vector& y) {
    const double norm = (W_ * (y - center_)).norm();
    if (!(norm < best_.norm)) return true;
    Solution solution{.u = y.head(given_.p()), .lambda = y.tail(given_.m()), .w = {}, .mode = {}};
    solution.residual = residual(given_, scaling_, solution.u, solution.lambda);
    if (!(solution.residual <= tol_)) return false;
    solution.w = output(given_, solution.u, solution.lambda);
    solution.mode = nearest_mode(given_, solution.u, solution.lambda);
    best_ = {std::move(solution), norm};
    radius_ = std::min(radius_, norm);
    return true;
  }

  Mlcp given_;
  Matrix W_;
  Vector center_;
  Scaling scaling_;
  Mlcp problem_;  ///< scaled
  AlgebraicProblem<Real> algebraic_;
  LawRows rows_;
  long budget_;
  double tol_;
  std::vector<std::unique_ptr<Node>> open_;  ///< a heap
  Best best_;
  double bound_ = inf;   ///< least of what was closed
  double radius_ = inf;  ///< of the ball that is searched
  long nodes_ = 0;
  bool finished_ = true;
  bool exact_ = true;  ///< every decided mode was answered
};

/// √ of the sum of squares, without over- and underflow.
double length(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()))
      .stableNorm();
}

double modes_of(const Mlcp& problem) {
  double modes = 1;
  for (const Law& law : problem.laws) modes *= static_cast<double>(law.branches.size());
  return modes;
}

/// By branch and bound; that there is no solution is left to the complete enumeration.
BlockNearest nearest_by_search(const Mlcp& problem, const Matrix& W, const Vector& center,
                               const NearestSearchOptions& options) {
  NearestSearch search(problem, W, center, options.max_nodes, options.tol);
  search.run();
  if (search.finished() && !search.found())
    return nearest_of_all(problem, W, center, options.max_nodes - search.nodes());
  return {search.finished(), search.found(), search.norm(),
          search.bound(),    search.found() ? search.solution() : Solution{}, search.nodes()};
}

BlockNearest nearest_of_block(const Mlcp& problem, const Matrix& W, const Vector& center,
                              const NearestSearchOptions& options) {
  if (modes_of(problem) <= fewest_modes) {
    BlockNearest nearest = nearest_of_all(problem, W, center, options.max_nodes);
    if (nearest.finished) return nearest;
  }
  return nearest_by_search(problem, W, center, options);
}

/// The nearest solution of one block: only the rows of W that see it take part.
BlockNearest nearest_in(const Mlcp& problem, const Block& block, const Norm& norm,
                        const NearestSearchOptions& options) {
  std::vector<int> indices = block.u;
  for (const int i : block.lambda) indices.push_back(problem.p() + i);
  std::vector<int> rows;
  for (int r = 0; r < norm.W.rows(); ++r)
    if (!norm.W(r, indices).isZero(0)) rows.push_back(r);
  const Mlcp part = subproblem(problem, block);
  const Matrix W = norm.W(rows, indices);
  const Vector center = norm.center(indices);
  return nearest_of_block(part, W, center, options);
}

void put_block(const Block& block, const Solution& part, Solution& whole) {
  whole.u(block.u) = part.u;
  whole.lambda(block.lambda) = part.lambda;
  for (std::size_t i = 0; i < block.lambda.size(); ++i) whole.mode[at(block.lambda[i])] = part.mode[i];
}

/// The certificate of a search that ended with the result's status and norm.
std::string certificate_of(const ProvedNearest& result, int m, std::size_t blocks, long max_nodes) {
  if (result.status == Status::not_solved)
    return fmt::format(
        "the nearest solution has coordinates beyond the largest double; none is nearer than {:.10g}",
        result.bound);
  if (result.status == Status::solved)
    return fmt::format("bound: no solution is nearer than {:.10g}, {}, {} nodes", result.bound,
                       laws_in_blocks(m, blocks), result.nodes);
  const std::string found = std::isnan(result.norm)
                                ? "no solution found"
                                : fmt::format("a solution at {:.10g}", result.norm);
  return fmt::format("not proved complete: {} nodes of at most {}; {}, none is nearer than {:.10g}",
                     result.nodes, max_nodes, found, result.bound);
}

/// Status, norms and solution by what is known of all blocks.
void conclude(const Mlcp& problem, const BlocksNearest& known, ProvedNearest& result) {
  const bool solved = known.finished && known.found;
  result.status = solved ? Status::solved : Status::not_enumerated;
  result.bound = length(known.bounds);
  if (known.found) {
    result.norm = length(known.norms);
    result.solution.w = output(problem, result.solution.u, result.solution.lambda);
    result.solution.residual = residual(problem, result.solution.u, result.solution.lambda);
  }
  const bool in_doubles = std::isfinite(result.norm) && result.solution.u.allFinite() &&
                          result.solution.lambda.allFinite();
  if (solved && !in_doubles) result.status = Status::not_solved;
}

}  // namespace

ProvedNearest find_nearest(const Mlcp& problem, const Norm& norm,
                           const NearestSearchOptions& options) {
  validate(problem);
  validate(norm, problem);
  ProvedNearest result;
  result.solution = {Vector::Zero(problem.p()), Vector::Zero(problem.m()), {},
                     Mode(at(problem.m()), 0)};
  BlocksNearest known;
  const std::vector<Block> blocks = independent_blocks(problem, norm.W);
  for (const Block& block : blocks) {
    NearestSearchOptions left = options;
    left.max_nodes -= result.nodes;
    const BlockNearest nearest = nearest_in(problem, block, norm, left);
    result.nodes += nearest.nodes;
    if (nearest.finished && !nearest.found) {
      result.status = Status::no_solution;
      result.bound = inf;
      result.certificate =
          fmt::format("proved: there is no solution, {} laws, {} nodes", problem.m(), result.nodes);
      return result;
    }
    known.add(nearest);
    if (nearest.found) put_block(block, nearest.solution, result.solution);
  }
  conclude(problem, known, result);
  result.certificate = certificate_of(result, problem.m(), blocks.size(), options.max_nodes);
  return result;
}

}  // namespace perp
