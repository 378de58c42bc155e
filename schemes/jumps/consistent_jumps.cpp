#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include <perp/core/base/error.hpp>
#include <perp/lcp/memory.hpp>
#include <perp/lcp/polyhedra/field_search.hpp>
#include <perp/schemes/jumps/jump_limits.hpp>

namespace perp {
namespace {

using Number = RationalFunction;

/// The modes with solutions; true: continuous solutions start in this mode.
using Modes = std::set<std::pair<Mode, bool>>;
using Change = std::vector<Rational>;

/// What a search of all modes of a block found.
struct ModeSearch {
  Modes modes{};
  bool complete = false;  ///< no budget ended it
  long nodes = 0;

  void add_nodes(const ModeSearch& other) {
    nodes += other.nodes;
    complete = complete && other.complete;
  }
};

/// Calls `leaf`, which tells whether continuous solutions start in the mode, with all modes that have solutions.
ModeSearch search_modes(const ShortStep& step, long budget,
                        const std::function<bool(const Mode&, const Generators<Number>&)>& leaf) {
  ModeSearch result;
  FieldSearch<Number> search(step.problem, budget);
  result.complete = search.run([&](const Mode& mode, const Generators<Number>& generators) {
    result.modes.emplace(Mode(mode.begin(), mode.begin() + step.m()), leaf(mode, generators));
  });
  result.nodes = search.nodes();
  return result;
}

/// The point of a jump.
struct Target {
  ConsistentJump jump;
  bool goes_on;                  ///< do continuous solutions start there in the modes of the jump?
  std::optional<Change> change;  ///< of E x, of a single point
};

/// Adds what a mode has: a jump to a point that is known goes on in one mode more.
void add(Target target, const JumpLimits& limits, std::vector<Target>& targets) {
  const ConsistentJump& jump = target.jump;
  const auto known = std::find_if(targets.begin(), targets.end(), [&](const Target& other) {
    return !jump.is_continuum && !other.jump.is_continuum && limits.same(limits.change_of(jump), limits.change_of(other.jump));
  });
  if (known == targets.end())
    targets.push_back(std::move(target));
  else if (target.goes_on && !known->goes_on)
    *known = std::move(target);
  else if (target.goes_on == known->goes_on)
    known->jump.continuations.push_back(std::move(target.jump.continuations.front()));
}

/// The jumps of one block.
class BlockSearch {
 public:
  /// Spends at most `budget` nodes of the searches.
  BlockSearch(const ShortSteps& steps, const Block& block, long budget)
      : steps_(steps), block_(block), step_(steps.of(block)), budget_(budget) {}

  JumpBlock operator()() {
    JumpBlock found{step_.block.u, step_.block.lambda, {}, false};
    searched_.complete = true;
    if (!step_.finite) return found;
    std::vector<Target> targets = targets_of_jumps();
    for (Target& target : targets)
      if (target.goes_on || goes_on_elsewhere(target)) found.jumps.push_back(std::move(target.jump));
    found.complete = searched_.complete && is_decided_ && step_.known;
    std::stable_sort(
        found.jumps.begin(), found.jumps.end(),
        [](const ConsistentJump& a, const ConsistentJump& b) { return a.amplitude < b.amplitude; });
    return found;
  }

  /// The nodes, and whether no budget ended a search.
  [[nodiscard]] const ModeSearch& searched() const { return searched_; }

 private:
  [[nodiscard]] long budget() const { return budget_ - searched_.nodes; }

  /// Are there entries known to a rounding, and its bounds?
  [[nodiscard]] bool has_bounds() const { return step_.rounded && step_.known; }

  std::vector<Target> targets_of_jumps() {
    const JumpLimits limits(step_);
    std::vector<Target> targets;
    const ModeSearch own = search_modes(step_, budget(), [&](const Mode& mode, const Generators<Number>& generators) {
      const bool goes_on = limits.go_on(mode, generators);
      add({limits(mode, generators), goes_on, limits.change(generators)}, limits, targets);
      return goes_on;
    });
    searched_.add_nodes(own);
    if (!own.complete || !has_bounds()) return targets;
    // entries known to a rounding decide nothing: the same modes for all that they can be
    const ShortStep relaxed = steps_.relaxed(block_);
    const JumpLimits all(relaxed);
    confirm(own, search_modes(relaxed, budget(), [&](const Mode& mode, const Generators<Number>& generators) {
      return all.go_on(mode, generators);
    }));
    return targets;
  }

  /// Where only the impulses hold the laws of a jump, as a multiplier that is negative without, other modes may lead on from
  /// its point: those of short steps from there that end there.
  bool goes_on_elsewhere(Target& target) {
    if (!target.change) {
      is_decided_ = false;
      return false;
    }
    const ShortStep from = steps_.moved(step_, *target.change, target.jump.x());
    std::vector<ContinuousStart> starts;
    bool has_sets = false;  // of further jumps: one of infinitely many may be none
    const JumpLimits limits(from);
    const ModeSearch own = search_modes(from, budget(), [&](const Mode& mode, const Generators<Number>& generators) {
      const std::optional<Change> change = limits.change(generators);
      has_sets = has_sets || !change;
      const bool starts_here = does_start(limits, change, mode, generators);
      if (starts_here) starts.push_back(limits(mode, generators).continuations.front());
      return starts_here;
    });
    searched_.add_nodes(own);
    if (own.complete && has_bounds()) {
      const ShortStep relaxed = steps_.moved(steps_.relaxed(block_), *target.change, target.jump.x());
      const JumpLimits all(relaxed);
      confirm(own, search_modes(relaxed, budget(), [&](const Mode& mode, const Generators<Number>& generators) {
        return does_start(all, all.change(generators), mode, generators);
      }));
    }
    if (starts.empty() && has_sets) is_decided_ = false;
    target.jump.continuations = std::move(starts);
    return !target.jump.continuations.empty();
  }

  /// Does a continuous solution start in this mode where the step begins, from which it leads by this change?
  static bool does_start(const JumpLimits& limits, const std::optional<Change>& change, const Mode& mode,
                         const Generators<Number>& generators) {
    const bool stays = change && std::ranges::all_of(*change, [](const Rational& value) { return value == 0; });
    return stays && limits.go_on(mode, generators);
  }

  void confirm(const ModeSearch& own, const ModeSearch& all) {
    is_decided_ = is_decided_ && all.complete && all.modes == own.modes;
  }

  const ShortSteps& steps_;
  const Block& block_;
  const ShortStep step_;
  long budget_;
  ModeSearch searched_;
  bool is_decided_ = true;  // do rounding and sets leave nothing open?
};

void check(const Lcs& lcs, const Vector& x, const JumpOptions& options) {
  if (x.size() != lcs.n())
    throw InvalidInput(fmt::format("x must have {} entries but has {}", lcs.n(), x.size()));
  if (!x.allFinite()) throw InvalidInput("x must be finite");
  const Mode& present = options.present;
  if (present.empty()) return;
  if (present.size() != lcs.laws.size())
    throw InvalidInput(fmt::format("present must have {} entries or none but has {}",
                                   lcs.laws.size(), present.size()));
  for (std::size_t i = 0; i < present.size(); ++i)
    if (present[i] < 0 || present[i] >= static_cast<int>(lcs.laws[i].branches.size()))
      throw InvalidInput(
          fmt::format("present must hold branches of the laws, but law {} has none "
                      "of index {}",
                      i + 1, present[i]));
}

/// Why jumps are not proved complete. `ended`: the search was not.
std::string incomplete_text(bool ended, long nodes) {
  if (ended) return fmt::format("not proved complete: the search ended after {} nodes", nodes);
  return "not proved complete: rounding of rows, or of b and q at this time, or a set of jumps by impulses of "
         "multipliers leaves modes open";
}

}  // namespace

void respect_memory(JumpBlock& block, const std::vector<Law>& laws, const Mode& present) {
  if (present.empty()) return;
  const auto changes = [&](const ContinuousStart& start) {
    return memory_changes(laws, block.lambda, start.mode, present);
  };
  int fewest = std::numeric_limits<int>::max();
  for (const ConsistentJump& jump : block.jumps)
    for (const ContinuousStart& start : jump.continuations)
      fewest = std::min(fewest, changes(start));
  for (ConsistentJump& jump : block.jumps)
    std::erase_if(jump.continuations,
                  [&](const ContinuousStart& start) { return changes(start) > fewest; });
  std::erase_if(block.jumps, [](const ConsistentJump& jump) { return jump.continuations.empty(); });
}

ConsistentJumps consistent_jumps(const Lcs& lcs, const Vector& x, double t,
                                 const JumpOptions& options) {
  check(lcs, x, options);
  const ShortSteps steps(lcs, x, t);
  ConsistentJumps result;
  bool ended = false;
  for (const Block& block : steps.blocks()) {
    BlockSearch search(steps, block, options.max_nodes - result.nodes);
    result.blocks.push_back(search());
    result.nodes += search.searched().nodes;
    ended = ended || !search.searched().complete;
    respect_memory(result.blocks.back(), lcs.laws, options.present);
  }
  const auto& blocks = result.blocks;
  const bool complete = std::all_of(blocks.begin(), blocks.end(),
                                    [](const JumpBlock& block) { return block.complete; });
  const bool none = std::any_of(blocks.begin(), blocks.end(), [](const JumpBlock& block) {
    return block.complete && block.jumps.empty();
  });
  result.status = none ? Status::no_solution : complete ? Status::solved : Status::not_enumerated;
  if (none)
    result.message = "no jump leads to a state from which a continuous solution starts";
  else if (!complete)
    result.message = incomplete_text(ended, result.nodes);
  list_products(result, lcs.n(), lcs.m(), options.most_listed);
  return result;
}

}  // namespace perp
