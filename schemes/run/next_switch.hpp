#pragma once

#include <algorithm>
#include <optional>

#include <perp/core/base/archive.hpp>
#include <perp/schemes/run/mode_passage.hpp>
#include <perp/schemes/step_grid.hpp>

namespace perp {

/// The next moment at which functions of time alone switch, before which a step of the run ends.
class NextSwitch {
 public:
  /// For steps of length h up to `end`; `changes` outlives this.
  NextSwitch(const ModeChanges& changes, double end, double h) : changes_(changes), end_(end), h_(h) {}

  struct Switch {
    double stop;    ///< a step ends here,
    double moment;  ///< before functions of time have switched
  };
  /// Is there one that a step to t_next passes?
  [[nodiscard]] bool is_before(double t_next) const { return next_ && next_->stop < t_next; }
  [[nodiscard]] const Switch& operator*() const { return *next_; }

  /// The first one after t; at the end of the span too, which may be its moment to rounding.
  void find(double t) {
    constexpr double foresight = 1024;  // steps within which they are looked for at once
    next_.reset();
    searched_ = inf;
    if (changes_.switches == nullptr || !changes_.split) return;
    searched_ = t + foresight * h_;
    if (const auto found = changes_.switches->next(t, std::min(end_ + h_, searched_)))
      next_ = {changes_.switches->decided_before(*found, t), found->after};
  }
  /// The same, where a step of this length from t to t_next would leave what was looked at.
  void find_until(double t_next, double h, double t) {
    if (!next_ && t_next + h > searched_) find(t);
  }
  /// Those of these steps that end before it.
  [[nodiscard]] UniformSteps before(UniformSteps steps) const {
    const double end = next_ ? next_->stop : searched_ - steps.h;
    if (end == inf) return steps;
    steps.last = std::min(steps.last, static_cast<long>((end - steps.from) / steps.h));
    while (steps.last >= steps.first && steps.end(steps.last) >= end) --steps.last;
    return steps;
  }
  void transfer(Archive& archive) { archive(next_, searched_); }

 private:
  const ModeChanges& changes_;
  double end_, h_;
  std::optional<Switch> next_;
  double searched_ = inf;  // up to where there is no other
};

}  // namespace perp
