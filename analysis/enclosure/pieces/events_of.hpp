#pragma once

#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/analysis/enclosure/modes/event_window.hpp>

namespace perp::enclosure {

/// What happens where a gap of one mode reaches 0 and the other mode goes on: the reset, then every law
/// that goes to another branch, as one does whose argument a reset sets or that another law holds. Its
/// time and what is known of it are left to the caller.
std::vector<EnclosureEvent> events_of(const Gap& gap, const std::vector<Law>& laws,
                                      const ModeSystem& from, const ModeSystem& to);

/// The same of an event that was located: also resets that fire in the mode that a law brings.
std::vector<EnclosureEvent> events_of(const EventWindow& window, const Gap& gap,
                                      const std::vector<Law>& laws, const ModeSystem& from,
                                      const ModeSystem& to);

}  // namespace perp::enclosure
