#include <algorithm>
#include <limits>

#include <perp/lcp/memory.hpp>

namespace perp {

Mode memory_at_start(const std::vector<Law>& laws) {
  if (std::none_of(laws.begin(), laws.end(), [](const Law& law) { return law.memory; })) return {};
  return Mode(laws.size(), 0);
}

int memory_changes(const std::vector<Law>& laws, const std::vector<int>& numbers, const Mode& mode,
                   const Mode& present) {
  int sum = 0;
  for (std::size_t i = 0; i < mode.size(); ++i) {
    const auto law = static_cast<std::size_t>(numbers[i]);
    sum += laws[law].memory && mode[i] != present[law];
  }
  return sum;
}

int memory_changes(const std::vector<Law>& laws, const Mode& mode, const Mode& present) {
  int sum = 0;
  for (std::size_t i = 0; i < mode.size() && i < present.size(); ++i)
    sum += laws[i].memory && mode[i] != present[i];
  return sum;
}

// before / (before - after) is the share of the step at which one reaches its end.
std::vector<int> first_to_leave(const std::vector<Departing>& departing) {
  const auto share = [](const Departing& law, double shift) {
    const double before = std::max(law.before + shift, 0.0);
    return before / (before - law.after);
  };
  double earliest = 1;
  for (const Departing& law : departing) earliest = std::min(earliest, share(law, law.rounding));
  std::vector<int> first;
  for (const Departing& law : departing)
    if (share(law, -law.rounding) <= earliest) first.push_back(law.law);
  return first;
}

void respect_memory(SolutionSet& set, const std::vector<Law>& laws, const Mode& present) {
  if (present.empty()) return;
  for (Block& block : set.blocks) {
    const auto changes = [&](const Mode& mode) {
      return memory_changes(laws, block.lambda, mode, present);
    };
    int fewest = std::numeric_limits<int>::max();
    for (const Piece& piece : block.pieces)
      for (const Mode& mode : piece.modes) fewest = std::min(fewest, changes(mode));
    for (Piece& piece : block.pieces)
      std::erase_if(piece.modes, [&](const Mode& mode) { return changes(mode) > fewest; });
    std::erase_if(block.pieces, [](const Piece& piece) { return piece.modes.empty(); });
  }
}

}  // namespace perp
