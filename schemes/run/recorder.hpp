#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <perp/schemes/run/trajectory_archive.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// The course of the straight line from one state to another; what the first lacks of multipliers and
/// arguments is that of the second, as are variables that are NaN there. It refers to both.
StepCourse straight_course(const Step& from, const Step& to);

/// The record of one run: its rows, events, counts, and how it ended. Rows go to the observer and, where
/// they are kept, into the trajectory; its first and its last row always do.
class Recorder {
 public:
  explicit Recorder(const IntegrateOptions& options) : options_(options) {}
  /// In courses multipliers of the scheme, and algebraic variables and arguments that hold such, which may jump where the
  /// mode changes, have from there on the values of the next state. Multipliers of a scheme that passes impacts within
  /// a step are means over the step, impulses included: in all of it that of its end.
  void let_jump(const Scheme& scheme, int variables, int laws);
  [[nodiscard]] const std::vector<Eigen::Index>& jumping() const { return jumping_; }

  /// Data jump at t: what may jump where the mode changes may do so here too.
  void jump_at(double t) { jumped_at_ = t; }

  /// Has the run not ended yet?
  [[nodiscard]] bool is_open() const { return result_.status == Status::never_run; }
  /// Is there no row yet?
  [[nodiscard]] bool is_empty() const { return result_.t.empty(); }
  /// Does anybody take rows after the first one?
  [[nodiscard]] bool takes_rows() const { return options_.keep || options_.observer || options_.course; }
  /// And those of steps that end at no time which is asked for?
  [[nodiscard]] bool takes_steps() const {
    return options_.course || (takes_rows() && !options_.only_times);
  }

  [[nodiscard]] std::vector<Event>& events() { return result_.events; }
  [[nodiscard]] Counts& counts() { return result_.counts; }
  [[nodiscard]] std::map<std::string, std::string>& provenance() { return result_.provenance; }
  /// Counts an attempt that was accepted, where it had several solutions.
  void count(const Attempt& accepted) {
    if (accepted.solutions > 1 || accepted.solutions < 0) ++several_;
    if (accepted.ties > 0) ++ties_;
  }
  /// Counts steps that were made at once.
  void count(const Stay& stay) { several_ += stay.several, ties_ += stay.ties; }

  /// The end of a step that is no row: its course is told.
  void pass(const Step& state);
  /// The state before a reset, which is a row where a step ends with it. False: the observer asks to stop.
  [[nodiscard]] bool reset(const Step& before, bool is_end);
  /// A row, kept and reported. False: the observer asks to stop.
  [[nodiscard]] bool row(const Step& state);
  /// A row of the trajectory that nobody is told of.
  void keep(const Step& state) { result_.append(state); }
  /// Is a state at t, where the run ends, still to be kept as its last row?
  [[nodiscard]] bool lacks_end(double t) const { return !options_.keep && !is_empty() && t > result_.t.back(); }
  /// Steps in one mode up to here may be made at once, before somebody is asked whether to go on, or to keep the state.
  [[nodiscard]] long most_at_once() const {
    constexpr long most = 100'000;
    if (!takes_steps()) return most;
    return options_.keep || options_.course ? 0 : std::min(most, options_.observer.most_together());
  }
  /// Where the states of such steps go; null: nobody asks for them.
  [[nodiscard]] IntegrateOptions::StepsInMode* room() {
    return takes_steps() && options_.observer.together().with_states ? &together_ : nullptr;
  }
  /// So many steps that were made at once, up to a state. False: the observer asks to stop.
  [[nodiscard]] bool row(long steps, const Step& last) {
    together_.count = steps;
    together_.t = last.t;
    together_.mode = &last.mode;
    return options_.observer.together().take(together_);
  }
  /// The run ends at (t, x).
  void finish(Status status, std::string message, double t, const Vector& x);
  /// The result so far.
  [[nodiscard]] const Trajectory& result() const { return result_; }
  /// All of it, see Archive; what `let_jump` says is of the scheme.
  void transfer(Archive& archive) { archive(result_, last_, jumped_at_, several_, ties_); }
  /// The result, once.
  [[nodiscard]] Trajectory take() { return std::move(result_); }

 private:
  void forget_what_jumps();

  const IntegrateOptions& options_;
  Trajectory result_;
  Step last_;  // row, where courses are told
  IntegrateOptions::StepsInMode together_;
  std::vector<Eigen::Index> jumping_, jumping_arguments_;  // variables, arguments of laws
  double jumped_at_ = nan;
  bool has_means_ = false;                                 // of multipliers
  long several_ = 0, ties_ = 0;  // steps of several solutions, of equally near ones
};

}  // namespace perp
