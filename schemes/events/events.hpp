#pragma once

#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/status.hpp>
#include <perp/core/law.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// What it is called when a law goes from one branch to another: sliding_entry, sliding_exit,
/// crossing, kink or mode_change.
EventKind kind_of_change(const Law& law, int from, int to);

/// The departures of a step of which the scheme tells none, since the mode before has no solution at its end: of laws whose
/// arguments do not jump, by the secants of these.
std::vector<Scheme::Departure> departures_of_arguments(const std::vector<Law>& laws, const Step& before, const Step& after,
                                                      const Scheme& scheme);

/// The events of an accepted step of the scheme that changes the mode: one per law that changes its branch, at
/// the time interpolated from `departures` (those of laws that follow another: the earliest). Algebraic variables,
/// which may jump there, are those of the step's ends. Without states where these are told by rows alone.
std::vector<Event> mode_events(const std::vector<Law>& laws, const Step& before, const Step& after,
                               const std::vector<Scheme::Departure>& departures, const Scheme& scheme,
                               bool with_states = true);

/// Appends events to a log. An implicit step lands on a surface that it crosses where neither side
/// has a solution: a law in `passing` that was on its inner branch in one state only and left it on
/// the other side has crossed. Its entry and exit become one event. An entry that ends in a jump at
/// once is none.
void append_events(const std::vector<Law>& laws, std::vector<Event> events,
                   const std::vector<int>& passing, std::vector<Event>& log);

inline constexpr std::size_t most_named_modes = 6;  ///< in a sentence

/// Modes with their violations, of more than `most_named_modes` those that miss by least.
std::string modes_text(const std::vector<Law>& laws,
                       std::vector<std::pair<Mode, double>> violations);

/// Both lists as one in the order of time; of one moment those of `first` come first.
std::vector<Event> in_order_of_time(std::vector<Event> first, const std::vector<Event>& second);

/// The event of a jump between two states that are a tiny step apart.
Event jump_event(const Step& before, const Step& after, double size);

/// Is it a jump of data that the log, which is ordered, has already, from another part that reads them?
bool is_told(const Event& event, const std::vector<Event>& log);

/// Is it a jump that the reset of this name made, alone or beside others?
bool is_of_reset(const Event& event, const std::string& name);

/// An event of no law at t, which does not change x.
Event event_at(EventKind kind, double t, const Vector& x, std::string note);

/// A run ends at (t, x) with this status: unless it is solved or interrupted, or the last event says
/// why it ends, an event `stopped` with the message.
void log_end(Status status, double t, const Vector& x, const std::string& message,
             std::vector<Event>& events);

/// Is the last event that of a start which violates a law and was not moved?
bool ends_in_refused_start(const std::vector<Event>& events);

}  // namespace perp
