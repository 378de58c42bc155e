#include <perp/lcp/exact/sparse_elimination.hpp>

namespace perp {

std::vector<Mode> modes_of(const MeetingBranches& branches) {
  std::vector<Mode> modes{Mode{}};
  for (const std::vector<int>& of_law : branches) {
    std::vector<Mode> longer;
    for (const Mode& shorter : modes)
      for (const int branch : of_law) {
        longer.push_back(shorter);
        longer.back().push_back(branch);
      }
    modes = std::move(longer);
  }
  return modes;
}

long count_modes(const MeetingBranches& branches, long limit) {
  long count = 1;
  for (const std::vector<int>& of_law : branches) {
    if (of_law.empty()) return 0;
    count = std::min(limit, count * static_cast<long>(of_law.size()));
  }
  return count;
}

}  // namespace perp
