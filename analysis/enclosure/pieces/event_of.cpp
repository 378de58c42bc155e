// Events of enclosures as a run's log tells them; called where pieces go from mode to mode.
#include <perp/analysis/enclosure/pieces/event_of.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp::enclosure {

EnclosureEvent event_of(const Gap& gap, const std::vector<Law>& laws, const ModeSystem& from,
                        const ModeSystem& to) {
  EnclosureEvent event{.law = gap.law, .reset = gap.reset, .root = to.root};
  if (gap.reset >= 0) {
    event.type = to_string(EventKind::jump);
    return event;
  }
  const auto law = static_cast<std::size_t>(gap.law);
  event.from = from.mode[law];
  event.to = to.mode[law];
  event.type = to_string(kind_of_change(laws[law], event.from, event.to));
  return event;
}

}  // namespace perp::enclosure
