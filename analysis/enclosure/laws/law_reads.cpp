// Which laws stand inside of the arguments of others; asked where some of them are open.
#include <algorithm>

#include <perp/analysis/enclosure/laws/law_reads.hpp>

namespace perp::enclosure {

// In each round those are known that read only what was known before.
bool reads_go_one_way(const std::vector<std::optional<std::vector<int>>>& reads) {
  std::vector<bool> known(reads.size(), false);
  for (std::size_t round = 0; round < reads.size(); ++round)
    for (std::size_t j = 0; j < reads.size(); ++j)
      known[j] = reads[j] && std::all_of(reads[j]->begin(), reads[j]->end(), [&](int k) {
        return known[static_cast<std::size_t>(k)];
      });
  return std::find(known.begin(), known.end(), false) == known.end();
}

}  // namespace perp::enclosure
