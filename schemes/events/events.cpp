#include <fmt/format.h>
#include <algorithm>

#include <perp/core/branches.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {
namespace {

constexpr double least_stay = 1e-6;  ///< of a step: a mode left sooner has not been entered

bool has_vertical_branch(const Law& law) {
  return std::any_of(law.branches.begin(), law.branches.end(), is_vertical);
}

/// First law whose branch differs, -1 if none.
int first_change(const Mode& before, const Mode& after) {
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i)
    if (before[i] != after[i]) return static_cast<int>(i);
  return -1;
}

/// The earliest share of a step at which a law leaves its branch; 0 where the old mode could have stayed: the selector left
/// it at once.
double first_share(const std::vector<Scheme::Departure>& departures) {
  double earliest = 1;
  for (const Scheme::Departure& departure : departures) earliest = std::min(earliest, departure.s);
  return departures.empty() ? 0 : earliest;
}

/// The last share at which each law does, of one that follows another that of the earliest.
std::vector<double> shares_of(std::size_t laws, const std::vector<Scheme::Departure>& departures) {
  std::vector<double> shares(laws, first_share(departures));
  for (const Scheme::Departure& departure : departures)
    if (departure.law >= 0) shares[static_cast<std::size_t>(departure.law)] = departure.s;
  return shares;
}

/// The state before and behind a change of mode at this share of the way.
void put_states(const Step& before, const Step& after, double s, const Scheme& scheme, Event& event) {
  event.x_before = event.x_after = (1 - s) * before.x + s * after.x;
  for (int j = 0; j < before.x.size(); ++j)
    if (scheme.is_algebraic(j)) event.x_before[j] = before.x[j], event.x_after[j] = after.x[j];
}

/// Does the last event say why a run ends at t?
bool says_end(const std::vector<Event>& events, double t) {
  return !events.empty() && events.back().t >= t &&
         (events.back().kind == EventKind::no_solution || events.back().kind == EventKind::stopped ||
          events.back().kind == EventKind::accumulation || ends_in_refused_start(events));
}

/// Does a law leave its inner branch at once and on the other side, after the entry that is the last known of it (null:
/// there is none)?
bool crosses_surface(const Event& exit, const Event* entry, const std::vector<int>& passing) {
  return exit.kind == EventKind::sliding_exit && entry != nullptr &&
         std::find(passing.begin(), passing.end(), exit.law) != passing.end() &&
         entry->kind == EventKind::sliding_entry && entry->t_after == exit.t_before && entry->from != exit.to;
}

/// Does an entry end in this jump at once? A step may end, to rounding, where the solution jumps: the end of its mode lies on
/// the next one.
bool voids_entry(const Event& jump, const Event* entry) {
  return jump.kind == EventKind::jump && entry != nullptr && entry->kind == EventKind::sliding_entry &&
         entry->to == jump.from && jump.t - entry->t_after <= least_stay * (entry->t_after - entry->t_before);
}

}  // namespace

EventKind kind_of_change(const Law& law, int from, int to) {
  if (is_sliding(law, to)) return EventKind::sliding_entry;
  if (is_sliding(law, from)) return EventKind::sliding_exit;
  for (std::size_t k = 0; k < law.branches.size(); ++k)
    if (is_sliding(law, static_cast<int>(k))) return EventKind::crossing;
  if (!has_vertical_branch(law) && !law.memory) return EventKind::kink;
  return EventKind::mode_change;
}

std::vector<Scheme::Departure> departures_of_arguments(const std::vector<Law>& laws, const Step& before, const Step& after,
                                                      const Scheme& scheme) {
  std::vector<Scheme::Departure> departures;
  for (std::size_t i = 0; i < before.mode.size() && i < after.mode.size(); ++i) {
    const int law = static_cast<int>(i);
    if (before.mode[i] == after.mode[i] || scheme.argument_jumps(law)) continue;
    const Range range = w_range(laws[i].branches[static_cast<std::size_t>(before.mode[i])]);
    const double from = before.w[law], to = after.w[law], end = std::clamp(to, range.lower, range.upper);
    if (from >= range.lower && from <= range.upper && end != to) departures.push_back({law, (end - from) / (to - from)});
  }
  return departures;
}

std::vector<Event> mode_events(const std::vector<Law>& laws, const Step& before, const Step& after,
                               const std::vector<Scheme::Departure>& departures, const Scheme& scheme,
                               bool with_states) {
  const std::vector<double> shares = shares_of(before.mode.size(), departures);
  std::vector<Event> events;
  for (std::size_t i = 0; i < before.mode.size() && i < after.mode.size(); ++i) {
    if (before.mode[i] == after.mode[i]) continue;
    const double s = shares[i];
    Event event;
    event.kind = kind_of_change(laws[i], before.mode[i], after.mode[i]);
    event.t_before = before.t;
    event.t_after = after.t;
    event.t = before.t + s * (after.t - before.t);
    event.law = static_cast<int>(i);
    event.from = before.mode[i];
    event.to = after.mode[i];
    if (with_states) put_states(before, after, s, scheme, event);
    events.push_back(std::move(event));
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.t < b.t; });
  return events;
}

void append_events(const std::vector<Law>& laws, std::vector<Event> events,
                   const std::vector<int>& passing, std::vector<Event>& log) {
  for (Event& event : events) {
    if (event.kind != EventKind::sliding_exit && event.kind != EventKind::jump) {  // else no earlier one counts
      log.push_back(std::move(event));
      continue;
    }
    const auto last = std::find_if(log.rbegin(), log.rend(),
                                   [&](const Event& known) { return known.law == event.law; });
    const Event* known = last == log.rend() ? nullptr : &*last;
    if (crosses_surface(event, known, passing)) {
      last->to = event.to;
      last->kind = kind_of_change(laws[static_cast<std::size_t>(event.law)], last->from, last->to);
      last->t_after = event.t_after;
      last->x_after = event.x_after;
      continue;
    }
    if (voids_entry(event, known)) {
      event.from = last->from;
      log.erase(std::next(last).base());
    }
    log.push_back(std::move(event));
  }
}

std::string modes_text(const std::vector<Law>& laws,
                       std::vector<std::pair<Mode, double>> violations) {
  const std::size_t count = violations.size();
  if (count > most_named_modes) {
    std::stable_sort(violations.begin(), violations.end(),
                     [](const auto& a, const auto& b) { return a.second < b.second; });
    violations.resize(most_named_modes);
  }
  std::string text;
  for (const auto& [mode, violation] : violations)
    text += fmt::format("{}{}: {:.3g}", text.empty() ? "" : ", ", describe_briefly(laws, mode), violation);
  if (count > most_named_modes) text += fmt::format(", {} more", count - most_named_modes);
  return text;
}

std::vector<Event> in_order_of_time(std::vector<Event> first, const std::vector<Event>& second) {
  first.insert(first.end(), second.begin(), second.end());
  std::stable_sort(first.begin(), first.end(),
                   [](const Event& a, const Event& b) { return a.t < b.t; });
  return first;
}

Event jump_event(const Step& before, const Step& after, double size) {
  Event event;
  event.kind = EventKind::jump;
  event.t_before = before.t;
  event.t = event.t_after = after.t;
  event.law = first_change(before.mode, after.mode);
  if (event.law >= 0) {
    event.from = before.mode[static_cast<std::size_t>(event.law)];
    event.to = after.mode[static_cast<std::size_t>(event.law)];
  }
  event.x_before = before.x;
  event.x_after = after.x;
  event.size = size;
  return event;
}

bool is_told(const Event& event, const std::vector<Event>& log) {
  if (event.kind != EventKind::mode_change || event.law >= 0) return false;
  for (auto known = log.rbegin(); known != log.rend() && known->t == event.t; ++known)
    if (known->kind == event.kind && known->law < 0 && known->note == event.note) return true;
  return false;
}

bool is_of_reset(const Event& event, const std::string& name) {
  if (event.kind != EventKind::jump || event.law >= 0) return false;
  return fmt::format(", {}, ", event.note).find(fmt::format(", {}, ", name)) != std::string::npos;  // see ResetWatch::names
}

Event event_at(EventKind kind, double t, const Vector& x, std::string note) {
  Event event;
  event.kind = kind;
  event.t = event.t_before = event.t_after = t;
  event.x_before = event.x_after = x;
  event.note = std::move(note);
  return event;
}

void log_end(Status status, double t, const Vector& x, const std::string& message,
             std::vector<Event>& events) {
  if (status == Status::solved || status == Status::interrupted) return;
  if (!says_end(events, t)) events.push_back(event_at(EventKind::stopped, t, x, message));
}

bool ends_in_refused_start(const std::vector<Event>& events) {
  return !events.empty() && events.back().kind == EventKind::inconsistent_start &&
         events.back().x_before == events.back().x_after;
}

}  // namespace perp
