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
  /// The step of an ordinary captured run: that of the rows, if there is one.
  [[nodiscard]] double h() const;

 private:
  [[nodiscard]] Trajectory run_from(const Step& state, const BackwardEuler& scheme);
  [[nodiscard]] bool is_within_tolerance(const Vector& change) const;
  void log_fall_back(const Step& last, const Trajectory& rest);
  void take(const Trajectory& rest, const Step& last, bool first);

  LocatedState& at_;
  LocatedRecord& record_;
  ResetSides& sides_;
  const SensitivityUpdate& sensitivity_;
};

}  // namespace perp
