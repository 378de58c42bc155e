// The state of NonlinearCapturing between two steps: called by the run loop, where a run is kept or gone on with.
#include <perp/schemes/capturing/nonlinear_capturing.hpp>

namespace perp {

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
