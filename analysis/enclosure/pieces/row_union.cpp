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

void RowUnion::add(const EnclosureRow& row) {
  const auto [place, is_new] = rows_.try_emplace({row.t, row.branch}, row);
  if (!is_new) widen(place->second, row);
}

std::vector<EnclosureRow> RowUnion::take() {
  std::vector<EnclosureRow> list;
  for (auto& [key, row] : rows_) list.push_back(std::move(row));
  rows_.clear();
  return list;
}

}  // namespace perp::enclosure
