#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/core/base/error.hpp>
#include <perp/core/linear/least_squares.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/exact/exact_norm.hpp>
#include <perp/lcp/exact/exact_pieces.hpp>
#include <perp/lcp/refine.hpp>
#include <perp/lcp/residual_gate.hpp>
#include <perp/lcp/solution_set.hpp>
#include <perp/lcp/structure/coupled_blocks.hpp>

namespace perp {
namespace {

constexpr double tie_tolerance = 1e-12;        // two norms this near, relatively, are equal
constexpr std::size_t minimiser_limit = 1000;  // minimisers that are listed

/// One minimiser within a group, in the group's coordinates.
struct Candidate {
  Vector y;
  std::vector<Rational> exact;  ///< y, where it is of a continuum
  Mode mode;
  bool in_present = false;
  double norm = 0;
};

/// The nearest points of one group.
class GroupSearch {
  using Equations = std::vector<std::vector<Rational>>;

 public:
  GroupSearch(const Mlcp& problem, const CoupledBlocks& group, const Norm& norm,
              const Mode* present)
      : block_(group.block),
        problem_(subproblem(problem, group.block)),
        has_present_(present != nullptr) {
    const std::vector<int> indices = coordinates(block_, problem.p());
    W_ = norm.W(Eigen::all, indices);
    center_ = norm.center(indices);
    if (!has_present_) return;
    for (const int i : block_.lambda) present_.push_back((*present)[static_cast<std::size_t>(i)]);
    restricted_ = problem_;
    for (std::size_t i = 0; i < present_.size(); ++i) {
      Law& law = restricted_.laws[i];
      law.branches = {law.branches.at(static_cast<std::size_t>(present_[i]))};
    }
  }

  /// All minimisers, the preferred one first. False where a continuum has too many vertices.
  bool run(std::vector<Candidate>& minimisers) {
    double least = inf;
    for (const Piece& piece : block_.pieces) {
      Candidate candidate;
      if (!minimise(piece, least, candidate)) return false;
      if (candidate.y.size() != W_.cols()) continue;
      least = std::min(least, candidate.norm);
      minimisers.push_back(std::move(candidate));
    }
    std::erase_if(minimisers, [&](const Candidate& other) { return !tied(other.norm, least); });
    for (Candidate& candidate : minimisers) candidate.in_present = candidate.in_present || lies_in_present(candidate.y);
    for (Candidate& candidate : minimisers)
      if (candidate.in_present) candidate.mode = present_;
    std::sort(minimisers.begin(), minimisers.end(), [](const Candidate& a, const Candidate& b) {
      return a.in_present != b.in_present ? a.in_present : a.mode < b.mode;
    });
    remove_duplicates(minimisers);
    return true;
  }

 private:
  /// Nearest point of a piece, if it can compete with `least`; false where the piece has too many
  /// vertices.
  bool minimise(const Piece& piece, double least, Candidate& candidate) {
    candidate.mode = *std::min_element(piece.modes.begin(), piece.modes.end());
    candidate.in_present = has_present_ && !present_.empty() && std::ranges::find(piece.modes, present_) != piece.modes.end();
    if (piece.dimension == 0) {
      const Vector y = piece.vertices.col(0);
      candidate.norm = length(y);
      if (competes(candidate.norm, least)) candidate.y = y;
      return true;
    }
    return minimise_over_continuum(least, candidate);
  }

  /// The same over all solutions of the candidate's mode, in rational numbers. What the norm does not
  /// see: nearest in all u, then of least λ, among those with the same W y.
  bool minimise_over_continuum(double least, Candidate& candidate) {
    if (!exact_) exact_.emplace(problem_);
    bool overflow = false;
    const auto among = [&](const Equations& further) {
      return exact_generators(*exact_, candidate.mode, overflow, further);
    };
    Generators<Rational> all = among({});
    if (overflow || all.vertices.empty()) return false;
    ExactNorm norm = ExactNorm::of(W_, center_);
    ExactNearest nearest = exact_nearest(all, norm);
    candidate.norm = root(nearest.square);
    if (!competes(candidate.norm, least)) return true;
    Equations kept;
    for (int stage = 0; stage < 2 && !is_point(all); ++stage) {
      add_image(norm, nearest.y, kept);
      all = among(kept);
      if (overflow) return false;
      norm = further_norm(stage, norm.center);
      nearest = exact_nearest(all, norm);
    }
    candidate.y = rounded(nearest.y);
    candidate.exact = std::move(nearest.y);
    return true;
  }

  /// What the norm does not see: first the distance in all u, then that of λ from 0.
  [[nodiscard]] ExactNorm further_norm(int stage, const std::vector<Rational>& center) const {
    const auto p = static_cast<std::size_t>(problem_.p()), m = static_cast<std::size_t>(problem_.m());
    if (stage == 0) return ExactNorm::of_coordinates(0, p, center);
    return ExactNorm::of_coordinates(p, m, std::vector<Rational>(p + m));
  }

  /// ‖W (y - center)‖, in long double.
  [[nodiscard]] double length(const Vector& y) const {
    const RealVector difference = y.cast<long double>() - center_.cast<long double>();
    return static_cast<double>((W_.cast<long double>() * difference).norm());
  }

  static Vector rounded(const std::vector<Rational>& y) {
    Vector result(static_cast<Eigen::Index>(y.size()));
    std::transform(y.begin(), y.end(), result.begin(), [](const Rational& value) { return to_double(value); });
    return result;
  }

  static bool is_point(const Generators<Rational>& all) {
    return all.vertices.size() == 1 && all.rays.empty() && all.lines.empty();
  }

  /// W z = W y as further rows over (z, 1).
  static void add_image(const ExactNorm& norm, const std::vector<Rational>& y, Equations& rows) {
    for (std::vector<Rational> row : norm.W) {
      Rational constant = 0;
      for (std::size_t j = 0; j < y.size(); ++j) constant -= row[j] * y[j];
      row.push_back(std::move(constant));
      rows.push_back(std::move(row));
    }
  }

  /// Does a point lie in the present mode up to the rounding of its coordinates? One that is beside it by more has left it,
  /// however little.
  [[nodiscard]] bool lies_in_present(const Vector& y) const {
    // a block without laws has no mode to be in, and `restricted_` may not even have been made
    if (present_.empty() || present_.size() != block_.lambda.size()) return false;
    return misfit(restricted_, y.head(problem_.p()), y.tail(problem_.m())) <= misfit_limit;
  }

  /// Norms are equal to rounding, relative or beside the size of the numbers they are made of.
  [[nodiscard]] bool tied(double a, double b) const {
    const double floor = 1e-14 * (W_.cwiseAbs() * center_.cwiseAbs()).norm();
    return std::abs(a - b) <= tie_tolerance * std::max(a, b) + floor;
  }

  /// Is a norm less than the least one so far, or equal to it?
  [[nodiscard]] bool competes(double norm, double least) const {
    return norm <= least || tied(norm, least);
  }

  /// Of points where pieces meet one is left.
  static void remove_duplicates(std::vector<Candidate>& minimisers) {
    std::vector<Candidate> different;
    for (Candidate& candidate : minimisers) {
      const bool repeated =
          !candidate.exact.empty() &&
          std::any_of(different.begin(), different.end(),
                      [&](const Candidate& other) { return other.exact == candidate.exact; });
      if (!repeated) different.push_back(std::move(candidate));
      if (different.size() == minimiser_limit) break;
    }
    minimisers = std::move(different);
  }

  const Block& block_;
  Mlcp problem_;
  bool has_present_;
  std::optional<AlgebraicProblem<Rational>> exact_;
  Mlcp restricted_;  // to the present mode; empty without one
  Mode present_;
  Matrix W_;
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

/// What is said where a block has no pieces.
Nearest without_solution(const SolutionSet& set) {
  Nearest result;
  result.status = set.complete ? Status::no_solution : Status::not_enumerated;
  result.message = set.complete ? "the problem has no solution" : set.certificate;
  return result;
}

}  // namespace

Nearest nearest(const Mlcp& problem, const SolutionSet& set, const Norm& norm,
                const Mode* present) {
  check(problem, set, norm, present);
  if (std::any_of(set.blocks.begin(), set.blocks.end(),
                  [](const Block& block) { return block.pieces.empty(); }))
    return without_solution(set);
  Nearest result;
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
      result.message = "a continuum of solutions has too many vertices to find its nearest point";
      return result;
    }
    if (minimisers[g].empty()) {
      result.status = Status::not_solved;
      result.message = "no solution has a norm that a double holds";
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
