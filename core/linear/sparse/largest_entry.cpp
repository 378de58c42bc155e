// The largest of numbers that change one by one: called by eliminations that search their pivots among all entries.
#include <perp/core/base/index.hpp>
#include <perp/core/linear/sparse/largest_entry.hpp>

namespace perp::linear {

void LargestEntry::resize(int count) {
  half_ = 1;
  while (half_ < at(count)) half_ *= 2;
  tree_.assign(2 * half_, -1);
}

void LargestEntry::set(int place, double value) {
  std::size_t k = leaf(place);
  tree_[k] = value;
  for (k /= 2; k > 0; k /= 2) {
    const double larger = tree_[2 * k] < tree_[2 * k + 1] ? tree_[2 * k + 1] : tree_[2 * k];
    if (tree_[k] == larger) return;
    tree_[k] = larger;
  }
}

int LargestEntry::place() const {
  std::size_t k = 1;
  while (k < half_) k = tree_[2 * k] < tree_[2 * k + 1] ? 2 * k + 1 : 2 * k;
  return static_cast<int>(k - half_);
}

}  // namespace perp::linear
