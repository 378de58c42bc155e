// Event capturing of hybrid models: steps of the grid in the present mode, in two where it ends.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {
namespace {

constexpr double least_rest = 1e-3;  ///< of h, of [0, 1]: what is left behind an event and joins the next step
constexpr int most_halvings = 40;

/// Is nothing violated at the end of the attempt, or, where that may be, nothing but ends of [0, 1] by less than what
/// is left to rounding? Then binaries are held in it.
bool keeps_mode(ModeSteps& steps, bool may_leave_range) {
  if (!may_leave_range || !steps.leaves_range_by_less(least_rest)) return !steps.is_violated();
  steps.hold_range();
  return true;
}

}  // namespace

ModeSteps& HybridRun::steps_of_mode() {
  find_idle();
  return steps_in(mode_);
}

ModeSteps& HybridRun::steps_in(const HybridMode& mode) {
  std::unique_ptr<ModeSteps>& steps = steps_[{mode.z, mode.surfaces}];
  if (!steps) steps = std::make_unique<ModeSteps>(hybrid_, mode_system(hybrid_, system_, mode, true), mode, schemes_.steps);
  return *steps;
}

/// The end of the present step of the grid, or before it a jump of data. A rest of a step that an event has left
/// may be too short for multipliers of index 2, which are known to eps/h: it joins the next one.
HybridRun::Target HybridRun::next_target() {
  const auto is_passed = [&](const StepGrid::Step& step) {
    return step.is_asked ? step.to <= now_.t : step.to - now_.t < least_rest * model_.run.h;
  };
  while (is_passed(grid_->step())) grid_->advance();
  const StepGrid::Step step = grid_->step();
  if (jump_ && jump_->before < step.to) return {jump_->before, jump_->before - now_.t};
  return {step.to, now_.t == step.from ? step.length : step.to - now_.t};
}

void HybridRun::begin_capturing() {
  record(now_, true);
  grid_.emplace(span_, model_.run.h, output_.times);
  jump_ = switches_.next(now_.t, span_.end);
}

/// One mode, or many by whole steps.
void HybridRun::run_capturing() {
  check_interruption();
  if (now_.t < span_.end && (stage_ == Stage::steps || !take_sparse_steps())) run_mode_by_steps();
  if (is_under_way()) return;
  for (const auto& [key, steps] : steps_) steps->count(result_.counts);
  count_sparse_steps();
  result_.counts["steps"] = taken_;
  if (is_running())
    finish(Status::solved, fmt::format("reached t = {:.10g} in {} steps", now_.t, taken_));
}

void HybridRun::run_mode_by_steps() {
  ModeSteps& steps = steps_of_mode();
  if (std::exchange(stage_, Stage::steps) != Stage::steps) steps.from(now_);
  const bool is_for_one = dense_until_ > now_.t;  // what the steps of large models have left open
  for (bool is_same_mode = true; is_same_mode && is_under_way() && !(is_for_one && now_.t >= dense_until_);) {
    keep_if_due();
    const std::optional<Target> target = solved_target(steps);
    if (!target)
      return finish(Status::not_solved,
                    fmt::format("stopped at {}: no step in this mode is solved: {}", place(),
                                steps.message()));
    is_same_mode = !steps.is_violated();
    if (is_same_mode)
      take_step(steps);
    else
      pass_end_of_mode(steps, *target);
  }
  stage_ = Stage::between_modes;
}

/// The next step, or the longest of its halves that is solved.
std::optional<HybridRun::Target> HybridRun::solved_target(ModeSteps& steps) {
  Target target = next_target();
  bool is_solved = steps.attempt(target.t, target.h);
  for (int k = 0; !is_solved && k < most_halvings; ++k) {
    target = {now_.t + target.h / 2, target.h / 2};
    is_solved = target.t > now_.t && steps.attempt(target.t, target.h);
  }
  return is_solved ? std::optional(target) : std::nullopt;
}

/// The end of the attempt becomes the present state.
void HybridRun::take_step(ModeSteps& steps) {
  steps.accept();
  ++taken_;
  Step end = steps.end();
  if (jump_ && end.t >= jump_->before) {  // data jump: the next step begins with their new values
    end.t = jumped_at_ = jump_->after;
    steps.from(end);
    for (const std::string& jump : switches_.jumps_at(end.t))
      result_.events.push_back(event_at(EventKind::mode_change, end.t, end.x, jump));
    jump_ = switches_.next(end.t, span_.end);
  }
  record(std::move(end), false);
}

/// One more end of a mode, behind a step or at the same moment. False: there are too many at one moment, the run has
/// ended.
bool HybridRun::count_end_of_steps(bool has_moved) {
  changes_at_once_ = has_moved ? 0 : changes_at_once_ + 1;
  if (changes_at_once_ <= hybrid_.q() + 2) return true;
  finish(Status::not_solved,
         fmt::format("stopped at {}: ends of modes follow each other without end; "
                     "expected a shorter h",
                     place()));
  return false;
}

/// The step to where the first constraint is 0, and on from there in the mode of the rule.
void HybridRun::pass_end_of_mode(ModeSteps& steps, Target target) {
  const std::optional<double> length = steps.locate(target.h);
  if (!length)
    return finish(Status::not_solved,
                  fmt::format("stopped at {}: a step to the end of the mode is not solved: {}",
                              place(), steps.message()));
  const bool has_moved = now_.t + *length > now_.t;
  if (has_moved) take_step(steps);
  if (!is_running() || !count_end_of_steps(has_moved)) return;
  const std::vector<int> before = mode_.z;
  if (!choose(false)) return;
  record(now_, true);
  if (is_running() && !has_moved && mode_.z == before) touch(target);
}

/// The mode goes on from its end, which the solution only touches: by the longest of h/2, h/4, ..
/// that violates nothing. The value of a binary that slides is that of the derivatives but for the error of the step:
/// it may go on by these although it has left [0, 1] by the steps, which much shorter ones do not tell for rounding.
void HybridRun::touch(Target target) {
  ModeSteps& steps = steps_of_mode();
  steps.from(now_);
  const double least = least_rest * model_.run.h;
  bool asks_for_range = true;
  double h = target.h / 2;
  for (int k = 0; k < most_halvings && now_.t + h > now_.t; ++k, h /= 2) {
    if (!steps.attempt(now_.t + h, h)) continue;
    if (!keeps_mode(steps, h < least && std::exchange(asks_for_range, false))) continue;
    changes_at_once_ = 0;
    return take_step(steps);
  }
  finish(Status::not_solved,
         fmt::format("stopped at {}: the mode goes on by its derivatives, but no step in it keeps "
                     "its constraints",
                     place()));
}

}  // namespace perp
