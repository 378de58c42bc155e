#pragma once

#include <optional>
#include <vector>

#include <perp/schemes/events/reset_watch.hpp>
#include <perp/schemes/located/located_record.hpp>
#include <perp/schemes/located/mode_integrator.hpp>

namespace perp {

/// On which sides of their surfaces the conditions of resets are along an event-located run, and which resets
/// fire at a moment. What may fire does not change sides silently.
class ResetSides {
 public:
  using Errors = ResetWatch::Errors;

  /// All must outlive this.
  ResetSides(const LocatedState& at, ModeJets& jets, ModeIntegrator& integrator)
      : at_(at), jets_(jets), integrator_(integrator), watch_(at.system, jets.evaluator()) {}

  /// The sides, and how far they are known.
  void transfer(Archive& archive) { archive(watch_, unsettled_, approaching_, event_errors_, event_end_, fired_here_); }
  [[nodiscard]] ResetWatch& watch() { return watch_; }
  [[nodiscard]] const ResetWatch& watch() const { return watch_; }

  /// How far the numbers of an event are from the exact ones of its mode: the rounding of the step and
  /// of its length.
  [[nodiscard]] Errors errors_at_event(const Step& state) const;
  /// The same of the state that the run starts from: the exact moment may be some ulps of t away, and
  /// what moves is known up to its way in between.
  [[nodiscard]] Errors errors_at_start();
  /// How far the numbers of the present state may be from exact ones.
  [[nodiscard]] Errors errors_now() const;
  /// The size below which the condition of a reset may be rounding, from the present state on.
  double noise(int reset);
  /// Is this variation of the condition within the attempt of length h an error of the steps: below what their tolerance
  /// leaves open, and next to nothing of what its terms vary by? So does a first integral.
  [[nodiscard]] bool is_error_of_steps(int reset, double variation, double h);

  /// The state has jumped, and is known up to these.
  void jumped(Errors errors) { unsettled_ = std::move(errors); }
  /// Resets are about to fire in this state, known up to these: which others have yet to pass their surface is remembered.
  void before_resets(const Step& state, const Errors& errors, const std::vector<int>& list) {
    approaching_ = watch_.approaching(state, errors, list);
  }
  /// A mode begins: finds the sides after a jump, or of the start of the run. How many resets passed there.
  int settle();
  /// The sides on the way through the attempted step of length h, at these shares, up to its end.
  void follow(const Vector& points, double h);
  /// The sides after an accepted step. Has one changed?
  bool watch_step();
  /// The sides at a state, those after a jump to it as far as they are seen, and the errors they are told by.
  std::vector<int> at_state(const Step& state);
  [[nodiscard]] Errors errors_of_sides() const { return unsettled_ ? *unsettled_ : errors_now(); }

  /// The resets that may fire and whose surface the state is on.
  std::vector<int> met(const Step& state, const Errors& errors);
  /// Those of `met` whose conditions the motion in the present mode leads to the other side, sampled at these
  /// shares of a step.
  std::vector<int> passing(const std::vector<int>& met, const Step& state, const Vector& points);

  /// Resets that fired at this moment.
  [[nodiscard]] const std::vector<int>& fired_here() const { return fired_here_; }
  void fire(int reset);
  /// Time has moved.
  void forget_fired() { fired_here_.clear(); }

 private:
  [[nodiscard]] Errors rounding(const Step& a, const Step& b) const;

  const LocatedState& at_;
  ModeJets& jets_;
  ModeIntegrator& integrator_;
  ResetWatch watch_;
  std::optional<Errors> unsettled_;     // the state jumped, up to these
  std::vector<ResetWatch::Approach> approaching_;  // before it did
  std::optional<Errors> event_errors_;  // of the present state, where it is an event
  double event_end_ = 0;                // steps up to here are of the moment of the event still
  std::vector<int> fired_here_;
};

}  // namespace perp
