#pragma once

#include <perp/schemes/located/passage/sensitivity_update.hpp>

namespace perp {

/// The rest of the span by backward Euler, where Radau IIA cannot go on: the jets do not resolve the index of
/// the mode, or events follow each other without a pattern. Sensitivities end there: that scheme has none.
class FirstOrderRest {
 public:
  /// All must outlive this.
  FirstOrderRest(LocatedState& at, LocatedRecord& record, ResetSides& sides,
                 const SensitivityUpdate& sensitivity)
      : at_(at), record_(record), sides_(sides), sensitivity_(sensitivity) {}

  /// From `state` on, with the run's end.
  void capture(const Step& state, const char* why);
  /// Where the captured run began, why, and its own state; `of_run` gives all of the located run.
  void transfer(Archive& archive) { archive(from_, why_, state_of_rest_); }
  void keep_by(std::function<std::string()> of_run) { kept_ = std::move(of_run); }
  /// Has it begun?
  [[nodiscard]] bool has_begun() const { return !why_.empty(); }
  /// Has a state been read that is one of the captured run? It goes on from there.
  [[nodiscard]] bool was_under_way() const { return !state_of_rest_.empty(); }
  void go_on();
  /// The step of an ordinary captured run: that of the rows, if there is one.
  [[nodiscard]] double h() const;

 private:
  [[nodiscard]] IntegrateOptions output_from(double t);
  [[nodiscard]] Trajectory run_from(const Step& state, const BackwardEuler& scheme);
  [[nodiscard]] bool is_within_tolerance(const Vector& change) const;
  [[nodiscard]] bool counts(const Event& event, double t) const;
  void log_fall_back(const Step& last, const Trajectory& rest);
  void take(const Trajectory& rest, const Step& last, bool first);

  LocatedState& at_;
  LocatedRecord& record_;
  ResetSides& sides_;
  const SensitivityUpdate& sensitivity_;
  Step from_;                    // where the captured run begins
  std::string why_;              // it is one
  std::string state_of_rest_;    // of it, the last that was kept
  std::function<std::string()> kept_;
};

}  // namespace perp
