#pragma once

#include <optional>
#include <string>

#include <perp/analysis/enclosure/modes/successor.hpp>

namespace perp::enclosure {

/// An event that every member of a set meets at a time of its own, t + δ(x), near the common time
/// t. In the old mode the gap falls over the whole window,
///     δ(x) ∈ −m(x)/m'(window),    S* ∋ φ_1(δ(x), x)
/// and the way into the new mode and back to the common time is one map, whose derivative is
/// bounded without boxing the set,
///     y = φ_2(−δ(x), R(φ_1(δ(x), x))),
///     ∂y/∂x = Φ_2(−δ) [R' + (f_2(R) − Ṙ) ∇mᵀ/m'](S*) Φ_1(δ),   Ṙ = R' f_1 + R_t
/// (saltation in mean value form). Where the rates are the same before and after, the bracket is
/// R'. y is where the member would have to be at t to be right after its event; it is there after t
/// + δ.
class EventWindow {
 public:
  EventWindow(ModeFlows& flows, double t, const Doubleton& set, ModeFlow& from,
              const std::vector<Monitor>& monitors, int reached, double shortest);

  /// Finds δ and S*. False: see `reason`.
  bool locate();
  [[nodiscard]] Interval time() const { return Interval(t_) + delta_; }
  [[nodiscard]] const Box& states() const { return states_; }

  [[nodiscard]] const Interval& delta() const { return delta_; }
  [[nodiscard]] const Interval& center_delta() const { return center_delta_; }
  /// The window that was proved lasts as long on both sides of the common time.
  [[nodiscard]] double radius() const { return radius_ + 2 * shortest_; }

  /// What may follow: after a reset that fires over R(S*), where its laws may be in other branches. Resets
  /// whose conditions jump over 0 with a law fire in the mode that the law brings, in declared order.
  /// The λ of `open` laws may have any of their values.
  std::vector<Successor> successors(const OpenLaws& open = {});
  /// The set in a mode that was proved, at the common time; the window of `to` holds it there.
  std::optional<Doubleton> pass(ModeFlow& to, const Successor& successor);
  /// ∂φ_1(δ(x), x)/∂x, of an autonomous system.
  [[nodiscard]] IntervalMatrix surface_jacobian() const;
  /// The set S* in section form, after the reset where one fires: each member at its own time. Of an
  /// autonomous system, in a mode that was proved.
  std::optional<Doubleton> on_surface(ModeFlow& to);
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// The gap that may be 0 in the window as well; −1: none.
  [[nodiscard]] int other() const { return other_; }

  /// The resets that fire; of a condition that only comes back to the side from which it does, none.
  [[nodiscard]] const std::vector<int>& fired() const { return fired_; }
  /// The mode in which they fire: the old one, or that which a law brings.
  [[nodiscard]] const ModeFlow& fired_in() const { return *fired_in_; }

 private:
  [[nodiscard]] int reached_law() const {
    return from_.system.gaps[static_cast<std::size_t>(reached_.gap)].law;
  }
  bool is_alone();
  bool is_first();
  bool has_other(const Monitor& monitor);
  [[nodiscard]] Doubleton section(const IntervalMatrix& reset) const;
  [[nodiscard]] IntervalMatrix onto_surface(IntervalMatrix P, const Box& rates) const;
  [[nodiscard]] int held_state() const;
  void hold_on_surface(IntervalMatrix& J) const;
  bool locate_states(const Interval& value);
  bool locate_center(double radius);
  bool shrink();
  bool find_values(const ModeSystem& in, const std::vector<int>& resets, Flow& flow,
                   std::vector<int>& rows);
  bool reset_states(ModeFlow& in, const std::vector<int>& resets);
  void set_state(const ModeFlow& in, const IntervalSeries& values, int k, int i);
  [[nodiscard]] std::vector<int> jumped_over(const Successor& next, const OpenLaws& open) const;
  std::vector<Successor> after_jumps(const std::vector<Successor>& list, const OpenLaws& open);
  void add_jump(IntervalMatrix& K, int state, const Interval& jump) const;
  [[nodiscard]] IntervalMatrix bracket(ModeFlow& to, const Successor& next,
                                       bool& has_value) const;
  [[nodiscard]] std::vector<bool> with_same_rates(const ModeFlow& to) const;
  [[nodiscard]] std::vector<bool> untouched(const ModeFlow& to) const;
  [[nodiscard]] bool is_watched(const ModeFlow& to, const Monitor& monitor,
                                const std::vector<bool>& kept) const;
  void keep(const std::vector<bool>& states, Box& F, IntervalMatrix& J, Box& other) const;
  bool fail(const std::string& reason) {
    reason_ = reason;
    return false;
  }

  ModeFlows& flows_;
  double t_;
  const Doubleton& set_;
  ModeFlow& from_;
  const std::vector<Monitor>& monitors_;
  Monitor reached_;
  double shortest_, radius_ = 0;
  std::vector<int> fired_{};
  ModeFlow* fired_in_ = nullptr;
  int other_ = -1;
  std::vector<Monitor> later_{};  ///< gaps that fall as well, and are to be 0 after the event
  Interval delta_{}, center_delta_{}, slope_{};
  Box center_{}, states_{}, rates_{}, gradient_{};  // φ_1(δ_c, x̂), S*, f_1, ∇m
  IntervalMatrix flow_{0, 0};                       // Φ_1
  Box after_{}, center_after_{}, after_rates_{};    // R(S*), R of the centre, Ṙ
  IntervalMatrix reset_{0, 0};                      // R'
  std::string reason_;
};

}  // namespace perp::enclosure
