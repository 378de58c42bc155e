// The state of Capturing between two steps: called by the run loop, where a run is kept or gone on with.
#include <iterator>
#include <utility>
#include <vector>

#include <perp/schemes/capturing/capturing.hpp>

namespace perp {

/// The maps of every length, the last used first; on reading they are solved again.
void Capturing::transfer_caches(Archive& archive) {
  std::vector<std::pair<double, bool>> lengths;  // and are they of backward Euler, for some steps where θ < 1?
  for (const Entry& entry : caches_) lengths.emplace_back(entry.h, entry.equations != &equations_);
  archive(lengths);
  if (archive.is_reading()) {
    caches_.clear();
    for (const auto& [h, is_first] : lengths) {
      StepEquations& equations = is_first ? first_.value() : equations_;
      caches_.push_back({h, &equations, std::make_unique<ModeCache>(equations.family(h))});
    }
  }
  for (Entry& entry : caches_) archive(*entry.cache);
  // The one in use is the first, where there is one.
  archive(h_);
  if (!archive.is_reading()) return;
  cache_ = caches_.empty() ? nullptr : caches_.front().cache.get();
  cache_equations_ = caches_.empty() ? nullptr : caches_.front().equations;
}

void Capturing::transfer(Archive& archive, State& state) {
  Mode mode;  // on reading the old ones are gone
  if (!archive.is_reading()) mode = *state.mode;
  int cache = -1, number = 0;
  for (const Entry& entry : caches_) {
    if (entry.cache.get() == state.cache) cache = number;
    ++number;
  }
  archive(state.t, state.x, state.x_known, state.lambda, state.w, mode, cache, state.map, state.parameter,
          state.outputs_known, state.is_fresh);
  if (!archive.is_reading()) return;
  state.mode = &*modes_.insert(mode).first;
  state.cache = cache < 0 ? nullptr : std::next(caches_.begin(), cache)->cache.get();
}

void Capturing::transfer(Archive& archive) {
  bool is_first = active_ != &equations_;
  archive(modes_, is_first, indices_, first_order_, fresh_, memory_, previous_, now_, trial_, enumerated_, not_enumerated_,
          solver_calls_, retired_factorisations_, retired_exact_signs_);
  active_ = is_first ? &first_.value() : &equations_;
  transfer_caches(archive);
  for (State& state : states_) transfer(archive, state);
}

}  // namespace perp
