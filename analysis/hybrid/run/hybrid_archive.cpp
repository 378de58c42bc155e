// Hybrid runs that are kept and gone on with: called by those who keep runs.
#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {

std::string HybridRun::kept() {
  Archive archive;
  transfer(archive);
  return archive.bytes();
}

/// From a state that was kept.
void HybridRun::resume() {
  Archive archive(output_.state.from);
  transfer(archive);
  archive.expect_end();
}

void HybridRun::keep_if_due() {
  const IntegrateOptions::KeptState& state = output_.state;
  if (is_running() && state.due && state.due()) state.keep(kept());
}

/// All that the next steps depend on. What is made when it is first asked for and says the same whenever it is, such as the
/// systems of modes, is made again.
void HybridRun::transfer(Archive& archive) {
  archive(now_, mode_.z, mode_.surfaces, mode_.is_idle, last_, sizes_, time_, has_scales_, rates_);
  archive(why_none_);
  if (!why_none_.empty()) request_ = {};
  archive(states_, S_, dx_end_, dt_end_, condition_, courses_by_rows_, follows_, met_all_, wanted_, met_);
  archive(changes_at_once_, last_change_, crowded_, jumped_at_, last_length_, jump_, is_without_series_, has_short_series_, dense_until_, residual_, taken_);
  archive(stage_, stage_start_, taken_before_, in_mode_, of_radau_, result_);
  transfer_methods(archive);
  transfer_steps(archive);
}

void HybridRun::transfer_methods(Archive& archive) {
  bool has_grid = grid_.has_value(), has_series = series_ != nullptr, has_sparse_steps = sparse_ != nullptr;
  archive(has_grid, has_series, has_sparse_steps);
  if (archive.is_reading()) {
    if (has_grid) grid_.emplace(span_, model_.run.h, output_.times);
    if (has_series) make_series();
    if (has_sparse_steps) make_sparse_steps();
  }
  if (has_grid) archive(*grid_);
  if (has_series) archive(series_->series, series_->near, series_->flow);
  if (has_sparse_steps) archive(*sparse_);
}

/// Of each mode in which steps were made.
void HybridRun::transfer_steps(Archive& archive) {
  std::vector<HybridMode> modes;
  for (const auto& [key, steps] : steps_) modes.push_back(steps->mode());
  std::size_t count = modes.size();
  archive(count);
  modes.resize(count);
  for (HybridMode& mode : modes) {
    archive(mode.z, mode.surfaces, mode.is_idle);
    archive(steps_in(mode));
  }
}

}  // namespace perp
