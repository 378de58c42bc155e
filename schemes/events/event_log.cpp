#include <algorithm>
#include <utility>

#include <perp/schemes/events/event_log.hpp>
#include <perp/schemes/events/events.hpp>

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

namespace {

/// The pole before an event on the way to b, or, where it is a jump from b, the jump itself.
template <class PoleBefore>
std::optional<PoleWatch::Pole> pole_up_to(const Event& event, const Step& b, bool is_jump, PoleWatch& poles,
                                          const PoleBefore& pole_before) {
  if (auto pole = pole_before(event.t_after, b)) return pole;
  return is_jump ? poles.jump_over(b, event.x_after) : std::nullopt;
}

}  // namespace

/// Between two jumps the way is straight, and changes of mode divide it: the mode before one may last
/// as long as it is not known to be over, beyond the moment at which the next begins. The mode between a jump
/// and the last event is not known.
std::optional<PoleWatch::Pole> EventLog::pole_on_way(PoleWatch& poles, const Step& from,
                                                     const Step& to) const {
  std::vector<const Event*> events;
  for (const Waiting& waiting : waiting_)
    for (const Event& event : waiting.events) events.push_back(&event);
  const auto jumps = [&](const Event* event) {
    return event->kind == EventKind::jump && event->x_before.size() == from.x.size();
  };
  Step a = from;  // where the present straight piece begins, in the present mode
  double begin = from.t;
  const auto pole_before = [&](double t, const Step& b) {
    const auto state = [&](double time) {
      const double s = b.t > a.t ? (time - a.t) / (b.t - a.t) : 1;
      const bool is_old = a.mode == from.mode;
      return Step{time, (1 - s) * a.x + s * b.x, is_old ? from.lambda : to.lambda, to.w, a.mode};
    };
    return poles.pass({state(begin), state(std::clamp(t, begin, std::max(begin, b.t)))});
  };
  for (auto place = events.begin(); place != events.end(); ++place) {
    const Event& event = **place;
    const auto jump = std::find_if(place, events.end(), jumps);
    Step b = to;
    b.mode = a.mode;
    if (jump != events.end()) b.t = (*jump)->t, b.x = (*jump)->x_before;
    const bool is_jump = jump == place;
    if (const auto pole = pole_up_to(event, b, is_jump, poles, pole_before)) return pole;
    const auto law = static_cast<std::size_t>(event.law);
    begin = std::max(begin, event.t);
    if (is_jump) {
      a = to;
      a.t = begin = event.t;
      a.x = event.x_after;
      a.mode.clear();
    } else if (event.law >= 0 && law < a.mode.size()) {
      a.mode[law] = event.to;
    }
  }
  if (events.empty() && from.mode != to.mode)  // the moment of the change is not known
    if (const auto pole = pole_before(to.t, to)) return pole;
  a.mode = to.mode;
  if (const auto pole = pole_before(to.t, to)) return pole;
  return a.t > from.t ? poles.pass_in_time({from, to}) : std::nullopt;
}

}  // namespace perp
