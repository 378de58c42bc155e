#include <algorithm>
#include <map>

#include <perp/analysis/sweep/kept_states.hpp>
#include <perp/schemes/events/moments.hpp>

namespace perp {

void KeptStates::step(const Step& step) {
  if (times_.empty()) states_.push_back({step.t, step.x});
}

/// What an event at the end of the course makes of the state the next one begins with.
void KeptStates::course(const StepCourse& step) {
  for (; next_ < times_.size() && times_[next_] < step.end && !are_one_moment(times_[next_], step.end); ++next_)
    states_.push_back({times_[next_], step.at(place_in(step.start, step.end, times_[next_])).x});
}

std::vector<SectionPoint> KeptStates::take(const Trajectory& run) {
  const auto is_reached = [&](double t) { return !run.t.empty() && (t <= run.t.back() || are_one_moment(t, run.t.back())); };
  for (; next_ < times_.size() && is_reached(times_[next_]); ++next_) states_.push_back({times_[next_], run.x.back()});
  return std::move(states_);
}

double quantile(const std::vector<double>& sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double share = place - static_cast<double>(below);
  return (1 - share) * sorted[below] + share * sorted[below + 1];
}

std::vector<FanRow> fan_of(const std::vector<std::vector<SectionPoint>>& runs, int variable) {
  std::map<double, std::vector<double>> values;
  for (const std::vector<SectionPoint>& run : runs)
    for (const SectionPoint& state : run) values[state.t].push_back(state.x[variable]);
  std::vector<FanRow> rows;
  for (auto& [t, at] : values) {
    std::sort(at.begin(), at.end());
    rows.push_back({t, quantile(at, 0.05), quantile(at, 0.25), quantile(at, 0.5), quantile(at, 0.75), quantile(at, 0.95),
                    static_cast<long>(at.size())});
  }
  return rows;
}

}  // namespace perp
