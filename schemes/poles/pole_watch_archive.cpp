// What PoleWatch has seen so far as bytes: called by the run loop, where a run is kept or gone on with.
#include <vector>

#include <perp/schemes/poles/pole_watch.hpp>

namespace perp {

void PoleWatch::transfer(Archive& archive) {
  std::vector<Mode> modes;
  for (const auto& [mode, formulas] : of_modes_) modes.push_back(mode);
  archive(modes);
  // The last pole names its formulas by list and place; without one both are -1.
  std::vector<FormulaList*> lists{&formulas_};
  for (const Mode& mode : modes) lists.push_back(&formulas_of(mode));
  int list = -1, place = -1;
  for (std::size_t i = 0; i < lists.size(); ++i)
    for (std::size_t k = 0; k < lists[i]->size(); ++k) {
      archive(*(*lists[i])[k]);
      if (seen_.formulas == (*lists[i])[k].get()) list = static_cast<int>(i), place = static_cast<int>(k);
    }
  archive(list, place, seen_.k, seen_.of_time, seen_.until, seen_.size);
  if (archive.is_reading())
    seen_.formulas = list < 0 ? nullptr : lists.at(static_cast<std::size_t>(list))->at(static_cast<std::size_t>(place)).get();
}

}  // namespace perp
