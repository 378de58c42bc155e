#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/schemes/backward_euler.hpp>
#include <perp/schemes/implicit_step.hpp>
#include <perp/schemes/mode_newton.hpp>
#include <perp/schemes/reset_watch.hpp>
#include <perp/schemes/scheme.hpp>
#include <perp/schemes/start_state.hpp>
#include <perp/schemes/step_search.hpp>

namespace perp {

/// Event-capturing backward Euler for a Dcs: Newton's method in the present mode first, the other
/// modes where it does not stay admissible (or where the selector compares). An accepted step that
/// keeps its mode allocates nothing.
class NonlinearCapturing final : public ModewiseScheme {
 public:
  /// Throws InvalidInput.
  NonlinearCapturing(const Dcs& system, const BackwardEuler& options);

  Attempt start(double t, const Vector& x0, double h, std::vector<Event>& events) override;
  /// The mode before the next start, which goes on from there by a jump or another scheme: laws with
  /// memory stay in its branches where they can, and of equal solutions its own is taken.
  void remember(const Mode& mode) { before_ = mode; }
  Attempt attempt(double t_next, double h) override;
  Attempt attempt_in(const Mode& mode, const Vector& x, const Vector& lambda, double t_next,
                     double h) override;
  [[nodiscard]] const std::string& message() const override { return message_; }
  void accept() override;
  ResetOutcome reset(std::vector<Event>& events) override;
  [[nodiscard]] double attempted_norm() const override;

  [[nodiscard]] double t() const override { return current().t; }
  [[nodiscard]] const Vector& x() const override { return current().x; }
  const Vector& lambda() override { return current().lambda; }
  const Vector& w() override { return current().w; }
  [[nodiscard]] const Mode& mode() const override { return *current().mode; }
  void restore(const Step& state) override;
  void interpolate(double s, Vector& x) const override;
  std::vector<Departure> departures() override;
  std::vector<std::pair<Mode, double>> violations(double h) override;
  void count(Counts& counts) const override;

 private:
  struct State {
    double t = 0;
    Vector x, lambda, w;
    Vector d;      // x minus the x before
    double h = 0;  // length of the step that led here, 0: unknown
    const Mode* mode = nullptr;  // one of modes_
  };

  [[nodiscard]] const State& current() const { return states_[static_cast<std::size_t>(now_)]; }
  [[nodiscard]] State& current() { return states_[static_cast<std::size_t>(now_)]; }
  [[nodiscard]] State& trial() { return states_[static_cast<std::size_t>(trial_)]; }
  [[nodiscard]] const State& trial() const { return states_[static_cast<std::size_t>(trial_)]; }
  [[nodiscard]] const State& previous() const {
    return states_[static_cast<std::size_t>(previous_)];
  }

  [[nodiscard]] double tolerance(double h) const;
  void linearise_trial() const;
  void predict(double h, Vector& d) const;
  bool solve_present(double h);
  Attempt attempt_all_modes(double h);
  Attempt take(const ModeSolution& solution, int solutions, int ties);
  Attempt probe(double h, int exponent);
  bool is_consistent(const Vector& x0, double t);
  ConstraintsAt constraints(const Vector& x, double t);
  void give_limit(double t, const Vector& x0, double h, int exponent, std::vector<Event>& events);

  BackwardEuler options_;
  mutable ImplicitStep step_;
  ModeNewton newton_;
  StepSearch search_;
  ResetWatch resets_;
  std::vector<char> differential_;
  std::set<Mode> modes_;  // every mode met
  std::array<State, 3> states_;
  int previous_ = 0, now_ = 1, trial_ = 2;
  bool start_pending_ = false;  // during `start` no mode is present but the one before it, if any
  Mode before_;
  double loose_from_ = 0;       // step length from which rounding beyond `strict` is let pass
  std::string message_;
  long searches_ = 0, not_enumerated_ = 0, undetermined_ = 0;
};

}  // namespace perp
