#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

#include <perp/analysis/convergence/event_times.hpp>

namespace perp {
namespace {

using Marks = std::vector<const EventMark*>;

/// In the order of time, by law.
std::map<std::string, Marks> by_law(const std::vector<EventMark>& events) {
  std::map<std::string, Marks> lists;
  for (const EventMark& event : events) lists[event.law].push_back(&event);
  return lists;
}

std::string number_of_events(std::size_t count) {
  return count == 0 ? "none" : count == 1 ? "1 event" : fmt::format("{} events", count);
}

/// What is different between two lists of one law, empty where they match.
std::string mismatch(const std::string& law, const Marks& run, const Marks& reference) {
  const std::string name = law.empty() ? "of no law" : fmt::format("of law {}", law);
  const std::size_t common = std::min(run.size(), reference.size());
  for (std::size_t k = 0; k < common; ++k)
    if (run[k]->kind != reference[k]->kind)
      return fmt::format("number {} {} is {} at t = {:g}; in the reference {} at t = {:g}", k + 1,
                         name, run[k]->kind, run[k]->t, reference[k]->kind, reference[k]->t);
  if (run.size() == reference.size()) return {};
  return fmt::format("{} {}; in the reference {}", number_of_events(run.size()), name,
                     number_of_events(reference.size()));
}

}  // namespace

EventDifference compare_events(const std::vector<EventMark>& run,
                               const std::vector<EventMark>& reference) {
  const auto ours = by_law(run);
  auto theirs = by_law(reference);
  EventDifference difference;
  for (const auto& [law, list] : ours) {
    const Marks& other = theirs[law];
    difference.text = mismatch(law, list, other);
    if (!difference.text.empty()) return difference;
    for (std::size_t k = 0; k < list.size(); ++k)
      difference.largest = std::max(difference.largest, std::abs(list[k]->t - other[k]->t));
  }
  for (const auto& [law, list] : theirs)
    if (ours.count(law) == 0 && !list.empty()) {
      difference.text = mismatch(law, {}, list);
      return difference;
    }
  return difference;
}

}  // namespace perp
