// Rows of one time as one; called by the union of pieces and by products of parts.
#include <algorithm>
#include <optional>

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

namespace {

/// Where bounds do not meet, the row holds no solution, and stays as it is.
void narrow_box(Box& box, const Box& bounds) {
  Box both = box;
  for (std::size_t k = 0; k < box.size(); ++k) {
    if (!box[k].has_value() || !bounds[k].has_value()) continue;
    const std::optional<Interval> common = intersection(box[k], bounds[k]);
    if (!common) return;
    both[k] = *common;
  }
  box = both;
}

}  // namespace

void RowBounds::add(const EnclosureRow& row) {
  const auto [place, is_new] = rows_.try_emplace(row.t, row);
  if (!is_new) widen(place->second, row);
}

void RowBounds::narrow(EnclosureRow& row) const {
  const auto found = rows_.find(row.t);
  if (found == rows_.end()) return;
  narrow_box(row.box, found->second.box);
  narrow_box(row.multipliers, found->second.multipliers);
  if (found->second.flag == Flag::unique) row.flag = Flag::unique;
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
