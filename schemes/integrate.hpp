#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/lcs.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/core/base/variable_bounds.hpp>
#include <perp/schemes/backward_euler.hpp>
#include <perp/schemes/located/located.hpp>
#include <perp/schemes/mechanical/moreau_jean.hpp>

namespace perp {

/// An accepted step with what lies between its ends.
struct StepCourse {
  double start = 0;  ///< its first time
  double end = 0;    ///< its last time, > start
  /// The state at start + s (end - start), s in [0, 1], in the mode of the step: by the polynomial of
  /// scheme located, by the straight line between the ends of other schemes.
  std::function<Step(double s)> at{};
};

/// What to keep and whom to tell during a run.
struct IntegrateOptions {
  /// Steps that keep their mode and were made at once.
  struct StepsInMode {
    long count = 0;              ///< of the steps
    double t = 0;                ///< end of the last one
    const Mode* mode = nullptr;  ///< of all of them
    std::vector<double> times{};   ///< where states are asked for, those of the steps, one behind the other
    std::vector<double> x{};       ///< the same, n numbers each
    std::vector<double> lambda{};  ///< the same, m numbers each
    std::vector<double> w{};       ///< the same, m numbers each

    /// Room for the states of so many steps.
    void resize(std::size_t steps, int n, int m) {
      times.resize(steps);
      x.resize(steps * static_cast<std::size_t>(n));
      for (std::vector<double>* list : {&lambda, &w}) list->resize(steps * static_cast<std::size_t>(m));
    }
  };

  /// Whom every accepted step is told, before the next one. What it returns: does the run go on?
  class Observer {
   public:
    /// Steps that keep their mode may be told in one.
    struct Together {
      /// So many of the next steps at most, which may be none.
      std::function<long()> most{};
      /// Do the steps have to have their states?
      bool with_states = false;
      /// Takes them; false: stop.
      std::function<bool(const StepsInMode& steps)> take{};
    };

    Observer() = default;
    /// Tells `each` every step.
    template <class Each>
      requires std::is_invocable_r_v<bool, Each&, const Step&> && (!std::is_same_v<std::remove_cvref_t<Each>, Observer>)
    Observer(Each each) : each_(std::move(each)) {}  // NOLINT: any function that takes a step is one
    /// The same, with somebody who takes several in one.
    Observer(std::function<bool(const Step& step)> each, Together together) : each_(std::move(each)), together_(std::move(together)) {}

    /// Is there somebody?
    explicit operator bool() const { return static_cast<bool>(each_); }
    /// Tells one step.
    bool operator()(const Step& step) const { return each_(step); }
    /// So many of the next steps may be told in one.
    [[nodiscard]] long most_together() const { return together_.most ? together_.most() : 0; }
    /// Who takes several.
    [[nodiscard]] const Together& together() const { return together_; }

   private:
    std::function<bool(const Step& step)> each_;
    Together together_;
  };

  /// How a run is kept while it lasts, to go on with it later: with the bits that it would have had.
  struct KeptState {
    /// Between two steps: is the state to be kept now? Asked often; empty: never.
    std::function<bool()> due{};
    /// Takes the state, see Archive.
    std::function<void(const std::string& state)> keep{};
    /// Such a state, from which the run goes on instead of the start; nothing is told of what came before. Empty: from
    /// the start. Throws ArchiveError where it is not of this run.
    std::string from{};
  };

  std::vector<double> times{};  ///< times that steps must hit exactly, increasing, inside the span
  bool only_times = false;      ///< keep the states at `times` only, not those of every step
  bool keep = true;             ///< false: the trajectory keeps its first and last state only
  /// Called with every accepted step, before the next one; return false to stop
  /// (Status::interrupted).
  Observer observer{};
  /// Called at every accepted step with its time and mode alone, or once for several that keep their mode: for the end of
  /// each mode its last step and the first one behind it. Return false to stop (Status::interrupted).
  std::function<bool(double t, const Mode& mode)> moments{};
  /// Called with the course of every accepted step: they cover the run without gaps, in their order. It
  /// changes nothing of the run. What it is given lives until it returns.
  std::function<void(const StepCourse&)> course{};
  /// Each passage of a bound is an event `bound`; one that ends the run does so with
  /// Status::interrupted, its name and the moment, and the state there is the last.
  std::vector<VariableBounds> bounds{};
  KeptState state{};  ///< to keep, and to go on from

  /// Does anybody ask for more than the first and the last row?
  [[nodiscard]] bool asks_for_rows() const { return keep || observer || moments; }
  /// A row, told to whoever is told of rows or moments. False: to stop.
  [[nodiscard]] bool tell(const Step& row) const {
    return (!moments || moments(row.t, row.mode)) && (!observer || observer(row));
  }
};

/// Integrates from x0 at span.start to exactly span.end: the only entry. A failed computation keeps
/// all that was computed and says at which t, in which mode and why. Throws InvalidInput.
Trajectory integrate(const Lcs& lcs, const Vector& x0, Span span, const BackwardEuler& scheme,
                     const IntegrateOptions& options = {});
/// The same by the θ-method.
Trajectory integrate(const Lcs& lcs, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options = {});

/// The same for a Dcs. One that is affine (see `as_lcs`) is run as the Lcs it is; else backward
/// Euler is made by Newton's method within a mode. The θ-method averages E ẋ = A x + b and has no
/// meaning for a fully implicit F: θ < 1 is InvalidInput unless the system is affine.
Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const BackwardEuler& scheme,
                     const IntegrateOptions& options = {});
/// The same by the θ-method.
Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options = {});

/// The same for a mechanical system with unilateral contacts (see MechanicalSystem): impacts are
/// events `jump` of the law of their contact.
Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const MoreauJean& scheme,
                     const IntegrateOptions& options = {});

/// Event-located and of high order: see Located. Every change of mode is a state of the trajectory, at
/// its time to rounding. Where the jets of a mode do not resolve its index the rest of the span is
/// captured by backward Euler, and the message says so.
Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const Located& scheme,
                     const IntegrateOptions& options = {});

}  // namespace perp
