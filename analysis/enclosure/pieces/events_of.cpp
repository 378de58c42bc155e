// Events of enclosures as a run's log tells them; called where pieces go from mode to mode.
#include <perp/analysis/enclosure/pieces/events_of.hpp>
#include <perp/core/base/index.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp::enclosure {

std::vector<EnclosureEvent> events_of(const Gap& gap, const std::vector<Law>& laws,
                                      const ModeSystem& from, const ModeSystem& to) {
  std::vector<EnclosureEvent> events;
  if (gap.reset >= 0)
    events.push_back({.type = to_string(EventKind::jump), .reset = gap.reset, .root = to.root});
  for (int law = 0; law < static_cast<int>(laws.size()); ++law) {
    EnclosureEvent event{
        .law = law, .from = from.mode[at(law)], .to = to.mode[at(law)], .root = to.root};
    if (event.from == event.to && law != gap.law) continue;
    event.type = to_string(kind_of_change(laws[at(law)], event.from, event.to));
    events.push_back(event);
  }
  return events;
}

std::vector<EnclosureEvent> events_of(const EventWindow& window, const Gap& gap,
                                      const std::vector<Law>& laws, const ModeSystem& from,
                                      const ModeSystem& to) {
  if (window.fired().empty())
    return gap.reset >= 0 ? std::vector<EnclosureEvent>{} : events_of(gap, laws, from, to);
  if (gap.reset >= 0) return events_of(gap, laws, from, to);
  const ModeSystem& between = window.fired_in().system;
  std::vector<EnclosureEvent> events = events_of(gap, laws, from, between);
  for (const int reset : window.fired()) {
    const bool is_last = reset == window.fired().back();
    const std::vector<EnclosureEvent> more =
        events_of(Gap{.reset = reset}, laws, between, is_last ? to : between);
    events.insert(events.end(), more.begin(), more.end());
  }
  return events;
}

}  // namespace perp::enclosure
