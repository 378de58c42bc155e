#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/schemes/lanes/affine/affine_pool.hpp>
#include <perp/schemes/lanes/lane_run.hpp>

namespace perp::eight {
namespace {

constexpr long most_steps = 4096;  ///< of a block before somebody may interrupt it
constexpr long least_steps = 8;    ///< of a run that waits for others

}  // namespace

/// The run as it may go on beside others.
std::optional<AffineMember> AffinePool::member(StepwiseRun& run) {
  if (!has_lanes()) return std::nullopt;
  const std::optional<StepwiseRun::Offer> offer = run.offer();
  auto* const scheme = offer && offer->poles == nullptr ? dynamic_cast<Capturing*>(offer->scheme) : nullptr;
  if (scheme == nullptr || offer->steps.last - offer->steps.first + 1 < least_steps) return std::nullopt;
  const std::optional<Capturing::Repeated> repeated = scheme->repeated(offer->steps.h);
  if (!repeated || AffineBlock::numbers_of(*repeated) == 0) return std::nullopt;
  return AffineMember{scheme, offer->steps, *repeated};
}

/// Alone, until it waits for others or has ended.
void AffinePool::go_on(std::size_t runner) {
  StepwiseRun& run = *runs_[runner];
  while (run.is_running()) {
    if (const std::optional<AffineMember> next = member(run)) {
      waiting_[at(AffineBlock::numbers_of(next->repeated))].push_back(runner);
      return;
    }
    run.advance();
  }
}

/// Free lanes take waiting runs.
void AffinePool::fill(AffineBlock& block, int numbers) {
  std::vector<std::size_t>& waiting = waiting_[at(numbers)];
  for (int lane = 0; lane < AffineBlock::width && !waiting.empty(); ++lane) {
    if (block.is_taken(lane)) continue;
    in_lane_[at(lane)] = waiting.back();
    waiting.pop_back();
    block.load(lane, *member(*runs_[in_lane_[at(lane)]]));
  }
}

/// Its last steps, and the one that is none in its mode, it makes alone.
void AffinePool::take_back(AffineBlock& block, int lane) {
  const std::size_t runner = in_lane_[at(lane)];
  const long steps = block.store(lane);
  runs_[runner]->leap(steps);
  common_steps_ += steps;
  if (runs_[runner]->is_running()) runs_[runner]->advance();
  go_on(runner);
}

void AffinePool::run_waiting(int numbers) {
  AffineBlock block(numbers);
  for (fill(block, numbers); block.is_any_taken(); fill(block, numbers)) {
    block.run(most_steps);
    for (int lane = 0; lane < AffineBlock::width; ++lane)
      if (block.has_ended(lane)) take_back(block, lane);
  }
}

void AffinePool::finish() {
  for (std::size_t runner = 0; runner < runs_.size(); ++runner) go_on(runner);
  for (bool waits = true; waits;) {
    waits = false;
    for (int numbers = 1; numbers <= most_affine_numbers; ++numbers)
      for (; !waiting_[at(numbers)].empty(); waits = true) run_waiting(numbers);
  }
}

}  // namespace perp::eight
