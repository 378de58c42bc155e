// Rows of one time as one; called by the union of pieces and by products of parts.
#include <algorithm>

#include <perp/analysis/enclosure/pieces/row_union.hpp>

namespace perp::enclosure {

void widen(EnclosureRow& row, const EnclosureRow& other) {
  row.box = hull(row.box, other.box);
  row.multipliers = hull(row.multipliers, other.multipliers);
  if (other.flag == Flag::all) row.flag = Flag::all;
  row.how = std::max(row.how, other.how);
  if (row.modes.empty() || other.modes.empty()) return row.modes.clear();
  for (const Mode& mode : other.modes)
    if (std::find(row.modes.begin(), row.modes.end(), mode) == row.modes.end())
      row.modes.push_back(mode);
}

}  // namespace perp::enclosure
