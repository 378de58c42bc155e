#pragma once

#include <map>
#include <utility>
#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>

namespace perp::enclosure {

/// The row holds also what the other one does, of the same time: hulls, the modes of both, `unique` where
/// both are.
void widen(EnclosureRow& row, const EnclosureRow& other);

/// Rows, one for each time and branch.
class RowUnion {
 public:
  void add(const EnclosureRow& row);
  /// In the order of t and branch; none are left.
  std::vector<EnclosureRow> take();

 private:
  std::map<std::pair<double, int>, EnclosureRow> rows_;
};

}  // namespace perp::enclosure
