// Runs of hybrid models: the events of changes of binaries.
#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/core/base/index.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {
namespace {

/// Of all binaries that change at one moment: one that begins to slide tells more than one that ends to.
EventKind kind_of_changes(const std::vector<int>& before, const std::vector<int>& now) {
  bool enters = false, leaves = false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (before[i] == now[i]) continue;
    enters = enters || now[i] == released_binary;
    leaves = leaves || before[i] == released_binary;
  }
  if (enters) return EventKind::sliding_entry;
  return leaves ? EventKind::sliding_exit : EventKind::mode_change;
}

std::vector<int> changed_binaries(const std::vector<int>& before, const std::vector<int>& now) {
  std::vector<int> changed;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (before[i] != now[i]) changed.push_back(static_cast<int>(i));
  return changed;
}

}  // namespace

/// "with z2: λ=0 -> λ=1, z3: ...": the binaries behind this one that change, too.
std::string HybridRun::other_changes(const std::vector<int>& before, int first) const {
  const auto word = [&](int i, int z) { return describe(system_.laws[at(i)].branches[at(z)]); };
  std::string others;
  for (int i = first + 1; i < hybrid_.q(); ++i) {
    const int from = before[at(i)], to = mode_.z[at(i)];
    if (from == to) continue;
    others += fmt::format("{}{}: {} -> {}", others.empty() ? "with " : ", ",
                          hybrid_.binaries[at(i)].name, word(i, from), word(i, to));
  }
  return others;
}

/// One event for all binaries that change at this moment, of the first of them.
void HybridRun::log_change(const std::vector<int>& before, const HybridContinuations& found) {
  const auto [from, to] = std::mismatch(before.begin(), before.end(), mode_.z.begin());
  Event event = event_at(kind_of_changes(before, mode_.z), now_.t, state_of_event(), {});
  event.law = static_cast<int>(from - before.begin());
  event.from = *from;
  event.to = *to;
  const std::string others = other_changes(before, event.law);
  std::vector<std::string> rows;
  for (const int row : found.violated) rows.push_back(row_word(hybrid_, row));
  event.note = others + (others.empty() ? "" : "; ") + fmt::format("{}", fmt::join(rows, ", ")) +
               fmt::format("; {}", found.decided_by);
  event.dt_dq = dt_end_;
  event.condition = condition_;
  const auto count = found.known_count();
  if (count) event.continuations = static_cast<int>(*count);
  const bool is_by_rounding = crowded_.is_at_limit(now_.t, changed_binaries(before, mode_.z)) && count != 1;
  if (is_by_rounding) event.note += "; changes crowd towards this moment, where rounding tells which value continues";
  event.is_weak = is_by_rounding || !found.list[at(*found.chosen)].is_strict;
  result_.events.push_back(std::move(event));
  ++result_.counts["mode_changes"];
}

}  // namespace perp
