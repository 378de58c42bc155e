// Messages of recorded structs that read or write beyond what there is; see make_dcs.

#include <fmt/format.h>

#include <perp/core/expression/rewriting/cancelled_constants.hpp>
#include <perp/core/recorder.hpp>

namespace perp {

void RecordedList::fail_index(long k) const {
  const bool one = list_.size() == 1;
  throw InvalidInput(fmt::format("{}[{}], but there {} {} {}{}", use_, k, one ? "is" : "are",
                                 list_.size(), there_is_, one ? "" : "s"));
}

void RecordedList::check_written(const std::string& what) const {
  for (std::size_t k = 0; k < list_.size(); ++k)
    if (list_[k].is_nan())
      throw InvalidInput(fmt::format("{}[{}], one of {} {}{}", what, k, list_.size(), there_is_,
                                     list_.size() == 1 ? "" : "s"));
}

void RecordedList::cancel_constants(Dcs& system) {
  CancelledConstants cancelled(system.tape, system.parameter_input(0));
  for (std::vector<int>* lines : {&system.F, &system.G})
    for (int& line : *lines) line = cancelled(line);
}

}  // namespace perp
