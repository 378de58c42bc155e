#pragma once

#include <string>
#include <utility>
#include <vector>

#include <perp/core/status.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/core/types.hpp>

namespace perp {

/// What one attempted step found.
struct Attempt {
  Status status = Status::never_run;  ///< solved | no_solution | not_solved | not_enumerated
  bool kept_mode = false;             ///< the step ends in the mode of the last state
  int solutions = 0;                  ///< number of distinct x⁺; 0: not counted, -1: a continuum
  int ties = 0;                       ///< other solutions at the same norm
};

/// A time-stepping scheme: start, attempt and accept a step, interpolate. Events are found outside
/// of it.
class Scheme {
 public:
  /// A law whose branch ended during the last accepted step, at the share s ∈ [0, 1] of it.
  struct Departure {
    int law;
    double s;
  };

  Scheme() = default;
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;
  virtual ~Scheme() = default;

  /// Makes (t, x0) the current state and chooses algebraic variables, multipliers and mode for it,
  /// for steps of about h. An inconsistent start or a jump at t is appended to `events`.
  /// no_solution if nothing starts here.
  virtual Attempt start(double t, const Vector& x0, double h, std::vector<Event>& events) = 0;

  /// Computes the step of length h to t_next without making it the current state. After `accept`,
  /// `restore` or a further `attempt` it is gone.
  virtual Attempt attempt(double t_next, double h) = 0;
  /// Why the last attempt or start was not solved.
  [[nodiscard]] virtual const std::string& message() const = 0;
  /// Makes the attempted step the current state.
  virtual void accept() = 0;
  /// What became of the resets of the system in the last accepted step.
  enum class ResetOutcome {
    none,       ///< no condition changed its sign
    applied,    ///< the current state is the one after the first reset, within the step
    accumulate  ///< a reset would fire again although its condition has not left 0 since
  };
  /// Applies the first reset that fired during the last accepted step, if any: goes back to its
  /// time and appends its event.
  virtual ResetOutcome reset(std::vector<Event>& events) {
    (void)events;
    return ResetOutcome::none;
  }
  /// ‖E (x⁺ − x)‖ of the attempted step.
  [[nodiscard]] virtual double attempted_norm() const = 0;

  /// Current state. λ and w are computed when they are asked for; the references live until
  /// `accept`.
  [[nodiscard]] virtual double t() const = 0;
  [[nodiscard]] virtual const Vector& x() const = 0;
  virtual const Vector& lambda() = 0;
  virtual const Vector& w() = 0;
  [[nodiscard]] virtual const Mode& mode() const = 0;
  /// Goes back to a state that was current before.
  virtual void restore(const Step& state) = 0;

  /// The state between the last two accepted ones, s ∈ [0, 1].
  virtual void interpolate(double s, Vector& x) const = 0;
  /// Laws whose branch before the last accepted step is not admissible at its end, with the time of
  /// leaving interpolated linearly in the margin. A scheme that follows the step lists a law each
  /// time that it left a branch on the way.
  virtual std::vector<Departure> departures() = 0;
  /// Are impacts and changes of mode within a step of any length part of the method? Then its steps
  /// are taken as they are, without a search for the moment of the change.
  [[nodiscard]] virtual bool passes_jumps() const { return false; }
  /// The jumps that such a scheme passed in the last accepted step.
  [[nodiscard]] virtual std::vector<Event> jumps() const { return {}; }
  /// Each mode and by how much it misses a step of length h from the current state: the largest
  /// violation relative to the size of its terms.
  virtual std::vector<std::pair<Mode, double>> violations(double h) = 0;
  /// Adds the scheme's own counts.
  virtual void count(Counts& counts) const = 0;

  [[nodiscard]] Step snapshot() { return {t(), x(), lambda(), w(), mode()}; }
};

/// A scheme that can be asked for the step in one mode.
class ModewiseScheme : public Scheme {
 public:
  /// As `attempt`, but in this mode and by the solution near (x, λ); not_solved if there is none in
  /// its ranges.
  virtual Attempt attempt_in(const Mode& mode, const Vector& x, const Vector& lambda, double t_next,
                             double h) = 0;
};

}  // namespace perp
