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

bool EventLog::has_jump() const {
  return std::any_of(waiting_.begin(), waiting_.end(), [](const Waiting& one) {
    return std::any_of(one.events.begin(), one.events.end(),
                       [](const Event& event) { return event.kind == EventKind::jump; });
  });
}

}  // namespace perp
