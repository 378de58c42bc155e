#include <algorithm>
#include <utility>

#include <perp/analysis/run/history.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>

namespace perp {
namespace {

/// May it be that of a change of mode?
bool may_change_mode(EventKind kind) {
  return kind != EventKind::inconsistent_start && kind != EventKind::no_solution && kind != EventKind::bound &&
         kind != EventKind::stopped;
}

/// Does a law go from its branch in this mode to another one by this event?
bool leaves(const Mode& mode, const Event& event) {
  return event.law >= 0 && at(event.law) < mode.size() && mode[at(event.law)] == event.from && event.from != event.to;
}

/// Does a law go from its branch in the one mode to that in the other by this event?
bool leads(const Mode& before, const Mode& after, const Event& event) {
  return leaves(before, event) && after[at(event.law)] == event.to;
}

/// Of events in the order of time, from this one on up to t: the first that leads a law from its branch before to that
/// after, else the first jump, which tells nothing of laws, else the first change. Null: none.
const Event* change_until(double t, const Mode& before, const Mode& after, const std::vector<Event>& events, std::size_t from) {
  const Event *chosen = nullptr, *jump = nullptr;
  for (std::size_t e = from; e < events.size() && events[e].t <= t; ++e) {
    if (!may_change_mode(events[e].kind)) continue;
    if (leads(before, after, events[e])) return &events[e];
    if (jump == nullptr && events[e].kind == EventKind::jump) jump = &events[e];
    if (chosen == nullptr) chosen = &events[e];
  }
  return jump != nullptr ? jump : chosen;
}

/// The modes from the event `first` on that begin and end within one step, at whose ends a run is in the same mode; empty:
/// its events do not lead back there.
std::vector<ModeSpan> modes_within_step(const Mode& mode, const std::vector<Event>& events, std::size_t first, double until) {
  std::vector<ModeSpan> spans;
  Mode now = mode;
  double in_step = events[first].t_after;
  for (std::size_t e = first; e < events.size() && events[e].t <= until; ++e) {
    const Event& event = events[e];
    if (event.law < 0) continue;
    if (!leaves(now, event) || !(event.t_before < in_step)) return {};
    now[at(event.law)] = event.to;
    in_step = std::max(in_step, event.t_after);
    if (!spans.empty()) spans.back().end = event.t;
    if (now == mode) return spans;
    spans.push_back({now, event.t, event.t, event.t_before, event.t_after});
  }
  return {};
}

/// A span with the modes in between that no step ends in, as these events tell, which are before `until`.
void append_with_modes_within_steps(ModeSpan span, double until, const std::vector<Event>& events, std::vector<ModeSpan>& list) {
  const auto first = std::ranges::lower_bound(events, span.found_at, {}, &Event::t);
  const double end = span.end;
  for (auto e = at(static_cast<int>(first - events.begin())); e < events.size() && events[e].t <= until; ++e) {
    if (!leaves(span.mode, events[e]) || events[e].t < span.start) continue;
    const std::vector<ModeSpan> within = modes_within_step(span.mode, events, e, until);
    if (within.empty()) continue;
    span.end = within.front().start;
    list.push_back(span);
    list.insert(list.end(), within.begin(), within.end());
    span.start = span.found_in = span.found_at = within.back().end;
    while (e + 1 < events.size() && events[e + 1].t < span.start) ++e;
  }
  span.end = end;
  list.push_back(std::move(span));
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
    if (const Event* change = change_until(span.found_at, spans[k - 1].mode, span.mode, events, next)) span.start = change->t;
  }
  for (std::size_t k = 0; k + 1 < spans.size(); ++k) spans[k].end = spans[k + 1].start;
  if (!spans.empty()) spans.back().end = last_t_;
  std::vector<ModeSpan> all;
  for (std::size_t k = 0; k < spans.size(); ++k)
    append_with_modes_within_steps(spans[k], k + 1 < spans.size() ? spans[k + 1].found_in : last_t_, events, all);
  return all;
}

bool is_sliding(const std::vector<Law>& laws, const Mode& mode) {
  for (std::size_t i = 0; i < mode.size(); ++i)
    if (perp::is_sliding(laws.at(i), mode[i])) return true;
  return false;
}

}  // namespace perp
