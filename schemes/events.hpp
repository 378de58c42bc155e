#pragma once

#include <vector>

#include <perp/core/law.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// What it is called when a law goes from one branch to another: sliding_entry, sliding_exit,
/// crossing, kink or mode_change.
EventKind kind_of_change(const Law& law, int from, int to);

/// The events of an accepted step that changes the mode: one per law that changes its branch, at
/// the time interpolated from `departures` (those of laws that follow another: the earliest).
std::vector<Event> mode_events(const std::vector<Law>& laws, const Step& before, const Step& after,
                               const std::vector<Scheme::Departure>& departures);

/// The event of a jump between two states that are a tiny step apart.
Event jump_event(const Step& before, const Step& after, double size);

}  // namespace perp
