#include <algorithm>
#include <utility>

#include <perp/schemes/event_log.hpp>
#include <perp/schemes/events.hpp>

namespace perp {

void EventLog::add(std::vector<Event> events, bool leaves_at_once) {
  waiting_.push_back({std::move(events), leaves_at_once});
}

void EventLog::drop(const Scheme::ResetOutcome& outcome) {
  for (Waiting& waiting : waiting_)
    std::erase_if(waiting.events, [&](const Event& event) {
      const bool is_void = std::find(outcome.laws.begin(), outcome.laws.end(), event.law) !=
                           outcome.laws.end();
      return event.t_after > outcome.until || (event.t_after > outcome.since && is_void);
    });
}

void EventLog::write(std::vector<Event>& log) {
  for (Waiting& waiting : waiting_) {
    std::vector<int> entered;
    for (const Event& event : waiting.events)
      if (event.kind == EventKind::sliding_entry) entered.push_back(event.law);
    append_events(laws_, std::move(waiting.events), passing_, log);
    if (!entered.empty())
      passing_ = waiting.leaves_at_once ? std::move(entered) : std::vector<int>{};
  }
  waiting_.clear();
}

std::optional<PoleWatch::Pole> EventLog::pole_on_way(PoleWatch& poles, const Step& from,
                                                     const Step& to) const {
  Step a = from;
  for (const Waiting& waiting : waiting_)
    for (const Event& event : waiting.events) {
      if (event.kind != EventKind::jump || event.x_before.size() != from.x.size()) continue;
      Step b = a;
      b.t = event.t;
      b.x = event.x_before;
      if (const auto pole = poles.pass(a, b)) return pole;
      a = to;
      a.t = event.t;
      a.x = event.x_after;
    }
  if (const auto pole = poles.pass(a, to)) return pole;
  return a.t > from.t ? poles.pass_in_time(from, to) : std::nullopt;
}

}  // namespace perp
