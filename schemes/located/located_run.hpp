#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/schemes/located/passage/bound_passage.hpp>
#include <perp/schemes/located/passage/time_passage.hpp>

namespace perp {

/// One event-located run: the loop over steps and events. What a step, its end and what follows are is the
/// business of its parts. See Located.
class LocatedRun {
 public:
  /// Throws InvalidInput.
  LocatedRun(const Dcs& system, const Located& options, const IntegrateOptions& output)
      : parts_(system, options, output), transition_(parts_), times_(parts_, transition_), bounds_(parts_) {}

  /// The run, once. `choices`: see ContinuationChoice::start.
  Trajectory operator()(const Vector& x0, Span span, std::vector<std::size_t> choices = {});
  /// The same piece by piece: `start`, then `advance` while it runs, each by a step or an event. Throw Interrupted
  /// where nothing is computed yet.
  ///@{
  void start(const Vector& x0, Span span, std::vector<std::size_t> choices = {});
  void advance();
  Trajectory take();  ///< once: what is still to be done, and the result
  [[nodiscard]] bool is_running() const { return record_.is_open(); }
  [[nodiscard]] const Step& now() const { return at_.now; }
  [[nodiscard]] std::string kept();  ///< see StepwiseRun
  [[nodiscard]] const Trajectory& result() const { return record_.result(); }
  ///@}
  /// Are there solutions beside it and its branchings, for all that is known? Of what goes on by first order nothing is.
  [[nodiscard]] bool may_miss_solutions() const { return parts_.choice.misses_some() || parts_.rest.has_begun(); }
  /// Which of several continuations it took, and what else it met.
  [[nodiscard]] const ContinuationChoice& choice() const { return parts_.choice; }

 private:
  void transfer(Archive& archive) { archive(parts_, transition_, times_, zero_steps_, last_row_); }
  void resume();
  void check_start(const Vector& x0, Span span) const;
  void set_scales(const Vector& x0);
  template <class Piece>
  void guard(const Piece& piece);
  void go_on();
  void conclude();
  void go_through_mode();
  [[nodiscard]] double next_length() const;
  [[nodiscard]] bool is_fixed() const { return at_.options.fixed_step > 0; }
  bool ends_at_touch(double h, double end);
  bool attempt(double h);
  /// Does an algebraic variable or a multiplier jump in the attempt? Fixed steps do not ask.
  [[nodiscard]] bool has_algebraic_jump() {
    return !is_fixed() && !integrator_.algebraic_part().goes_on(integrator_.radau());
  }
  void leave_root(double h);
  bool is_seen_through(double h, const std::optional<GapWatch::Fall>& fall);
  void reject(Radau::Outcome outcome, double h);
  /// The state is known to the tolerance, its derivatives are not, however short the step.
  void give_up_sensitivities(double h) {
    ++record_.rejected;
    parts_.sensitivity.give_up();
    integrator_.radau().discard();
    integrator_.set_length(h);
  }
  void shorten(double h, const std::string& why);
  void take_step(double h);
  void take_step_on_branch(double h);
  bool accept(double h, double t_next);
  bool report_between(double h);
  [[nodiscard]] bool solves_row(double length, double h);
  [[nodiscard]] bool is_on_course(double share);
  void miss_row(double t);
  bool report_inside(double t, double h, bool is_solved);
  [[nodiscard]] double next_row() const;
  bool report(const Step& state);
  [[nodiscard]] double to_output(double h) const;
  [[nodiscard]] double end_of(double h) const;
  void go_nearer(const PoleWatch::Pole& pole);
  void pass_event(const GapWatch::Fall& fall, double h);
  bool go_to(double length, double h, const Gap& gap);
  bool move_to(double t_event, double length, double h);
  [[nodiscard]] bool may_happen_now(const Gap& gap);
  bool pass_lost_gap();
  void pass_edge(const Gap& gap);
  void time_moves();

  LocatedParts parts_;
  ModeTransition transition_;
  TimePassage times_;
  BoundPassage bounds_;
  LocatedState& at_ = parts_.at;
  LocatedRecord& record_ = parts_.record;
  ModeIntegrator& integrator_ = parts_.integrator;
  int zero_steps_ = 0;         // events since time moved last
  double last_row_ = -inf;     // inside a step
  Radau::Attempt whole_step_;  // set aside while states inside of it are reported
  Vector course_;              // a point of it
};

}  // namespace perp
