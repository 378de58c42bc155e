#pragma once

#include <optional>
#include <span>
#include <vector>

#include <perp/schemes/events/bound_watch.hpp>
#include <perp/schemes/located/events/reset_sides.hpp>

namespace perp {

struct ZeroSearch;

/// What ends the present mode within an attempted step, and when: the gaps of laws, conditions of resets and
/// bounds of variables, sampled on the course of the attempt, and the length of the step at whose end the
/// first of them is 0.
class EventLocator {
 public:
  /// All must outlive this. Throws InvalidInput: see BoundWatch.
  EventLocator(LocatedState& at, ModeJets& jets, ModeIntegrator& integrator, ResetSides& sides,
               const std::vector<VariableBounds>& bounds);

  /// A mode begins, or a side has changed: the gaps from here on, and the sizes of the terms of w.
  void watch_mode();
  /// The gaps of the mode.
  void transfer(Archive& archive) { archive(bounds_, gaps_, samples_, depth_, noise_, rise_, inside_); }
  [[nodiscard]] const std::vector<Gap>& gaps() const { return gaps_; }
  /// The gap of a fall.
  [[nodiscard]] const Gap& gap(const GapWatch::Fall& fall) const { return gaps_[static_cast<std::size_t>(fall.gap)]; }
  /// Of a dip.
  [[nodiscard]] const Gap& gap(const GapWatch::Dip& dip) const { return gaps_[static_cast<std::size_t>(dip.gap)]; }
  /// Is the condition of this gap of a reset on the side that it leaves by a fall?
  [[nodiscard]] bool begins_inside(const Gap& gap) const;
  /// Of a gap at a state.
  [[nodiscard]] double value(const Gap& gap, const Step& state);
  /// Of the terms of a law's gap.
  [[nodiscard]] double size(const Gap& gap) const;
  /// Is this value of a law's gap 0 but for its rounding?
  [[nodiscard]] bool is_zero(const Gap& gap, double value) const;
  /// Shares of a step at which gaps are sampled.
  [[nodiscard]] const Vector& points() const { return watch_.points(); }

  /// The first gap that falls below 0 in the attempted step of length h.
  std::optional<GapWatch::Fall> first_fall(double h);
  /// After it: dips of gaps that came within the tolerance of 0.
  [[nodiscard]] std::span<const GapWatch::Dip> undecided_dips() const {
    return gaps_.empty() ? std::span<const GapWatch::Dip>() : watch_.undecided_dips();
  }
  /// After it: are all courses resolved? One that is not may hide an event: the state may rest while a
  /// multiplier moves.
  [[nodiscard]] bool is_resolved();
  /// After it: are all laws on their branches in a state of the attempt, up to the dips that do not count?
  [[nodiscard]] bool is_inside(const Step& state);
  /// The same, and is no condition of a reset below 0 that began above?
  [[nodiscard]] bool is_before_falls(const Step& state);
  /// The length of the step at whose end the gap is 0, to rounding; the attempt of the integrator is one of
  /// such a step then, unless it is 0. Empty: with the multipliers that solve the hidden equations
  /// the gap does not fall.
  std::optional<double> length_to(const GapWatch::Fall& fall, double h);
  /// Times near t that an attempt of length h cannot tell apart.
  static double moment(double h, double t);

  [[nodiscard]] BoundWatch& bounds() { return bounds_; }
  /// What the tolerance of the run refers to in x_j and its bound.
  [[nodiscard]] double size(const BoundWatch::Surface& surface) const;

 private:
  void add_resets();
  void add_resting();
  void add_bounds();
  [[nodiscard]] double resting_end(int law);
  void measure(int g, double h);
  void measure_condition(int g, double h);
  bool confirm(const GapWatch::Fall& fall, double h, const ZeroSearch& search);
  bool rises(const GapWatch::Fall& fall, double h);
  bool falls(const GapWatch::Fall& fall, double h, bool strictly);
  double value_after(double length, const Gap& gap);
  GapWatch::Fall pass_or_touch(const GapWatch::Fall& bound, double h);

  LocatedState& at_;
  ModeJets& jets_;
  ModeIntegrator& integrator_;
  ResetSides& sides_;
  BoundWatch bounds_;
  GapWatch watch_;
  std::vector<Gap> gaps_;
  Matrix samples_;           // gaps × points, of the last attempt
  Vector depth_, noise_, rise_;  // of the gaps
  std::vector<char> inside_;
};

}  // namespace perp
