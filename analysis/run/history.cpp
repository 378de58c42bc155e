#include <algorithm>

#include <perp/analysis/run/history.hpp>
#include <perp/core/branches.hpp>

namespace perp {
namespace {

/// May it be that of a change of mode?
bool may_change_mode(EventKind kind) {
  return kind != EventKind::inconsistent_start && kind != EventKind::no_solution && kind != EventKind::bound &&
         kind != EventKind::stopped;
}

/// Of events in the order of time, from this one on: the first jump up to t, else the first change. Null: none.
const Event* change_until(double t, const std::vector<Event>& events, std::size_t from) {
  const Event* chosen = nullptr;
  for (std::size_t e = from; e < events.size() && events[e].t <= t; ++e) {
    if (!may_change_mode(events[e].kind)) continue;
    if (events[e].kind == EventKind::jump) return &events[e];
    if (chosen == nullptr) chosen = &events[e];
  }
  return chosen;
}

}  // namespace

void ModeHistory::add(double t, const Mode& mode) {
  if (spans_.empty())
    spans_.push_back({mode, t, t, t, t});
  else if (spans_.back().mode != mode)
    spans_.push_back({mode, t, t, last_t_, t});
  last_t_ = t;
}

std::vector<ModeSpan> ModeHistory::resolved(const std::vector<Event>& events) const {
  std::vector<ModeSpan> spans = spans_;
  // Events are in the order of time, and so are the spans.
  std::size_t next = 0;
  for (std::size_t k = 1; k < spans.size(); ++k) {
    ModeSpan& span = spans[k];
    while (next < events.size() && events[next].t < span.found_in) ++next;
    if (const Event* change = change_until(span.found_at, events, next)) span.start = change->t;
  }
  for (std::size_t k = 0; k + 1 < spans.size(); ++k) spans[k].end = spans[k + 1].start;
  if (!spans.empty()) spans.back().end = last_t_;
  return spans;
}

bool is_sliding(const std::vector<Law>& laws, const Mode& mode) {
  for (std::size_t i = 0; i < mode.size(); ++i)
    if (perp::is_sliding(laws.at(i), mode[i])) return true;
  return false;
}

}  // namespace perp
