// What tables and pictures of an enclosure hold: rows of the whole set, or of its pieces.
#include <algorithm>

#include <perp/cli/enclosures/enclosure_run.hpp>
#include <perp/core/base/index.hpp>

namespace perp::cli {
std::vector<TableRow> EnclosureRun::all_rows() const {
  std::vector<TableRow> list;
  if (!by_pieces)
    for (const enclosure::EnclosureRow& row : result.rows) list.push_back({&row});
  else
    for (std::size_t k = 0; k < result.paving.size(); ++k)
      for (const enclosure::EnclosureRow& row : result.paving[k].rows)
        list.push_back({&row, static_cast<int>(k)});
  std::ranges::stable_sort(list, {}, [](const TableRow& of) { return of.row->t; });
  return list;
}

std::vector<TableRow> EnclosureRun::rows() const {
  std::vector<TableRow> wanted = all_rows();
  std::erase_if(
      wanted, [this](const TableRow& of) { return !std::ranges::binary_search(times, of.row->t); });
  return wanted;
}

enclosure::Box EnclosureRun::outputs(const TableRow& of) const {
  return model.outputs_at(of.row->t, of.row->box, of.row->multipliers,
                          of.piece < 0 ? model.values : result.paving[at(of.piece)].parameters);
}

}  // namespace perp::cli
