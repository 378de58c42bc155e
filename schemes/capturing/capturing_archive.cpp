// The states of Capturing and NonlinearCapturing between two steps: called by the run loop, where a run is kept or gone on with.
#include <iterator>
#include <utility>
#include <vector>

#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>

namespace perp {

/// Empty ones for steps of these lengths.
void Capturing::renew_caches(const std::vector<std::pair<double, bool>>& lengths) {
  caches_.clear();
  for (const auto& [h, is_first] : lengths) {
    StepEquations& equations = is_first ? first_.value() : equations_;
    caches_.push_back({h, &equations, std::make_unique<ModeCache>(equations.family(h))});
  }
}

/// The maps of every length, the last used first; on reading they are solved again.
void Capturing::transfer_caches(Archive& archive) {
  std::vector<std::pair<double, bool>> lengths;  // and are they of backward Euler, for some steps where θ < 1?
  for (const Entry& entry : caches_) lengths.emplace_back(entry.h, entry.equations != &equations_);
  archive(lengths);
  if (archive.is_reading()) renew_caches(lengths);
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
          state.outputs_known, state.is_fresh, state.is_point, state.ends, state.rounding);
  if (!archive.is_reading()) return;
  state.mode = &*modes_.insert(mode).first;
  state.cache = cache < 0 ? nullptr : std::next(caches_.begin(), cache)->cache.get();
}

void Capturing::transfer(Archive& archive, Answer& answer) {
  bool is_given = answer.equations != nullptr, is_first = answer.equations != &equations_;
  archive(is_given);
  if (!is_given) return;
  Mode present;
  if (!archive.is_reading()) present = *answer.present;
  archive(is_first, answer.h, present, answer.attempt.status, answer.attempt.kept_mode, answer.attempt.solutions,
          answer.attempt.ties, answer.attempt.is_choice);
  if (archive.is_reading()) {
    answer.equations = is_first ? &first_.value() : &equations_;
    answer.present = &*modes_.insert(present).first;
  }
  transfer(archive, answer.state);
}

/// What steps at points have made of the equations, those of backward Euler for some steps last.
void Capturing::transfer_points(Archive& archive) {
  for (StepEquations* equations : {&equations_, first_ ? &*first_ : nullptr}) {
    if (equations == nullptr) continue;
    bool is_made = once_[equations == &equations_ ? 0 : 1].step != nullptr;
    archive(is_made);
    if (is_made) point_step(*equations).transfer(archive);
  }
  archive(met_, next_answer_);
  for (Answer& answer : answers_) transfer(archive, answer);
}

void Capturing::transfer(Archive& archive) {
  bool is_first = active_ != &equations_;
  archive(modes_, is_first, indices_, first_order_, fresh_, memory_, previous_, now_, trial_, enumerated_, not_enumerated_,
          solver_calls_, retired_factorisations_, retired_exact_signs_, beside_grid_, account_);
  active_ = is_first ? &first_.value() : &equations_;
  transfer_caches(archive);
  for (State& state : states_) transfer(archive, state);
  transfer_points(archive);
}

void NonlinearCapturing::transfer(Archive& archive, State& state) {
  Mode mode;  // on reading the old ones are gone
  if (!archive.is_reading()) mode = *state.mode;
  archive(state.t, state.x, state.lambda, state.w, state.d, state.h, mode, state.fresh, state.begins, state.entered,
          state.is_first_order, state.weak, state.residual, state.d_error);
  if (archive.is_reading()) state.mode = &*modes_.insert(mode).first;
}

void NonlinearCapturing::transfer(Archive& archive) {
  bool is_oriented = oriented_mode_ != nullptr;
  Mode oriented = is_oriented ? *oriented_mode_ : Mode{};
  archive(modes_, is_first_order_, of_high_index_, first_order_, begins_, entered_, step_, newton_, search_, resets_, path_, settled_);
  archive(previous_, now_, trial_, before_, sides_before_, last_rate_, start_x_error_, start_t_error_, is_oriented, oriented,
          orientation_, old_mode_lasts_, left_branch_, residual_, allowed_until_, leaps_, passed_at_start_);
  archive(searches_, not_enumerated_, undetermined_, weak_, followed_);
  if (archive.is_reading()) oriented_mode_ = is_oriented ? &*modes_.insert(oriented).first : nullptr;
  for (State& state : states_) transfer(archive, state);
}

}  // namespace perp
