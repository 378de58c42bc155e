#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/schemes/lanes/lane_pool.hpp>
#include <perp/schemes/lanes/lane_run.hpp>

namespace perp::eight {
namespace {

constexpr long most_steps = 4096;  ///< of a block before it is asked whether other forms have more runs
constexpr int least_lanes = 3;     ///< of a block that other runs than its own wait for

}  // namespace

/// An equal form that was met before, or this one.
const LaneForm* LanePool::known(LaneForm form) {
  for (const auto& other : forms_)
    if (*other == form) return other.get();
  forms_.push_back(std::make_unique<LaneForm>(std::move(form)));
  return forms_.back().get();
}

const LanePool::InMode& LanePool::in_mode(Runner& runner, const NonlinearCapturing& scheme) {
  const auto [place, is_new] = runner.modes.try_emplace(scheme.mode());
  if (is_new) {
    place->second.form = known(LaneAccess::form(scheme));
    if (place->second.form->is_served) place->second.numbers = LaneAccess::numbers(scheme, *place->second.form);
  }
  return place->second;
}

/// The run as it may go on beside others.
std::optional<LaneMember> LanePool::member(std::size_t runner) {
  if (!has_lanes()) return std::nullopt;
  const std::optional<StepwiseRun::Offer> offer = runs_[runner].run->offer();
  auto* const scheme = offer ? dynamic_cast<NonlinearCapturing*>(offer->scheme) : nullptr;
  if (scheme == nullptr || !LaneAccess::is_ready(*scheme, offer->steps.h)) return std::nullopt;
  const InMode& in = in_mode(runs_[runner], *scheme);
  if (!in.form->is_served) return std::nullopt;
  return LaneMember{scheme, offer->poles, offer->steps, in.form, &in.numbers};
}

/// Alone, until it waits for others or has ended.
void LanePool::go_on(std::size_t runner) {
  StepwiseRun& run = *runs_[runner].run;
  while (run.is_running()) {
    if (const std::optional<LaneMember> next = member(runner)) {
      waiting_[next->form].push_back(runner);
      return;
    }
    run.advance();
  }
}

const LaneForm* LanePool::next_form() const {
  const LaneForm* form = nullptr;
  std::size_t most = 0;
  for (const auto& candidate : forms_)  // in the order in which they were met
    if (const auto place = waiting_.find(candidate.get()); place != waiting_.end() && place->second.size() > most) {
      form = candidate.get();
      most = place->second.size();
    }
  return form;
}

/// Free lanes take waiting runs of the form.
void LanePool::fill(LaneBlock& block, const LaneForm& form) {
  for (int lane = 0; lane < LaneBlock::width; ++lane) {
    while (!block.is_taken(lane) && !waiting_[&form].empty()) {
      const std::size_t runner = waiting_[&form].back();
      waiting_[&form].pop_back();
      if (const std::optional<LaneMember> next = member(runner); next && block.load(lane, *next)) {
        in_lane_[at(lane)] = runner;
      } else {
        runs_[runner].run->advance();
        go_on(runner);
      }
    }
  }
}

void LanePool::take_back(LaneBlock& block, int lane) {
  const bool is_given_up = block.is_given_up(lane);
  const std::size_t runner = in_lane_[at(lane)];
  const long steps = block.store(lane);
  runs_[runner].run->leap(steps);
  common_steps_ += steps;
  // Where it was at the end of what is proved ahead of it, its next step may be a common one again.
  const bool may_go_on = steps > 0 && block.looks_ahead(lane);
  if (is_given_up && !may_go_on) runs_[runner].run->advance();
  go_on(runner);
}

/// Are few runs of this form left while others wait?
bool LanePool::is_short(const LaneBlock& block, const LaneForm& form) const {
  int taken = 0;
  for (int lane = 0; lane < LaneBlock::width; ++lane) taken += block.is_taken(lane) ? 1 : 0;
  const LaneForm* const other = next_form();
  return taken < least_lanes && other != nullptr && other != &form;
}

void LanePool::run_form(LaneBlock& block, const LaneForm& form) {
  block.begin(form);
  for (fill(block, form); block.is_any_taken(); fill(block, form)) {
    block.run(most_steps);
    for (int lane = 0; lane < LaneBlock::width; ++lane)
      if (block.is_given_up(lane)) take_back(block, lane);
    if (is_short(block, form)) break;
  }
  for (int lane = 0; lane < LaneBlock::width; ++lane)
    if (block.is_taken(lane)) take_back(block, lane);
}

void LanePool::finish() {
  for (std::size_t runner = 0; runner < runs_.size(); ++runner) go_on(runner);
  LaneBlock block;
  while (const LaneForm* const form = next_form()) run_form(block, *form);
}

}  // namespace perp::eight
