// The active set method: solver newton_min asks it, and enumerations of problems with one solution.
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/enumeration/active_set.hpp>

namespace perp {
namespace {

constexpr int patience = 10;  ///< block steps that need not lower the number of violated laws

}  // namespace

bool BlockPivots::takes_all(std::size_t violated) {
  left_ = violated < best_ ? patience : left_ - 1;
  best_ = std::min(best_, violated);
  return left_ > 0;
}

bool ActiveSet::run(Mode mode, long limit) {
  BlockPivots pivots;
  while (iterations_ < limit) {
    check_interruption();
    ++iterations_;
    point_ = point_of_mode(problem_, mode, tolerance_);
    mode_ = mode;
    if (point_.violation == inf) return false;
    if (point_.violated.empty()) return true;
    move(mode, pivots.takes_all(point_.violated.size()));
  }
  return false;
}

/// All violated laws, or the first of them.
void ActiveSet::move(Mode& mode, bool all) const {
  const Vector w = output(problem_, point_.u, point_.lambda);
  const int first = *std::min_element(point_.violated.begin(), point_.violated.end());
  for (const int law : point_.violated)
    if (all || law == first) mode[at(law)] = next_branch(problem_, mode_, point_, w, law);
}

}  // namespace perp
