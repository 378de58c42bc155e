#include <algorithm>
#include <utility>

#include <perp/schemes/events/event_log.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {

void EventLog::add(std::vector<Event> events, bool leaves_at_once, bool is_at_start) {
  waiting_.push_back({std::move(events), leaves_at_once, is_at_start});
}

void EventLog::drop(const Scheme::ResetOutcome& outcome) {
  for (Waiting& waiting : waiting_) {
    if (waiting.is_at_start) continue;
    std::erase_if(waiting.events, [&](const Event& event) {
      const bool is_void = std::find(outcome.laws.begin(), outcome.laws.end(), event.law) !=
                           outcome.laws.end();
      return event.t_after > outcome.until || (event.t_after > outcome.since && is_void);
    });
  }
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

/// The way from one state to another, piece after piece, and the poles on it. Between two jumps the way is
/// straight, and changes of mode divide it: the mode before one may last as long as it is not known to be
/// over, beyond the moment at which the next begins. The mode between a jump and the last event is not known.
class WayInPieces {
 public:
  WayInPieces(PoleWatch& poles, const Step& from, const Step& to)
      : poles_(poles), from_(from), to_(to), a_(from), begin_(from.t) {}

  /// The pole before an event, or, where it is itself the next jump, in that; null: there is no jump any more.
  std::optional<PoleWatch::Pole> pole_up_to(const Event& event, const Event* jump) const {
    Step b = to_;
    b.mode = a_.mode;
    if (jump != nullptr) b.t = jump->t, b.x = jump->x_before;
    if (auto pole = pole_before(event.t_after, b)) return pole;
    return jump == &event ? poles_.jump_over(b, event.x_after) : std::nullopt;
  }

  /// The next piece begins with this event.
  void go_behind(const Event& event, bool is_jump) {
    const auto law = static_cast<std::size_t>(event.law);
    begin_ = std::max(begin_, event.t);
    if (is_jump) {
      a_ = to_;
      a_.t = begin_ = event.t;
      a_.x = event.x_after;
      a_.mode.clear();
    } else if (event.law >= 0 && law < a_.mode.size()) {
      a_.mode[law] = event.to;
    }
  }

  /// The pole on the last piece; without events the moment of a change of mode is not known.
  std::optional<PoleWatch::Pole> pole_up_to_end(bool has_events) {
    if (!has_events && from_.mode != to_.mode)
      if (const auto pole = pole_before(to_.t, to_)) return pole;
    a_.mode = to_.mode;
    if (const auto pole = pole_before(to_.t, to_)) return pole;
    return a_.t > from_.t ? poles_.pass_in_time({from_, to_}) : std::nullopt;
  }

 private:
  /// The state on the straight way to b.
  [[nodiscard]] Step state(double time, const Step& b) const {
    const double s = b.t > a_.t ? (time - a_.t) / (b.t - a_.t) : 1;
    const bool is_old = a_.mode == from_.mode;
    return {time, (1 - s) * a_.x + s * b.x, is_old ? from_.lambda : to_.lambda, to_.w, a_.mode};
  }
  [[nodiscard]] std::optional<PoleWatch::Pole> pole_before(double t, const Step& b) const {
    return poles_.pass({state(begin_, b), state(std::clamp(t, begin_, std::max(begin_, b.t)), b)});
  }

  PoleWatch& poles_;
  const Step &from_, &to_;
  Step a_;  // where the present straight piece begins, in the present mode
  double begin_;
};

}  // namespace

std::optional<PoleWatch::Pole> EventLog::pole_on_way(PoleWatch& poles, const Step& from,
                                                     const Step& to) const {
  std::vector<const Event*> events;
  for (const Waiting& waiting : waiting_)
    for (const Event& event : waiting.events) events.push_back(&event);
  const auto jumps = [&](const Event* event) {
    return event->kind == EventKind::jump && event->x_before.size() == from.x.size();
  };
  WayInPieces way(poles, from, to);
  for (auto place = events.begin(); place != events.end(); ++place) {
    const auto jump = std::find_if(place, events.end(), jumps);
    if (const auto pole = way.pole_up_to(**place, jump != events.end() ? *jump : nullptr)) return pole;
    way.go_behind(**place, jump == place);
  }
  return way.pole_up_to_end(!events.empty());
}

}  // namespace perp
