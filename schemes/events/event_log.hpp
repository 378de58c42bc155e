#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/law.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/poles/pole_watch.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// The events of a run. Those of the step being made wait until no reset has taken it back.
class EventLog {
 public:
  explicit EventLog(const std::vector<Law>& laws) : laws_(laws) {}

  /// Events of one moment or step. `leaves_at_once`: the mode that they enter ends with the state
  /// reached (see `append_events`). `is_at_start`: they are what a reset has done, where the way begins.
  void add(std::vector<Event> events, bool leaves_at_once, bool is_at_start = false);
  /// Takes out what comes after a reset, or is part of its event.
  void drop(const Scheme::ResetOutcome& outcome);
  void drop_all() { waiting_.clear(); }
  /// Those behind the start of the way, which is gone once more.
  void drop_way() {
    std::erase_if(waiting_, [](const Waiting& waiting) { return !waiting.is_at_start; });
  }
  /// The first pole between two states, with the jumps that wait in between taken out of the way.
  std::optional<PoleWatch::Pole> pole_on_way(PoleWatch& poles, const Step& from,
                                             const Step& to) const;
  /// What it knows between two steps, when nothing waits.
  void transfer(Archive& archive) { archive(passing_); }
  /// Makes those that wait part of `log`.
  void write(std::vector<Event>& log);

 private:
  struct Waiting {
    std::vector<Event> events;
    bool leaves_at_once, is_at_start;
  };
  const std::vector<Law>& laws_;
  std::vector<Waiting> waiting_;
  std::vector<int> passing_;  // laws whose last entry into sliding was a surface being crossed
};

}  // namespace perp
