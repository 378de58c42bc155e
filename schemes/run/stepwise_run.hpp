#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/step_grid.hpp>

namespace perp {

class PoleWatch;
class Scheme;

/// Variables up to which an event of runs beside each other, or of many changes, keeps the state.
inline constexpr int most_states_of_events = 64;

/// The variables along a run, at the ends of its steps, as long as somebody may ask for them.
class StateTrace {
 public:
  /// Where the mode changed the variables that may jump have from the last state on the values of this one.
  void add(double t, const Vector& x, const Mode& mode, const std::vector<Eigen::Index>& jumping) {
    if (!states_.empty() && mode != mode_) jump(jumping);
    if (mode != mode_) mode_ = mode;
    states_.emplace_back(t, x);
  }
  /// From the last state on these variables have the values of the next one.
  void jump(const std::vector<Eigen::Index>& jumping) {
    if (jumping.empty()) return;
    states_.push_back(states_.back());
    for (const Eigen::Index j : jumping) states_.back().second[j] = nan;
  }
  /// On the straight line between two of them; that of the last one behind it.
  [[nodiscard]] Vector at(double t) const {
    std::size_t k = 0;
    while (k < states_.size() && states_[k].first < t) ++k;
    if (k == states_.size()) return states_.back().second;
    if (k == 0 || states_[k].first == t) return states_[k].second;
    const auto& [before, x] = states_[k - 1];
    const auto& [after, y] = states_[k];
    const Vector line = x + (t - before) / (after - before) * (y - x);
    return x.array().isNaN().select(y, line);
  }
  [[nodiscard]] bool is_empty() const { return states_.empty(); }
  void transfer(Archive& archive) { archive(states_, mode_); }
  /// What is not needed for times from t on.
  void forget(double t) {
    while (states_.size() > 1 && states_[1].first <= t) states_.pop_front();
  }

 private:
  std::deque<std::pair<double, Vector>> states_;  // NaN: that of the next one
  Mode mode_;  // of the last one
};

/// A run that is made piece by piece, so that several can go on beside each other.
class StepwiseRun {
 public:
  StepwiseRun() = default;
  StepwiseRun(const StepwiseRun&) = delete;
  StepwiseRun& operator=(const StepwiseRun&) = delete;
  virtual ~StepwiseRun() = default;

  /// Makes the start, or says in the result why there is none; or goes on from the state that its options hold.
  virtual void start() = 0;
  /// Goes on, as long as it runs: by a step, or by more of them.
  virtual void advance() = 0;
  /// Steps that the run may make beside others: nobody is told of them, nor looks into them but for poles.
  struct Offer {
    Scheme* scheme = nullptr;
    PoleWatch* poles = nullptr;  ///< null: nothing is watched in the present mode
    UniformSteps steps{};
  };
  [[nodiscard]] virtual std::optional<Offer> offer() { return std::nullopt; }
  /// So many of them were made by the scheme.
  virtual void leap(long steps) { (void)steps; }
  /// The result so far; its status is that of a run until this one has ended.
  [[nodiscard]] virtual const Trajectory& result() const = 0;
  [[nodiscard]] bool is_running() const { return result().status == Status::never_run; }
  /// False: the start could not be made.
  [[nodiscard]] virtual bool has_started() const { return true; }
  /// The time that was reached.
  [[nodiscard]] virtual double t() const = 0;
  /// All of it, once: what is still to be done of a run that was started, and the result.
  [[nodiscard]] virtual Trajectory take() = 0;
  /// The state there.
  [[nodiscard]] virtual Step state() = 0;
  /// All that it depends on from now on, see IntegrateOptions::KeptState: after `start`.
  [[nodiscard]] virtual std::string kept() = 0;
};

}  // namespace perp
