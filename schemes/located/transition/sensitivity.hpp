#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>
#include <perp/schemes/located/radau/gaps.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>
#include <perp/schemes/located/radau/radau.hpp>
#include <perp/schemes/located/transition/impact.hpp>
#include <perp/schemes/located/transition/sensitivity_request.hpp>

namespace perp {

inline constexpr double same_derivative = 1e-7;  ///< relative: rates, and one-sided derivatives, that count as the same
/// Of the terms of a derivative: what the Taylor series of a mode and the stages of a step, solved to some thousand roundings,
/// leave of one that is 0. What is 0 by structure is 0 to the bit.
inline constexpr double rounding_of_derivatives = 1e-12;

/// Forward sensitivities S = ∂x(t)/∂q of an event-located run: the derivative of the discrete step
/// within a mode; at an event, whose time depends on q by
///     dt*/dq = −(∂gap/∂q) / (dgap/dt),
/// the state at the event has dx*/dq = S⁻ + ẋ⁻ dt*/dq, a jump maps it by its derivative, and after
/// it
///     S⁺ = dx*/dq − ẋ⁺ dt*/dq
/// on the differential part. Algebraic parts and λ follow from the linearised jet of the mode.
class Sensitivities {
 public:
  /// `flow` has been made for request.parameters.
  Sensitivities(const Dcs& system, const SensitivityRequest& request, ModeFlow& flow,
                ConsistentJets& jets);

  [[nodiscard]] bool active() const { return columns_ > 0; }
  /// S, and what the last event made of it.
  void transfer(Archive& archive) { archive(columns_, S_, dx_, dlambda_, dt_); }
  /// Have the formulas of parameters alone, which the system holds, one derivative in all directions that are asked for?
  [[nodiscard]] bool have_formulas_one_side() const;
  /// Have the equations of the flow's mode finite derivatives by x, λ and parameters at this state? 0^p has none by p.
  [[nodiscard]] bool have_equations_derivatives(double t, const Vector& x, const Vector& lambda) const;
  /// From now on there are none.
  void end() { columns_ = 0; }

  /// S and ∂λ/∂q at one time.
  struct Values {
    Matrix dx;       ///< n×q
    Matrix dlambda;  ///< m×q
  };
  [[nodiscard]] const Matrix& dx() const { return S_; }

  /// At the start, in the flow's mode: x(0) moves onto the constraints of the mode along the
  /// directions of its multipliers (an oblique projection), as a perturbed start does. `jump`: the
  /// way x(0) has gone already, from the given start to x; empty: none.
  void begin(double t, const Vector& x, const Vector& lambda, const Vector& jump);
  /// What a step from the present S has to know; `terms`: see Radau::Variation.
  [[nodiscard]] Radau::Variation variation(const Vector& terms) const;
  /// S at the end of a converged attempt of the present state, differential part; false: singular.
  [[nodiscard]] bool step(Radau& radau, Matrix& S) const;
  void take(const Matrix& S) { S_ = S; }
  /// With its algebraic part and ∂λ, by the jet at that time.
  Values complete(const Jet& jet, const Matrix& S) const;

  /// ∂gap/∂q at fixed t, and dgap/dt, of a law's gap by the jet of the mode that holds it.
  struct GapRate {
    Vector by_q;
    double by_t;
    Vector terms{};    ///< of by_q of a reset, the sum of their sizes
    double moves = 0;  ///< of a reset, the same of by_t
    [[nodiscard]] Vector time() const { return -by_q / by_t; }  ///< dt*/dq
  };
  GapRate gap_rate(const Gap& gap, const Jet& jet, const Matrix& S) const;

  /// Is the condition of this reset 0 at the state of a jet, but for rounding and what it moves by in `apart` of time?
  [[nodiscard]] bool is_on_condition(int reset, const Jet& jet, double apart = 0) const;
  /// The variables, then n + the laws, that the condition and the values of this reset read, and that it writes.
  [[nodiscard]] std::vector<int> touched_by(int reset) const;

  /// The state at an event: dx*/dq from the present S.
  void at_event(const Jet& jet, const Vector& dt);
  /// Maps of dx*: resets, an impact, a jump onto the constraints of the flow's mode.
  void reset(const std::vector<int>& resets, double t, const Vector& x, const Vector& lambda);
  /// x behind these resets, whose values are all of the state before.
  [[nodiscard]] Vector reset_values(const std::vector<int>& resets, double t, const Vector& x, const Vector& lambda) const;
  void impact(Impact& impact, const Impact::Result& result, double t, const Vector& x,
              const std::vector<double>& restitution, const ModelScales& units);
  void project(double t, const Vector& x, const Vector& lambda, const Vector& jump);
  /// Is the rate of the state the same in `mode` as by `jet`, a mode at the same state? Rates that differ by up to `least` of
  /// each variable are. Empty: `mode` has no such rate.
  [[nodiscard]] std::optional<bool> has_rate_of(const Jet& jet, const Mode& mode, const Vector& least) const;
  /// Goes on from the event in the mode of `jet`.
  void leave(const Jet& jet);
  [[nodiscard]] const Vector& event_time() const { return dt_; }
  [[nodiscard]] const Matrix& at_event() const { return dx_; }
  /// What the last jump onto constraints moved, at this event; empty: none did.
  [[nodiscard]] const Matrix& moved() const { return moved_; }
  void set_event(const Matrix& dx, const Vector& dt) { dx_ = dx, dt_ = dt; }

 private:
  [[nodiscard]] Matrix dp() const;
  [[nodiscard]] Matrix start_of_step() const;
  struct Linearised {
    Matrix H_ydot, H_y, H_p;
    Vector H_t;
  };
  [[nodiscard]] bool linearise(double t, const Vector& ydot, const Vector& y,
                               Linearised& result) const;
  [[nodiscard]] std::optional<Matrix> move_onto_constraints(const Linearised& at, const Linearised* with) const;
  [[nodiscard]] Matrix forcing(const Matrix& by_y, const Matrix& by_p, const Vector& by_t) const;
  [[nodiscard]] GapRate reset_rate(const Gap& gap, const Jet& jet, const JetSensitivities& all, const Matrix& p) const;
  [[nodiscard]] Vector impulses(const Linearised& at, const Vector& jump) const;
  void differentiate_resets();
  [[nodiscard]] bool resets_read_multipliers() const;
  [[nodiscard]] Eigen::RowVectorXd row_of_input(int input, const Matrix& before, const Matrix& p) const;
  void apply_reset(int reset, const std::vector<double>& values, const Matrix& before,
                   const Matrix& p);
  [[nodiscard]] std::vector<double> run_resets(double t, const Vector& x,
                                               const Vector& lambda) const;

  const Dcs& system_;
  SensitivityRequest request_;
  ModeFlow& flow_;
  ConsistentJets& jets_;
  int columns_;
  std::vector<int> column_of_parameter_;  // of the flow
  Matrix S_, dx_, moved_;
  Matrix dlambda_;  // before the last event, where resets ask for it
  Vector dt_;

  Tape reset_tape_;
  std::vector<int> reset_start_, reset_lines_;
  std::vector<Derivative> reset_derivatives_;  // outputs: condition, values, reset after reset
};

}  // namespace perp
