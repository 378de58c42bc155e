#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include <perp/analysis/measures/constant_expression.hpp>
#include <perp/analysis/measures/event_choice.hpp>
#include <perp/analysis/measures/event_reductions.hpp>
#include <perp/analysis/measures/state_formula.hpp>
#include <perp/core/base/error.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {
namespace {

/// The events that are meant, within the window.
std::vector<const Event*> events_in(const MeasuredRun& run, const EventChoice& choice) {
  std::vector<const Event*> events;
  for (const Event& event : run.run.events)
    if (event.t >= run.from && event.t <= run.until && choice.holds(event)) events.push_back(&event);
  return events;
}

std::string too_few(const EventChoice& choice, std::size_t found, const char* wanted) {
  return fmt::format("{} {} '{}' in the window, {}", found, found == 1 ? "event" : "events", choice.text(), wanted);
}

/// Number k of an event: 1, 2, ... from the first, -1, -2, ... from the last.
int number_of(const Model& model, const std::string& text) {
  const double k = constant_expression(model, text);
  if (k == 0 || k != std::round(k) || std::abs(k) > 1e9)
    throw InvalidInput(fmt::format("'{}': expected the number of an event, 1, 2, ... or -1 for the last", text));
  return static_cast<int>(k);
}

const Event* pick(const std::vector<const Event*>& events, int k) {
  const auto count = static_cast<int>(events.size());
  const int index = k > 0 ? k - 1 : count + k;
  return index >= 0 && index < count ? events[static_cast<std::size_t>(index)] : nullptr;
}

class Count final : public Reduction {
 public:
  explicit Count(EventChoice choice) : choice_(std::move(choice)) {}
  [[nodiscard]] bool needs_steps() const override { return false; }
  MeasureResult result(const MeasuredRun& run) override {
    return {static_cast<double>(events_in(run, choice_).size()), {}};
  }

 private:
  EventChoice choice_;
};

/// Σ (t_last − t_first) / Σ (count − 1) over the changes to one branch of a law, or the events of one reset, alone or beside
/// others: a limit cycle that passes a surface to and fro has the time until it passes to the same side again.
class Period final : public Reduction {
 public:
  explicit Period(EventChoice choice) : choice_(std::move(choice)) {}
  [[nodiscard]] bool needs_steps() const override { return false; }
  MeasureResult result(const MeasuredRun& run) override {
    const std::vector<const Event*> events = events_in(run, choice_);
    std::map<Same, double> last;
    double sum = 0;
    long count = 0;
    for (const Event* event : events)
      for (const Same& same : kinds_of(*event)) {
        const auto [place, is_first] = last.try_emplace(same, event->t);
        if (!is_first) sum += event->t - place->second, ++count;
        place->second = event->t;
      }
    if (count == 0)
      return {{}, too_few(choice_, events.size(), events.size() < 2 ? "two are needed" : "two to the same branch are needed")};
    return {sum / static_cast<double>(count), {}};
  }

 private:
  using Same = std::tuple<int, int, std::string>;  // law, branch that it changes to; reset, or the note of others

  [[nodiscard]] std::vector<Same> kinds_of(const Event& event) const {
    std::vector<Same> kinds;
    for (const std::string& reset : choice_.resets_in(event)) kinds.emplace_back(event.law, event.to, reset);
    if (kinds.empty()) kinds.emplace_back(event.law, event.to, event.law < 0 ? event.note : "");
    return kinds;
  }

  EventChoice choice_;
};

class TimeOfEvent final : public Reduction {
 public:
  TimeOfEvent(EventChoice choice, int k) : choice_(std::move(choice)), k_(k) {}
  [[nodiscard]] bool needs_steps() const override { return false; }
  MeasureResult result(const MeasuredRun& run) override {
    const std::vector<const Event*> events = events_in(run, choice_);
    const Event* event = pick(events, k_);
    if (event == nullptr) return {{}, too_few(choice_, events.size(), fmt::format("number {} is asked for", k_).c_str())};
    return {event->t, {}};
  }

 private:
  EventChoice choice_;
  int k_;
};

class ValueAtEvent final : public Reduction {
 public:
  ValueAtEvent(const Model& model, const std::vector<std::string>& arguments, bool is_after)
      : text_(arguments[0]),
        signal_(model, text_),
        choice_(model, arguments[1]),
        k_(number_of(model, arguments[2])),
        is_after_(is_after) {}

  /// Both sides of every moment at which events may be, where the record of an event does not hold what is asked for.
  void course(const StepCourse& step, double /*a*/, double /*b*/) override {
    if (!signal_.needs_more_than_variables()) return;
    const Step begin = step.at(0);
    const bool is_moment = has_last_ && (begin.mode != last_.mode || begin.x != last_.x || begin.lambda != last_.lambda);
    if (is_moment) sides_.push_back({step.start, signal_(last_), signal_(begin)});
    last_ = step.at(1);
    has_last_ = true;
  }

  [[nodiscard]] bool needs_steps() const override { return signal_.needs_more_than_variables(); }
  void transfer(Archive& archive) override { archive(sides_, has_last_, last_); }

  MeasureResult result(const MeasuredRun& run) override {
    const std::vector<const Event*> events = events_in(run, choice_);
    const Event* event = pick(events, k_);
    if (event == nullptr) return {{}, too_few(choice_, events.size(), fmt::format("number {} is asked for", k_).c_str())};
    const Vector& x = is_after_ ? event->x_after : event->x_before;
    const bool is_recorded = !signal_.needs_more_than_variables();
    if (is_recorded && x.size() == 0) return {{}, fmt::format("the event at t = {:.10g} has no record of the state", event->t)};
    const double value = is_recorded ? signal_({event->t, x, {}, {}, {}}) : side_of(*event);
    if (!std::isfinite(value)) return {{}, fmt::format("{} has no value at t = {:.10g}", text_, event->t)};
    return {value, {}};
  }

 private:
  struct Sides {
    double t = 0, before = nan, after = nan;
    void transfer(Archive& archive) { archive(t, before, after); }
  };

  /// The value on a side of the moment that is nearest to the event, between the times that it is known to lie in; NaN: none.
  [[nodiscard]] double side_of(const Event& event) const {
    const Sides* nearest = nullptr;
    for (const Sides& sides : sides_)
      if (sides.t >= event.t_before && sides.t <= event.t_after &&
          (nearest == nullptr || std::abs(sides.t - event.t) < std::abs(nearest->t - event.t)))
        nearest = &sides;
    return nearest == nullptr ? nan : is_after_ ? nearest->after : nearest->before;
  }

  std::string text_;
  StateFormula signal_;
  EventChoice choice_;
  int k_;
  bool is_after_;
  std::vector<Sides> sides_;
  bool has_last_ = false;
  Step last_;  // end of the course before
};

class Duration final : public Reduction {
 public:
  explicit Duration(ModeChoice choice) : choice_(std::move(choice)) {}
  [[nodiscard]] bool needs_steps() const override { return false; }
  MeasureResult result(const MeasuredRun& run) override {
    double sum = 0;
    for (const ModeSpan& span : run.modes)
      if (choice_.holds(span.mode))
        sum += std::max(0.0, std::min(span.end, run.until) - std::max(span.start, run.from));
    return {sum, {}};
  }

 private:
  ModeChoice choice_;
};

}  // namespace

std::unique_ptr<Reduction> count_of_events(const Model& model, const std::vector<std::string>& arguments) {
  return std::make_unique<Count>(EventChoice(model, arguments[0]));
}

std::unique_ptr<Reduction> period_of_events(const Model& model, const std::vector<std::string>& arguments) {
  return std::make_unique<Period>(EventChoice(model, arguments[0]));
}

std::unique_ptr<Reduction> time_of_event(const Model& model, const std::vector<std::string>& arguments) {
  return std::make_unique<TimeOfEvent>(EventChoice(model, arguments[0]), number_of(model, arguments[1]));
}

std::unique_ptr<Reduction> duration_of_mode(const Model& model, const std::vector<std::string>& arguments) {
  return std::make_unique<Duration>(ModeChoice(model, arguments[0]));
}

std::unique_ptr<Reduction> value_at_event(const Model& model, const std::vector<std::string>& arguments,
                                          bool is_after) {
  return std::make_unique<ValueAtEvent>(model, arguments, is_after);
}

}  // namespace perp
