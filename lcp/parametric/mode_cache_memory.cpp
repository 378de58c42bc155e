// The choice among modes of laws with memory that are too many for a table.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/memory.hpp>
#include <perp/lcp/parametric/mode_cache.hpp>

namespace perp {
namespace {

constexpr std::size_t most_leaving = 10;  ///< laws of whose branches all combinations are looked at

/// Calls visit() in all modes that differ from `mode` in `count` of the laws from number `from` of the list on, as long as it
/// returns true. False: it did not.
template <class Visit>
bool for_each_changed(const Laws& laws, const std::vector<int>& list, std::size_t from, std::size_t count, Mode& mode,
                      const Visit& visit) {
  if (count == 0) return visit();
  for (std::size_t k = from; k < list.size(); ++k) {
    const std::size_t law = at(list[k]);
    const int present = mode[law], branches = static_cast<int>(laws[law].branches.size());
    for (int branch = 0; branch < branches; ++branch) {
      if (branch == present) continue;
      mode[law] = branch;
      if (!for_each_changed(laws, list, k + 1, count - 1, mode, visit)) return false;
    }
    mode[law] = present;
  }
  return true;
}

}  // namespace

int ModeCache::memory_changes(int index, int present, const Leaving& leaving) const {
  if (present < 0) return 0;
  const int against = static_cast<int>(memory_laws_.size()) + 1;  // more than all that leave
  int changes = 0;
  for (const int law : memory_laws_) {
    const bool stays = map(index).modes().front()[at(law)] == map(present).modes().front()[at(law)];
    const Leaves leaves = leaving.empty() ? Leaves::later : leaving[at(law)];
    if (stays == (leaves == Leaves::first)) changes += leaves == Leaves::later ? 1 : against;
  }
  return changes;
}

ModeCache::Leaving ModeCache::leaving_laws(int present, const double* theta, const Vector* w_before) const {
  Leaving leaving;
  if (present < 0 || memory_laws_.empty()) return leaving;
  leaving.assign(family_.base.laws.size(), Leaves::no);
  const ModeMap& mode = map(present);
  std::vector<Departing> departing;
  for (int i = 0; i < static_cast<int>(mode.margins().size()); ++i) {
    const ModeMap::Margin& margin = mode.margins()[at(i)];
    if (!(mode.margin(i, theta) < 0)) continue;
    leaving[at(margin.law)] = Leaves::later;
    if (w_before == nullptr || !family_.base.laws[at(margin.law)].memory) continue;
    const double before = inside_before(mode, margin, *w_before);
    if (std::isfinite(before)) departing.push_back({margin.law, before, mode.margin(i, theta), mode.w_rounding(margin.law, theta)});
  }
  for (const int law : first_to_leave(departing)) leaving[at(law)] = Leaves::first;
  return leaving;
}

/// How far w is inside of the end that a margin watches; infinite where that is none of w.
double ModeCache::inside_before(const ModeMap& mode, const ModeMap::Margin& margin, const Vector& w) const {
  if (margin.of_lambda || margin.combined) return inf;
  const Range range = family_.base.laws[at(margin.law)].branches[at(mode.modes().front()[at(margin.law)])].w;
  return margin.upper ? range.upper - w[margin.law] : w[margin.law] - range.lower;
}

/// Appends the map of a mode that has a solution at θ. False: it is singular and may have some.
bool ModeCache::add_if_admissible(const double* theta, const Mode& mode) {
  check_interruption();
  const int index = find(mode);
  if (index >= 0 && admissible(index, theta)) admissible_.push_back(index);
  const int known = index_.at(mode);
  return index >= 0 || known < 0 || !map(known).consistent(theta);
}

/// Lists the modes with a solution that change the fewest of the laws `later` beside those that change all of `first`, or where
/// there is none beside all but one of them, and so on. False: a singular mode may have solutions.
bool ModeCache::find_by_leaving(const double* theta, Mode mode, const std::vector<int>& first, const std::vector<int>& later) {
  const Laws& laws = family_.base.laws;
  admissible_.clear();
  for (std::size_t staying = 0; staying <= first.size(); ++staying)
    for (std::size_t count = 0; count <= later.size() && admissible_.empty(); ++count) {
      const auto with_later = [&] {
        return for_each_changed(laws, later, 0, count, mode, [&] { return add_if_admissible(theta, mode); });
      };
      if (!for_each_changed(laws, first, 0, first.size() - staying, mode, with_later)) return false;
    }
  return true;
}

/// The rule counts changes of laws that leave their branch before all others: where some of these lead to a solution no
/// other mode is nearer, and none is looked at.
ModeCache::Choice ModeCache::nearest_by_leaving(const double* theta, int present, const Vector* w_before) {
  Choice choice;
  choice.status = Status::not_enumerated;
  if (present < 0 || memory_laws_.size() != family_.base.laws.size()) return choice;
  const Leaving leaving = leaving_laws(present, theta, w_before);
  std::vector<int> first, later;
  for (std::size_t i = 0; i < leaving.size(); ++i)
    if (leaving[i] != Leaves::no) (leaving[i] == Leaves::first ? first : later).push_back(static_cast<int>(i));
  if (first.size() + later.size() > most_leaving) return choice;
  if (!find_by_leaving(theta, map(present).modes().front(), first, later) || admissible_.empty()) return choice;
  keep_exact(theta, present);
  found_ = admissible_;
  choice.status = Status::solved;
  choose(theta, present, choice);
  choice.solutions = 0;  // not counted
  return choice;
}

bool ModeCache::all_admissible(const double* theta, int present, std::vector<int>& maps) {
  maps.clear();
  if ((tabulate() == 0 && modes_ > table_limit) || !find_admissible(regular_, singular_, theta, present)) return false;
  int fewest = std::numeric_limits<int>::max();
  for (const int i : admissible_) {
    const int changes = memory_changes(i, present);
    if (changes < fewest) maps.clear();
    if (changes <= fewest) maps.push_back(i);
    fewest = std::min(fewest, changes);
  }
  return true;
}

}  // namespace perp
