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

/// Appends events to a log. An implicit step lands on a surface that it crosses where neither side
/// has a solution: a law in `passing` that was on its inner branch in one state only and left it on
/// the other side has crossed. Its entry and exit become one event. An entry that ends in a jump at
/// once is none.
void append_events(const std::vector<Law>& laws, std::vector<Event> events,
                   const std::vector<int>& passing, std::vector<Event>& log);

/// The event of a jump between two states that are a tiny step apart.
Event jump_event(const Step& before, const Step& after, double size);

}  // namespace perp
