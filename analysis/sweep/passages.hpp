#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/measures/state_formula.hpp>
#include <perp/analysis/sweep/section.hpp>

namespace perp {

/// Where a formula of the state passes a value in one direction: from the last side on which it was to the first one
/// behind, once, with both sides of every event seen. It passes by a jump at the moment of the event, through a rest on the
/// value where it leaves it, and not at all where it touches the value and turns. At an event the state behind it.
class Passages {
 public:
  /// `direction`: 1 up, -1 down. Throws ExpressionError. The model must outlive it.
  Passages(const Model& model, const std::string& formula, double value, int direction)
      : laws_(model.laws()), formula_(model, formula), value_(value), direction_(direction) {}

  /// Every course of the run, in order; what passes twice within 1/8 of one is not seen.
  void course(const StepCourse& step);
  /// The last row: the run may end with an event.
  void finish(const Step& last);
  [[nodiscard]] const std::vector<SectionPoint>& points() const { return kept_; }

 private:
  static constexpr std::size_t parts = 8;  // of a course
  struct Samples {
    std::array<double, parts + 1> gaps{};
    bool begin_is_rounding = false, end_is_rounding = false, rests = false;
  };
  [[nodiscard]] double gap(const Step& state) { return direction_ * (formula_(state) - value_); }
  [[nodiscard]] double rounding();
  [[nodiscard]] Samples samples_of(const StepCourse& step, const Step& begin);
  void begin(const Step& state);
  void move(const StepCourse& step, std::size_t k, double gap);
  void decide(double gap);
  [[nodiscard]] SectionPoint root(const StepCourse& step, double from, double to, double before, double after);

  const Laws& laws_;
  StateFormula formula_;
  double value_;
  int direction_;
  int side_ = 0;         // the last side that is no rounding, 0: none yet
  double before_ = nan;  // the last gap
  double motion_ = 0;    // of the gap in the rounding of times, in the last course
  Vector end_;           // the state at the end of the last course
  std::optional<SectionPoint> waiting_;  // where the gap became > 0, until it is known to stay so
  std::vector<SectionPoint> kept_;
};

}  // namespace perp
