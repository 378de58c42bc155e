#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/status.hpp>
#include <perp/core/base/types.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>
#include <perp/schemes/step_grid.hpp>

namespace perp {

/// What one attempted step found.
struct Attempt {
  Status status = Status::never_run;  ///< solved | no_solution | not_solved | not_enumerated
  bool kept_mode = false;             ///< the step ends in the mode of the last state
  int solutions = 0;                  ///< number of distinct x⁺; 0: not counted, -1: a continuum
  int ties = 0;                       ///< other solutions at the same norm
  bool is_choice = false;             ///< it leaves a mode in which it has a solution too, for a nearer one
};

/// Steps in one mode that were made at once.
struct Stay {
  long steps = 0;
  long several = 0, ties = 0;  ///< among them: of several solutions, of equally near ones
};

/// From when on, and why, a scheme of higher order made steps of first order; NaN: never.
struct FirstOrder {
  double since = nan;
  std::string why{};

  void transfer(Archive& archive) { archive(since, why); }
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
  /// Takes these steps at once as long as the present mode goes on: the same as an attempt and `accept`
  /// each. How many it took, which may be none. `states`: gets theirs; null: nobody asks.
  virtual Stay stay(const UniformSteps& steps, IntegrateOptions::StepsInMode* states) {
    (void)steps, (void)states;
    return {};
  }
  /// Why the last attempt or start was not solved.
  [[nodiscard]] virtual const std::string& message() const = 0;
  /// Makes the attempted step the current state.
  virtual void accept() = 0;
  /// What the resets of the system did on the way that was accepted since the last time.
  struct ResetOutcome {
    enum class Kind {
      none,     ///< none fired
      applied,  ///< the current state is the one after the first that fired, within the way
      too_long,  ///< one fired more than once: the way has to be gone in shorter steps from its start
      no_value   ///< a value that one of them writes is no number there: the state is that before it
    };
    Kind kind = Kind::none;
    double since = 0;       ///< start of the step in which it fired: what came later is void
    double until = 0;       ///< and its end
    std::vector<int> laws;  ///< whose change of mode within that step is void
    std::string names;      ///< of the resets
    Step before{};          ///< the state that they were applied to
  };
  /// May the system have resets? Else `reset` does nothing.
  [[nodiscard]] virtual bool has_resets() const { return true; }
  /// Applies the first resets that fired, if any: goes back to their moment and appends their event. `steps`: of a run
  /// that ends here, else 0.
  virtual ResetOutcome reset(std::vector<Event>& events, long steps) {
    (void)events;
    (void)steps;
    return {};
  }
  /// ‖E (x⁺ − x)‖ of the attempted step.
  [[nodiscard]] virtual double attempted_norm() const = 0;
  /// x⁺ of the attempted step.
  [[nodiscard]] virtual const Vector& attempted() const = 0;
  /// E (b − a) row by row, as far as the scheme knows E: what changes continuously unless it jumps.
  /// Rows are looked at one by one, each in its own unit, whatever stands beside it.
  [[nodiscard]] virtual Vector motion(const Vector& a, const Vector& b) const { return b - a; }
  /// |E| (|a| + |b|): the size of the terms of these rows.
  [[nodiscard]] virtual Vector motion_terms(const Vector& a, const Vector& b) const {
    return a.cwiseAbs() + b.cwiseAbs();
  }
  /// What moves each row of the motion in a unit of time at a state, by size, without what may be an impulse there:
  /// algebraic variables, and multipliers without bounds. 0 where it is not known.
  [[nodiscard]] virtual Vector rate_terms(const Step& state) const { return Vector::Zero(state.x.size()); }
  /// The same between two states, from whatever origin the variables are counted, as far as the scheme can say that.
  [[nodiscard]] virtual Vector rate_terms_between(const Step& a, const Step& b) const {
    return rate_terms(a).cwiseMax(rate_terms(b));
  }
  /// Is it certain that steps of at most this length move the current state by no more than a multiple of their length,
  /// so that none of them jumps?
  [[nodiscard]] virtual bool moves_with_length(double h) {
    (void)h;
    return false;
  }
  /// Up to where a row of the motion is rounding of the two states.
  [[nodiscard]] virtual Vector motion_rounding(const Vector& a, const Vector& b) const {
    constexpr double of_newton = 1e-12;  // share of the states to which an iteration is good
    return of_newton * motion_terms(a, b);
  }
  /// The same of one state that `steps` steps led to from a start, on the way the variables were as
  /// large as in `sizes`: each step leaves its rounding in x.
  [[nodiscard]] virtual Vector drift(const Vector& sizes, long steps) const {
    (void)steps;
    return motion_rounding(sizes, Vector::Zero(sizes.size()));
  }

  /// Does no equation hold the rate of x_j? It may jump where the mode changes.
  [[nodiscard]] virtual bool is_algebraic(int j) const {
    (void)j;
    return false;
  }

  /// May the argument w_i jump where the mode changes, since it holds a multiplier, a rate or an algebraic variable?
  [[nodiscard]] virtual bool argument_jumps(int i) const {
    (void)i;
    return true;
  }

  /// Bounds of the rounding error of x in the current state, as the step just accepted left it. Else,
  /// and unless a scheme knows better, some ulps of x.
  [[nodiscard]] virtual Vector rounding() {
    constexpr double ulps = 8 * std::numeric_limits<double>::epsilon();
    return ulps * x().cwiseAbs();
  }

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
  /// After `departures` that are none: is the mode before admissible at the end of the step by rounding alone? It is left
  /// there, not where the step began.
  virtual bool leaves_at_end() { return false; }
  /// After a step that kept its mode: the laws whose margins fall, with the share s of the step at
  /// which the first one of each would be 0 by their secants; s < 1: it is below 0, by no more than its
  /// rounding. Empty: not told.
  virtual std::vector<Departure> approaches() { return {}; }
  /// After a step that kept its mode: the laws one of whose margins is below 0, by no more than its rounding. Empty: not
  /// told.
  virtual std::vector<int> laws_beyond_end() { return {}; }
  /// What was tried beside a step does not count as its work: what that may take begins anew.
  virtual void renew_allowance() {}
  /// Is little left of what a step may take, so that what is open of it is better taken whole?
  [[nodiscard]] virtual bool is_short_of_work() const { return false; }
  /// The algebraic variables, where the last accepted step left a mode whose equations have no
  /// solution at its end on the branch that was followed: a fold or a pole, no end of a law's branch.
  /// After `departures`.
  [[nodiscard]] virtual std::vector<int> lost_variables() const { return {}; }
  /// Largest residual of the accepted steps in units of the rounding of its row, by which their gate
  /// decided; NaN: of another kind.
  [[nodiscard]] virtual double residual() const { return nan; }
  /// Where steps of the scheme were replaced by those of backward Euler, since its own do not converge.
  [[nodiscard]] virtual FirstOrder first_order() const { return {}; }
  /// Are impacts and changes of mode within a step of any length part of the method? Then its steps
  /// are taken as they are, without a search for the moment of the change.
  [[nodiscard]] virtual bool passes_jumps() const { return false; }
  /// The jumps that such a scheme passed in the last accepted step.
  [[nodiscard]] virtual std::vector<Event> jumps() const { return {}; }
  /// Each mode and by how much it misses a step of length h from the current state: the largest
  /// violation relative to the size of its terms.
  virtual std::vector<std::pair<Mode, double>> violations(double h) = 0;
  /// Can its state between two steps be kept?
  [[nodiscard]] virtual bool is_kept() const { return false; }
  /// All that its next steps depend on, where `is_kept`: a scheme that was made in the same way and has read it goes
  /// on with the same bits.
  virtual void transfer(Archive& archive) { (void)archive; }
  /// Adds the scheme's own counts.
  virtual void count(Counts& counts) const = 0;
  /// As `attempt`, where the end of the mode is looked for: of a step that leaves it nothing counts but that it
  /// does, and `departures`. Its solution may be any one, or be none where no step has several.
  virtual Attempt attempt_end(double t_next, double h) { return attempt(t_next, h); }

  /// Is it certain that the step of this length from the current state has no solution but one, in this mode? What was
  /// attempted is gone. False where it is not known at little cost.
  virtual bool ends_surely_in(const Mode& mode, double t_next, double h) {
    (void)mode;
    (void)t_next;
    (void)h;
    return false;
  }

  [[nodiscard]] Step snapshot() { return {t(), x(), lambda(), w(), mode()}; }
  /// The current state as it is told: just after a reset in the mode in which laws are then, with the algebraic
  /// variables and multipliers of that; the next step still starts in the one before, so that changes are its events.
  [[nodiscard]] virtual Step seen() { return snapshot(); }
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
