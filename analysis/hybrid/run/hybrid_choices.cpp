// Moments of hybrid runs at which several modes continue, or none without a jump.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/hybrid/ways/hybrid_jumps.hpp>
#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {

void HybridRun::follow(std::vector<std::size_t> choices) {
  follows_ = true;
  wanted_ = std::move(choices);
}

/// Of several continuations the one that is asked for.
void HybridRun::take_choice(HybridContinuations& found) {
  met_all_ = met_all_ && found.is_complete;
  if (found.list.size() < 2) return;
  const std::size_t place = met_.size();
  const std::size_t taken = place < wanted_.size() ? wanted_[place] : 0;
  if (taken > 0) {
    found.chosen = static_cast<int>(taken);
    found.decided_by = fmt::format("number {} of {}", taken + 1, found.list.size());
  }
  const HybridContinuation& c = found.list[at(*found.chosen)];
  Mode mode(now_.mode.size(), 0);
  for (int i = 0; i < hybrid_.q(); ++i)
    mode[at(i)] = std::binary_search(c.released.begin(), c.released.end(), i)
                      ? released_binary
                      : static_cast<int>(std::lround(c.z[at(i)]));
  met_.push_back({now_.t, std::move(mode), found.list.size(), taken});
}

/// Where no mode continues: the smallest jump of the states into one. False: none was found.
bool HybridRun::jump(const std::vector<int>& before, const HybridModeOptions& options) {
  if (modes().keeps_states() || request_.columns() > 0) return false;
  const HybridJumps jumps = hybrid_jumps(modes(), system_, now_.t, now_.x, options);
  check_interruption();
  if (jumps.found.empty()) return false;
  Event event = event_at(EventKind::jump, now_.t, now_.x, {});
  enter(jumps.found.front().continuation);
  event.x_after = now_.x;
  event.size = jumps.found.front().size;
  for (int i = 0; i < hybrid_.q(); ++i)
    if (before[at(i)] != mode_.z[at(i)])
      event.note += fmt::format("{} -> {}, ", hybrid_.binaries[at(i)].name,
                                describe(system_.laws[at(i)].branches[at(mode_.z[at(i)])]));
  event.note += fmt::format("no mode continues without a jump; the smallest of {} found{}",
                            jumps.found.size(),
                            jumps.is_complete ? "" : ", not all were looked for");
  result_.events.push_back(std::move(event));
  ++result_.counts["jumps"];
  return true;
}

}  // namespace perp
