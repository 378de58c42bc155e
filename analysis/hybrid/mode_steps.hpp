#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <perp/core/dcs_evaluator.hpp>
#include <perp/models/language/hybrid/constraint_system.hpp>
#include <perp/schemes/backward_euler.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// Steps of a capturing scheme in one mode of a hybrid model, whose constraints are looked at and
/// not kept: which one a step violates, and the length of the step that ends where it is 0.
class ModeSteps {
 public:
  /// `system`: of the mode, with constraints watched. Throws InvalidInput.
  ModeSteps(const HybridModel& model, const Dcs& system, HybridMode mode, const Theta& options);

  /// The state that the next attempts start from, in this mode.
  void from(const Step& state);
  /// The step of length h to t_next. False: it is not solved, see `message`.
  bool attempt(double t_next, double h);
  /// What the last attempt led to.
  [[nodiscard]] const Step& end() const { return end_; }
  [[nodiscard]] const Step& start() const { return start_; }
  /// Goes on from there.
  void accept();

  /// Is a constraint positive, or a released binary outside of [0, 1], at the end of the attempt,
  /// by more than its rounding?
  bool is_violated();
  /// Is nothing violated at the end of the attempt but ends of [0, 1] of released binaries, by less than this?
  bool leaves_range_by_less(double share);
  /// Released binaries that are outside of [0, 1] there stand at its end.
  void hold_range();
  /// After an attempt of length h that violates: its length, between 0 and h, at whose end the
  /// first constraint is 0 to rounding, and the attempt is that step; 0: there is none. Empty: a
  /// step on the way is not solved.
  std::optional<double> locate(double h);

  [[nodiscard]] const std::string& message() const { return scheme_->message(); }
  void count(Counts& counts) const { scheme_->count(counts); }
  [[nodiscard]] const HybridMode& mode() const { return mode_; }
  /// What the next attempts depend on; into steps in the same mode.
  void transfer(Archive& archive);

 private:
  struct Margin {
    double value = 0;
    double error = 0;
  };
  [[nodiscard]] double margin(int gap, const Step& state) const;
  [[nodiscard]] Vector margins(const Step& state) const;  // of all gaps
  [[nodiscard]] Margin margin_at_end(int gap);
  [[nodiscard]] std::optional<int> gap_on_constraint(const Vector& violated);
  std::optional<double> polish(double length, int gap, double beyond, double margin_beyond);
  bool attempt(double h) { return attempt(start_.t + h, h); }

  HybridMode mode_;
  int q_;
  std::unique_ptr<Scheme> scheme_;
  DcsEvaluator evaluator_;
  /// Ends of the mode: law, and of a released binary which end of [0, 1].
  struct Gap {
    int law;
    bool of_lambda;
    bool upper;
  };
  std::vector<Gap> gaps_;
  Step start_, end_;
  bool is_at_start_ = false;
  double h_ = 0;
  std::optional<Vector> errors_;  // of w at the end of the attempt
};

}  // namespace perp
