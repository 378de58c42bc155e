// The choice among modes of laws with memory that are too many for a table.
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/parametric/mode_cache.hpp>

namespace perp {
namespace {

constexpr std::size_t most_leaving = 10;  ///< laws of whose branches all combinations are looked at

/// The laws that are marked.
std::vector<int> marked(const std::vector<char>& marks) {
  std::vector<int> laws;
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (marks[i] != 0) laws.push_back(static_cast<int>(i));
  return laws;
}

}  // namespace

int ModeCache::memory_changes(int index, int present, const std::vector<char>& leaving) const {
  if (present < 0) return 0;
  int changes = 0;
  for (const int law : memory_laws_) {
    const auto i = static_cast<std::size_t>(law);
    if (map(index).modes().front()[i] == map(present).modes().front()[i]) continue;
    changes += i < leaving.size() && leaving[i] == 0 ? static_cast<int>(memory_laws_.size()) + 1 : 1;
  }
  return changes;
}

std::vector<char> ModeCache::leaving_laws(int present, const double* theta) const {
  std::vector<char> leaving;
  if (present < 0 || memory_laws_.empty()) return leaving;
  leaving.assign(family_.base.laws.size(), 0);
  const ModeMap& mode = map(present);
  for (int i = 0; i < static_cast<int>(mode.margins().size()); ++i)
    if (mode.margin(i, theta) < 0)
      leaving[static_cast<std::size_t>(mode.margins()[static_cast<std::size_t>(i)].law)] = 1;
  return leaving;
}

/// Appends the map of a mode that has a solution at θ. False: it is singular and may have some.
bool ModeCache::add_if_admissible(const double* theta, const Mode& mode) {
  check_interruption();
  const int index = find(mode);
  if (index >= 0 && admissible(index, theta)) admissible_.push_back(index);
  const int known = index_.at(mode);
  return index >= 0 || known < 0 || !map(known).consistent(theta);
}

/// Appends the maps of all modes that differ from `mode` in `count` of the laws from number `from` of the list on. False: a
/// singular mode may have solutions.
bool ModeCache::add_changed(const double* theta, const std::vector<int>& laws, std::size_t from, int count, Mode& mode) {
  if (count == 0) return add_if_admissible(theta, mode);
  for (std::size_t k = from; k < laws.size(); ++k) {
    const std::size_t law = at(laws[k]);
    const int present = mode[law], branches = static_cast<int>(family_.base.laws[law].branches.size());
    for (int branch = 0; branch < branches; ++branch) {
      if (branch == present) continue;
      mode[law] = branch;
      if (!add_changed(theta, laws, k + 1, count - 1, mode)) return false;
    }
    mode[law] = present;
  }
  return true;
}

/// The rule counts changes of laws that leave their branch before all others: where some of these lead to a solution no
/// other mode is nearer, and none is looked at.
ModeCache::Choice ModeCache::nearest_by_leaving(const double* theta, int present) {
  Choice choice;
  choice.status = Status::not_enumerated;
  if (present < 0 || memory_laws_.size() != family_.base.laws.size()) return choice;
  const std::vector<int> laws = marked(leaving_laws(present, theta));
  if (laws.size() > most_leaving) return choice;
  Mode mode = map(present).modes().front();
  admissible_.clear();
  for (int count = 0; admissible_.empty() && count <= static_cast<int>(laws.size()); ++count)
    if (!add_changed(theta, laws, 0, count, mode)) return choice;
  if (admissible_.empty()) return choice;
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
