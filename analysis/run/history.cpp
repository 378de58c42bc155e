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

/// The number of the first event that is not before t.
std::size_t first_from(double t, const std::vector<Event>& events) {
  return static_cast<std::size_t>(std::ranges::lower_bound(events, t, {}, &Event::t) - events.begin());
}

/// The modes that events lead through, one after the other, between two moments at which a run's mode is known.
class ModeWay {
 public:
  ModeWay(const Mode& from, const Mode& target) : from_(from), target_(target), now_(from), is_touched_(from.size(), 0) {}

  /// Does the event change a law of the present mode? Where it does not, those behind the last moment at which the events
  /// agreed with the target tell nothing.
  bool take(const Event& event) {
    if (event.law < 0 || event.from == event.to || at(event.law) >= now_.size()) return false;
    if (!leaves(now_, event)) go_back();
    if (!leaves(now_, event)) return false;
    change(at(event.law), event.to);
    if (!spans_.empty() && spans_.back().start == event.t)  // whose mode is the present one but for that
      spans_.back().mode[at(event.law)] = event.to;
    else
      spans_.push_back({now_, event.t, event.t, event.t_before, event.t_after});
    if (apart_ > 0) return false;
    good_ = spans_.size();
    return true;
  }

  /// The modes up to the last moment at which they agreed with the target, which the last one is then. Laws that no event
  /// tells of change with that.
  std::vector<ModeSpan> finish() {
    spans_.resize(good_);
    if (!spans_.empty()) spans_.back().mode = target_;
    return std::move(spans_);
  }

 private:
  [[nodiscard]] bool is_apart(std::size_t law) const { return is_touched_[law] != 0 && now_[law] != target_[law]; }
  void change(std::size_t law, int branch) {
    if (is_apart(law)) --apart_;
    now_[law] = branch;
    is_touched_[law] = 1;
    if (is_apart(law)) ++apart_;
  }
  void go_back() {
    spans_.resize(good_);
    now_ = good_ > 0 ? spans_.back().mode : from_;
    apart_ = 0;
    for (std::size_t i = 0; i < now_.size(); ++i)
      if (is_apart(i)) ++apart_;
  }

  const Mode &from_, &target_;
  Mode now_;
  std::vector<char> is_touched_;  // by an event
  std::size_t apart_ = 0;         // how many of these are not as in the target
  std::vector<ModeSpan> spans_;
  std::size_t good_ = 0;  // how many lead to the target
};

/// The modes from that of `before` to that of `after`, in which steps up to `until` end, as the events from number `next` on
/// tell; those that are used are behind it then. Empty: they tell of none.
std::vector<ModeSpan> way_between(const Mode& before, const Mode& after, double until, const std::vector<Event>& events,
                                  std::size_t& next) {
  ModeWay way(before, after);
  std::size_t used = next;
  for (std::size_t e = next; e < events.size() && events[e].t <= until; ++e)
    if (may_change_mode(events[e].kind) && way.take(events[e])) used = e + 1;
  next = std::max(used, first_from(until, events));  // one at that moment may be of the next step
  return way.finish();
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
  if (spans_.empty()) return {};
  std::vector<ModeSpan> all{spans_.front()};
  const auto add = [&all](const std::vector<ModeSpan>& way) {
    for (const ModeSpan& span : way)
      if (span.mode != all.back().mode) all.push_back(span);
  };
  std::size_t next = 0;  // events and spans are in the order of time
  for (std::size_t k = 1; k < spans_.size(); ++k) {
    ModeSpan span = spans_[k];
    const Mode& before = spans_[k - 1].mode;
    const std::size_t first = std::max(next, first_from(span.found_in, events));
    const std::vector<ModeSpan> way = way_between(before, span.mode, span.found_at, events, next);
    const Event* change = way.empty() ? change_until(span.found_at, before, span.mode, events, first) : nullptr;
    if (change != nullptr) span.start = change->t;
    add(way.empty() ? std::vector<ModeSpan>{span} : way);
  }
  add(way_between(spans_.back().mode, spans_.back().mode, last_t_, events, next));
  for (std::size_t k = 0; k + 1 < all.size(); ++k) all[k].end = all[k + 1].start;
  all.back().end = last_t_;
  return all;
}

bool is_sliding(const std::vector<Law>& laws, const Mode& mode) {
  for (std::size_t i = 0; i < mode.size(); ++i)
    if (perp::is_sliding(laws.at(i), mode[i])) return true;
  return false;
}

}  // namespace perp
