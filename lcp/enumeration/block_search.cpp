#include <algorithm>
#include <map>
#include <memory>

#include <perp/core/linear/lu.hpp>
#include <perp/lcp/enumeration/active_set.hpp>
#include <perp/lcp/enumeration/block_search.hpp>
#include <perp/lcp/enumeration/mode_tree.hpp>
#include <perp/lcp/exact/exact_pieces.hpp>
#include <perp/lcp/exact/exact_scaling.hpp>
#include <perp/lcp/exact/sparse_elimination.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/lcp/parametric/mode_equations.hpp>
#include <perp/lcp/polyhedra/field_search.hpp>

namespace perp {
namespace {

constexpr int fewest_for_uniqueness = 8;  // laws; below, the tree costs less than the proof
constexpr double most_eliminated = 3e7;   // rows times entries, of a point with bounds by elimination
constexpr double storage_limit = 1e9;     // bytes, of the tableaus of one block

/// Is (w, λ) on a branch, its ends included?
bool holds(const LawBranch<Rational>& branch, const Rational& w, const Rational& lambda) {
  if (branch.a * w + branch.b * lambda != branch.c) return false;
  return stands_in_ranges(branch, w, lambda) != Verdict::outside;
}

/// The search of one block by its tree of modes.
class BlockSearch {
 public:
  BlockSearch(const Mlcp& problem, const EnumerateOptions& options)
      : given_(problem),
        scaling_(equilibrate(problem)),
        problem_(scaled(problem, scaling_)),
        room_(options.max_solutions),
        unit_(problem.p() + problem.m()),
        bounded_(problem_),
        unique_(problem.m() >= fewest_for_uniqueness && has_at_most_one_solution(problem)) {
    unit_ << scaling_.u_scale, scaling_.lambda_scale;
  }

  BlockFindings run(long budget) {
    if (unique_ && is_exactly_scaled(given_, problem_) && take_active_set(budget)) {
      finish(true);
      return std::move(result_);
    }
    const double n = problem_.p() + problem_.m(), m = problem_.m();
    if (m * m * n * sizeof(double) / 2 > storage_limit) return std::move(result_);
    bool finished = false;
    if (is_exactly_scaled(given_, problem_)) {
      ModeTree tree(problem_);
      if (!tree.usable()) return run_exactly(budget);
      finished = tree.search(budget - result_.nodes, [&](const Mode& mode) { return visit(tree, mode); });
      result_.nodes += tree.nodes();
      result_.explored = tree.explored();
    } else {
      return run_exactly(budget);
    }
    finish(finished);
    return std::move(result_);
  }

 private:
  struct Meeting {
    std::vector<Mode> modes;  ///< that were visited
    Vector point;
  };

  /// The only point of a mode's equations, and the branches that hold it.
  struct LocatedPoint {
    std::vector<Bounded<double>> y;
    MeetingBranches branches;

    /// Is it no solution?
    [[nodiscard]] bool is_outside() const { return count_modes(branches, 1) == 0; }
  };

  /// The only solution there can be, in the mode that an active set method ends in. False: it ends in none.
  bool take_active_set(long budget) {
    const auto count = [](const Matrix& M) { return static_cast<double>((M.array() != 0).count()); };
    const double entries = count(problem_.M11) + count(problem_.M12) + count(problem_.M21) + count(problem_.M22);
    if (entries * (problem_.p() + problem_.m()) > most_eliminated) return false;
    ActiveSet set(problem_, solution_tolerance);
    const bool ends = set.run(Mode(problem_.laws.size(), 0), std::min(budget, 10L * problem_.m()));
    result_.nodes = set.iterations();
    if (!ends) return false;
    if (const auto found = located_point(set.mode()))
      if (found->is_outside() || take_meeting(set.mode(), *found)) return result_.unique;
    make_exact();
    const Generators<Rational> found = (*polyhedron_)(set.mode(), overflow_);
    if (!found.vertices.empty()) take_only_solution(set.mode(), found.vertices.front());
    return result_.unique || overflow_;
  }

  /// Every mode in rational arithmetic, in the units as given.
  BlockFindings run_exactly(long budget) {
    unit_.setOnes();
    exact_ = std::make_unique<AlgebraicProblem<Rational>>(given_);
    collector_ = std::make_unique<PieceCollector<Rational>>(*exact_);
    FieldSearch<Rational> search(*exact_, budget - result_.nodes);
    const bool finished = search.run([&](const Mode& mode, Generators<Rational> generators) {
      take(mode, std::move(generators));
    });
    result_.nodes += search.nodes();
    finish(finished);
    return std::move(result_);
  }

  void finish(bool finished) {
    settle_meetings();
    result_.finished = (finished || result_.unique) && !overflow_ && result_.modes <= room_;
    result_.modes = std::min(result_.modes, room_);
    if (result_.finished) result_.explored = 1;
    write_pieces();
  }

  /// The solutions of a mode that the tree has left. False to end the search.
  bool visit(ModeTree& tree, const Mode& mode) {
    if (const auto goes_on = visit_leaf_point(tree, mode)) return *goes_on;
    if (const auto found = located_point(mode)) {
      if (found->is_outside()) return true;
      if (take_meeting(mode, *found)) return result_.modes <= room_ && !result_.unique;
    }
    make_exact();
    tree.charge_rationals();
    Generators<Rational> generators = (*polyhedron_)(mode, overflow_);
    if (generators.vertices.empty()) return true;
    if (unique_) return take_only_solution(mode, generators.vertices.front());
    take(mode, std::move(generators));
    return result_.modes <= room_;
  }

  /// The same where the tree's point of a regular mode decides it, with bounds or known before; else nothing.
  std::optional<bool> visit_leaf_point(ModeTree& tree, const Mode& mode) {
    const auto y = tree.leaf_point();
    if (!y) return std::nullopt;
    const Verdict found = verdict(mode, *y);
    if (found == Verdict::outside) return true;
    if (found == Verdict::inside)
      if (const auto point = polished(mode, *y)) return take_point(mode, *point);
    // The mode is regular: a point that is known to be on all of its branches is its only one.
    if (Meeting* known = meeting_on(mode)) return add_mode(*known, mode);
    return std::nullopt;
  }

  /// Nothing where the equations leave more than one point, or bounds a branch open.
  [[nodiscard]] std::optional<LocatedPoint> located_point(const Mode& mode) const {
    auto y = sparse_point(bounded_, mode);
    if (!y) return std::nullopt;
    auto branches = meeting_branches(bounded_, mode, *y);
    if (!branches) return std::nullopt;
    return LocatedPoint{std::move(*y), std::move(*branches)};
  }

  void make_exact() {
    if (exact_) return;
    exact_ = std::make_unique<AlgebraicProblem<Rational>>(problem_);
    collector_ = std::make_unique<PieceCollector<Rational>>(*exact_);
    polyhedron_ = std::make_unique<ModePolyhedron<Rational>>(*exact_, generator_limit);
  }

  /// Inside: surely in this mode and in no other one.
  [[nodiscard]] Verdict verdict(const Mode& mode, const std::vector<Bounded<double>>& y) const {
    Verdict worst = Verdict::inside;
    for (int i = 0; i < bounded_.m && worst != Verdict::outside; ++i) {
      const auto law = static_cast<std::size_t>(i);
      const Bounded<double> w = w_at(bounded_, i, y);
      const Bounded<double>& lambda = y[static_cast<std::size_t>(bounded_.p + i)];
      const Verdict here = stands(bounded_.laws[law], mode[law], w, lambda);
      if (here != Verdict::inside) worst = here;
    }
    return worst;
  }

  /// Keeps a point whose bounds put it inside of its mode. False to end the search.
  bool take_point(const Mode& mode, const Vector& point) {
    if (++result_.modes <= room_) add_point({mode}, point);
    result_.unique = unique_;
    return !unique_ && result_.modes <= room_;
  }

  /// Keeps a point that is exactly on its branches, for all of their modes. False if its doubles are
  /// not proved, or there is no room.
  bool take_meeting(const Mode& mode, const LocatedPoint& found) {
    const MeetingBranches& branches = found.branches;
    const auto known = meetings_.find(branches);
    if (known != meetings_.end()) {  // a regular mode has one point: this one
      add_mode(known->second, mode);
      return true;
    }
    if (unique_ && count_modes(branches, room_ + 1) > room_) return false;
    const auto point = polished(mode, found.y);
    if (!point) return false;
    if (unique_) {
      add_point(modes_of(branches), *point);
      result_.modes = static_cast<long>(result_.pieces.back().modes.size());
      result_.unique = true;
    } else {
      meetings_[branches] = {{mode}, *point};
      ++result_.modes;
    }
    return true;
  }

  /// The meeting that has a point on all branches of the mode; null if none is known.
  Meeting* meeting_on(const Mode& mode) {
    for (auto& [branches, meeting] : meetings_)
      if (std::equal(mode.begin(), mode.end(), branches.begin(),
                     [](int branch, const std::vector<int>& of_law) {
                       return std::find(of_law.begin(), of_law.end(), branch) != of_law.end();
                     }))
        return &meeting;
    return nullptr;
  }

  /// False to end the search.
  bool add_mode(Meeting& meeting, const Mode& mode) {
    meeting.modes.push_back(mode);
    return ++result_.modes <= room_;
  }

  void add_point(std::vector<Mode> modes, const Vector& point) {
    result_.pieces.push_back({std::move(modes),
                              0,
                              unit_.cwiseProduct(point),
                              Matrix(unit_.size(), 0),
                              Matrix(unit_.size(), 0)});
  }

  /// A point all of whose modes are regular is a piece. One of a singular mode may be part of a
  /// continuum: that is decided exactly.
  void settle_meetings() {
    for (auto& [branches, meeting] : meetings_) {
      const auto count = static_cast<long>(meeting.modes.size());
      std::sort(meeting.modes.begin(), meeting.modes.end());
      if (count_modes(branches, count + 1) == count) {
        add_point(std::move(meeting.modes), meeting.point);
        continue;
      }
      make_exact();
      for (const Mode& mode : meeting.modes)
        collector_->add(mode, (*polyhedron_)(mode, overflow_));
    }
  }

  /// The doubles of a point; nothing if their last digits are not proved.
  [[nodiscard]] std::optional<Vector> polished(const Mode& mode,
                                               const std::vector<Bounded<double>>& y) const {
    std::vector<char> zeros;
    for (const Bounded<double>& value : y) zeros.push_back(is_zero(value) ? 1 : 0);
    return proved_point(problem_, mode, zeros);
  }

  void take(const Mode& mode, Generators<Rational> generators) {
    if (++result_.modes <= room_) collector_->add(mode, std::move(generators));
  }

  /// The only solution, with all modes whose branches meet it.
  bool take_only_solution(const Mode& mode, const std::vector<Rational>& y) {
    std::vector<Mode> modes{Mode{}};
    for (int i = 0; i < exact_->m; ++i) {
      const auto law = static_cast<std::size_t>(i);
      const Rational w = output(*exact_, i, y, false).value;
      const Rational& lambda = y[static_cast<std::size_t>(exact_->p + i)];
      std::vector<Mode> longer;
      for (std::size_t k = 0; k < exact_->laws[law].size(); ++k) {
        if (!holds(exact_->laws[law][k], w, lambda)) continue;
        for (const Mode& shorter : modes) {
          longer.push_back(shorter);
          longer.back().push_back(static_cast<int>(k));
        }
      }
      modes = std::move(longer);
      if (static_cast<long>(modes.size()) > room_) {  // these are not all
        take(mode, {{y}, {}, {}});
        overflow_ = true;
        return false;
      }
    }
    for (const Mode& meeting : modes) take(meeting, {{y}, {}, {}});
    result_.unique = true;
    return false;
  }

  /// All pieces in the units of the problem as given, in the order of their modes.
  void write_pieces() {
    std::vector<Rational> units(unit_.begin(), unit_.end());
    if (collector_)
      for (ModalPiece<Rational>& piece : collector_->take()) {
        change_units(piece.generators, units);
        result_.pieces.push_back(
            rounded(std::move(piece.modes), piece.dimension, piece.generators));
      }
    std::sort(result_.pieces.begin(), result_.pieces.end(),
              [](const Piece& a, const Piece& b) { return a.modes < b.modes; });
  }

  const Mlcp& given_;
  Scaling scaling_;
  Mlcp problem_;
  long room_;
  Vector unit_;  ///< of the unknowns of the scaled problem
  AlgebraicProblem<Bounded<double>> bounded_;
  std::unique_ptr<AlgebraicProblem<Rational>> exact_;  ///< made when it is needed
  std::unique_ptr<PieceCollector<Rational>> collector_;
  std::unique_ptr<ModePolyhedron<Rational>> polyhedron_;
  std::map<MeetingBranches, Meeting> meetings_;  ///< points on more than one branch of a law
  bool unique_;  ///< proved: there is at most one solution
  bool overflow_ = false;
  BlockFindings result_;
};

}  // namespace

BlockFindings search_block(const Mlcp& block, const EnumerateOptions& options) {
  return BlockSearch(block, options).run(options.max_nodes);
}

}  // namespace perp
