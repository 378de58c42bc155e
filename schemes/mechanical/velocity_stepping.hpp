#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/linear/binary_scaling.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/schemes/mechanical/mechanical_system.hpp>
#include <perp/schemes/mechanical/moreau_jean.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// The scheme of MoreauJean (see there). Mode of a law: 1 while its contact is closed, 0 else; an
/// impact that is followed by flight is an event `jump` and no change of mode.
class VelocityStepping final : public Scheme {
 public:
  /// Throws InvalidInput.
  VelocityStepping(const Dcs& system, const MoreauJean& options);

  Attempt start(double t, const Vector& x0, double h, std::vector<Event>& events) override;
  Attempt attempt(double t_next, double h) override;
  [[nodiscard]] const std::string& message() const override { return message_; }
  void accept() override;
  [[nodiscard]] double attempted_norm() const override;
  [[nodiscard]] const Vector& attempted() const override { return trial().state.x; }

  [[nodiscard]] double t() const override { return current().state.t; }
  [[nodiscard]] const Vector& x() const override { return current().state.x; }
  const Vector& lambda() override { return current().state.lambda; }
  const Vector& w() override { return current().state.w; }
  /// Gaps are functions of positions.
  [[nodiscard]] bool argument_jumps(int /*i*/) const override { return false; }
  [[nodiscard]] const Mode& mode() const override { return current().state.mode; }
  void restore(const Step& state) override;
  void interpolate(double s, Vector& x) const override;
  std::vector<Departure> departures() override { return current().departures; }
  std::vector<std::pair<Mode, double>> violations(double h) override;
  [[nodiscard]] bool passes_jumps() const override { return true; }
  [[nodiscard]] std::vector<Event> jumps() const override { return current().jumps; }
  void count(Counts& counts) const override;
  [[nodiscard]] bool is_kept() const override { return true; }
  void transfer(Archive& archive) override {
    archive(records_, now_, trial_, x_before_, v_, penetration_, impact_residual_, impacts_, impact_problems_, iterations_);
  }

  [[nodiscard]] const MechanicalSystem& system() const { return system_; }
  /// The deepest violation of a gap in an accepted state, O(h).
  [[nodiscard]] double penetration() const { return penetration_; }
  /// The largest relative residual of the impact problems of accepted steps: the equations of
  /// motion with P and 0 ≤ U⁺ + ē U ⊥ P ≥ 0, see `residual(Mlcp, ...)`.
  [[nodiscard]] double impact_residual() const { return impact_residual_; }

 private:
  [[nodiscard]] Vector motion_of_gaps(double t, const Vector& x0, double h);
  /// A state and what happened in the step that led to it.
  struct Record {
    Step state;
    std::vector<Departure> departures{};
    std::vector<Event> jumps{};
    void transfer(Archive& archive) { archive(state, departures, jumps); }
  };
  /// One contact in the impact problem of a step.
  struct Touch {
    int law;
    double before;   // U
    double bound;    // U⁺ ≥ bound
    double resting;  // τ
    bool is_impact;
  };

  [[nodiscard]] const Record& current() const { return records_[static_cast<std::size_t>(now_)]; }
  [[nodiscard]] Record& current() { return records_[static_cast<std::size_t>(now_)]; }
  [[nodiscard]] Record& trial() { return records_[static_cast<std::size_t>(trial_)]; }
  [[nodiscard]] const Record& trial() const { return records_[static_cast<std::size_t>(trial_)]; }

  /// x after h with the velocities v at its end, or (share < 1) the state at that share of the step
  /// with the velocities in between.
  void advance_positions(double h, const Vector& v, Vector& x) const;
  [[nodiscard]] double free_change(const MechanicalSystem::Contacts& at, int i) const;
  [[nodiscard]] Touch touch_of(int i, double regular) const;
  void find_touches(double t_next, double h);
  /// Newton's method for v⁺ (and P at the contacts in touches_); v_ is start and result.
  Status solve_velocities(double h);
  [[nodiscard]] bool has_settled(double change, double last) const;
  void factorise();
  void linearise(double h);
  Status solve_impacts();
  void write_impulses(double t_next, double h, Record& next) const;
  void finish(double t_next, double h);
  Event jump(const Touch& touch, double t_next, double h) const;
  [[nodiscard]] double crossing(int law) const;
  Attempt unsolved(Status status, std::string why);

  MechanicalSystem system_;
  MoreauJean options_;
  std::array<Record, 2> records_;
  int now_ = 0, trial_ = 1;
  Vector x_before_;  // of the last accepted step

  // Of the attempted step
  Vector v_before_, v_free_, v_, v_last_, v_dot_, x_, misfit_, change_, P_;
  Matrix J_, factored_J_, scaled_J_;
  BinaryScaling scaling_;
  MechanicalSystem::Contacts before_, free_, after_;  // at t, at t⁺ for P = 0, at t⁺
  MechanicalSystem::Dynamics dynamics_;
  linear::Lu factors_;
  std::vector<Touch> touches_;
  Mlcp impact_;
  std::string message_;

  double attempted_residual_ = 0;  // of the impact problem of the attempted step

  double penetration_ = 0, impact_residual_ = 0;
  long impacts_ = 0, impact_problems_ = 0, iterations_ = 0;
};

}  // namespace perp
