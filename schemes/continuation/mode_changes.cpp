#include <algorithm>
#include <utility>

#include <perp/lcp/memory.hpp>
#include <perp/schemes/continuation/mode_changes.hpp>

namespace perp {
namespace {

constexpr std::size_t most_simultaneous = 4;  ///< laws that may change together when pivoting

/// Adds the modes in which all of these laws, and no other one, leave their branch.
void add_changes(const std::vector<Law>& laws, const Mode& mode, const std::vector<int>& moving,
                 std::vector<Mode>& list) {
  std::vector<Mode> partial{mode};
  for (const int law : moving) {
    const auto l = static_cast<std::size_t>(law);
    std::vector<Mode> longer;
    for (const Mode& start : partial)
      for (int b = 0; b < static_cast<int>(laws[l].branches.size()); ++b)
        if (b != mode[l]) {
          longer.push_back(start);
          longer.back()[l] = b;
        }
    partial = std::move(longer);
  }
  list.insert(list.end(), partial.begin(), partial.end());
}

}  // namespace

const Mode& least_change(const std::vector<Law>& laws, const Mode& from,
                         const std::vector<Mode>& modes) {
  const auto changes = [&](const Mode& mode) {
    int sum = 0;
    for (std::size_t i = 0; i < from.size() && i < mode.size(); ++i) sum += from[i] != mode[i];
    return std::pair(memory_changes(laws, mode, from), sum);
  };
  return *std::min_element(modes.begin(), modes.end(),
                           [&](const Mode& a, const Mode& b) { return changes(a) < changes(b); });
}

std::vector<Mode> neighbours(const std::vector<Law>& laws, const Mode& mode,
                             const std::vector<int>& moving) {
  std::vector<Mode> list;
  const std::size_t count = std::min(moving.size(), most_simultaneous);
  for (std::size_t size = 1; size <= count; ++size)
    for (std::size_t subset = 1; subset < std::size_t{1} << count; ++subset) {
      std::vector<int> some;
      for (std::size_t k = 0; k < count; ++k)
        if ((subset >> k & 1) != 0) some.push_back(moving[k]);
      if (some.size() == size) add_changes(laws, mode, some, list);
    }
  return list;
}

}  // namespace perp
