#pragma once

#include <optional>
#include <string>

#include <perp/schemes/located/algebraic_part.hpp>
#include <perp/schemes/located/located_state.hpp>
#include <perp/schemes/located/mode_jets.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>
#include <perp/schemes/located/radau/radau.hpp>

namespace perp {

/// Radau IIA on the smooth equations of the present mode: attempts of a step from the present state, repeatable
/// with any length, their course and their end. It never changes the state: who takes an attempt does.
class ModeIntegrator {
 public:
  /// Both must outlive this.
  ModeIntegrator(const LocatedState& at, ModeJets& jets);

  /// After the scales of the state are known.
  void set_scales();
  /// The state has entered its mode, whose jet this is. `first`: of the run.
  void enter(const Jet& jet, bool first);
  /// Looks at its algebraic variables, after the parts of the run that use the equations of other modes to enter it.
  void watch(const Jet& jet);
  /// The equations become those of the mode of this jet; whoever looks at another mode than the present one turns back.
  void use_equations(const Jet& jet) { flow_.set_mode(jet.mode, jets_.structure(jet).velocity_level, jets_.ends_of_mode()); }
  /// The mode with the state of the method in it.
  void transfer(Archive& archive) {
    archive(flow_, radau_, algebraic_, is_high_index_, needs_jets_, length_, smooth_length_, rates_, y_, ydot_);
  }
  /// Are the equations of the mode of an index > 2, which Radau IIA does not integrate?
  [[nodiscard]] bool is_high_index() const { return is_high_index_; }
  /// Has some unknown no derivative, so that its stage values are not of the order of the others?
  [[nodiscard]] bool needs_jets() const { return needs_jets_; }

  /// The stages of a step of length h, with a value of the equations at its end.
  [[nodiscard]] Radau::Outcome attempt(double h);
  /// Is there a solved attempt of this length, or can there be?
  [[nodiscard]] bool reaches(double h) {
    return radau_.has_attempted(h) || radau_.attempt(h) == Radau::Outcome::solved;
  }
  /// The method, with its last attempt.
  [[nodiscard]] Radau& radau() { return radau_; }
  [[nodiscard]] const Radau& radau() const { return radau_; }
  /// The equations, in the present mode unless somebody looks at another one.
  [[nodiscard]] ModeFlow& flow() { return flow_; }
  [[nodiscard]] const ModeFlow& flow() const { return flow_; }
  [[nodiscard]] AlgebraicPart& algebraic_part() { return algebraic_; }

  /// The state at the share s of the attempt of length h: differential parts by its polynomial, algebraic ones
  /// by the equations, which the polynomial of a step that is long for them alone does not meet between its stages.
  Step sample(double s, double h);
  /// The same for one who takes the state for the solution: unknowns that rows without derivatives determine are their
  /// solution to the tolerance of the polynomial, or not a number.
  Step tell(double s, double h);
  /// The same with all parts by its polynomial, in which nothing leaves the branch of the equations that the stages are
  /// on.
  Step on_polynomial(double s, double h);
  /// The state at the end of the attempt, at t. Algebraic unknowns come from the consistent jet: a stage
  /// value of an index-2 multiplier is of order s only.
  Step end_of_attempt(double t);
  /// The same for one who goes on from elsewhere.
  Step row_of_attempt(double t);
  /// The state at t inside the attempt of length h by its polynomial, to within the tolerance. Empty: the equations without
  /// derivatives are not solved there.
  std::optional<Step> row_on_polynomial(double t, double h);
  /// Where the rates at the start of the mode lead within this time.
  [[nodiscard]] Step ahead(double time) const;
  /// Takes the attempt as the present state of the method.
  void accept();
  /// ẋ at the end of the last step, where the equations are not affine in it; else empty.
  [[nodiscard]] const Vector& rates() const { return rates_; }

  /// Of the next attempt.
  [[nodiscard]] double length() const { return length_; }
  void set_length(double h) { length_ = h; }
  /// At the start of a run: no error has told a length yet.
  void start_lengths(double longest) { smooth_length_ = longest; }
  /// The attempt of length h is accepted for its error: what the next one has.
  void propose_length(double h);

  /// At the start of a continuation: ‖∂F/∂ẋ ẋ‖, what the norm of [RAB] eq. (31) is per unit of time, and the
  /// norm that rates of the size 1 in their units have.
  struct Speed {
    double norm = 0;
    double unit = 0;
  };
  Speed speed(const Continuation& continuation);
  /// w of all laws at the present state with the sizes of their terms; false: something is not finite.
  bool law_sizes(Vector& sizes);

 private:
  template <class JetAt>
  Step with_jet(double t, const JetAt& jet_at);
  [[nodiscard]] double first_length(const Jet& jet) const;
  [[nodiscard]] double longest_by_multipliers(const Jet& jet) const;
  Step at_interpolated(double s, double h);
  bool solve_at(double s, AlgebraicPart::Asked asked);

  const LocatedState& at_;
  ModeJets& jets_;
  ModeFlow flow_;
  Radau radau_;
  AlgebraicPart algebraic_;
  bool is_high_index_ = false;
  bool needs_jets_ = false;
  double length_ = 0;
  double smooth_length_ = 0;  // the last one that the error alone asked for
  Vector rates_;
  Vector y_, ydot_;  // workspace; after `enter`: at the start of the mode
};

}  // namespace perp
