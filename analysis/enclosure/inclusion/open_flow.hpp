#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include <perp/analysis/enclosure/inclusion/law_graph.hpp>
#include <perp/analysis/enclosure/modes/mode_flow.hpp>

namespace perp::enclosure {

/// The equations while some laws are open, or under disturbances: x' = f(t, x, v), v what is given
/// from outside: the λ_U of these laws, anything that they allow, then the disturbances d(t). The
/// other laws stay on their branches. The w of open laws are functions of time, states and d, and of
/// the λ of open laws inside of them, none of which comes back to itself.
class OpenFlow {
 public:
  OpenFlow(ModeSystem made, const Dcs& system, const StateSpace& space, const OpenLaws& laws,
           const StepOptions& options);

  ModeSystem system;
  Box reference;      ///< v of the reference solutions, points
  TaylorStep centre;  ///< steps of these

  /// Everything over a box of the states and one of v. False: something has no value.
  bool expand(const Interval& t, const Box& x, const Box& v, int order, bool derivatives);
  [[nodiscard]] Interval rate(int i) const { return spread_.coefficient(i, 1); }
  /// ∂f_i/∂x_j, and of j from the number of states on by v; after `expand` with derivatives.
  [[nodiscard]] Interval slope(int i, int j) const { return spread_.derivative(i, j, 1); }
  [[nodiscard]] Interval gap(int k) const { return spread_.output(k, 0); }
  [[nodiscard]] Interval gap_rate(int k) const { return spread_.output(k, 1); }
  /// w of the open law number a, its rate and ∂w/∂x_j.
  ///@{
  [[nodiscard]] Interval argument(int a) const { return spread_.output(first_ + a, 0); }
  [[nodiscard]] Interval argument_rate(int a) const { return spread_.output(first_ + a, 1); }
  [[nodiscard]] Interval argument_slope(int a, int j) const {
    return spread_.output_derivative(first_ + a, j, 0);
  }
  ///@}
  /// Does this w hold a disturbance or the λ of an open law, so that it may jump and its rate is not
  /// known?
  [[nodiscard]] bool is_disturbed(int a) const { return disturbed_[static_cast<std::size_t>(a)]; }
  /// Does this w hold the λ of open law number b?
  [[nodiscard]] bool holds(int a, int b) const {
    return holds_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  }
  /// Does the argument of some law hold the λ of an open one?
  [[nodiscard]] bool is_nested() const { return is_nested_; }
  /// Is w = C x + c and x' = … + B λ of this open law, C and B of constants and constant parameters?
  [[nodiscard]] bool is_affine(int a) const { return affine_[static_cast<std::size_t>(a)]; }
  /// A law that is not open and holds its argument at 0 by a higher derivative of it; −1: there is none. Its λ inside of its
  /// branch does not tell that it stays there beside open laws that jump: the argument may swing around 0, and what they add may
  /// make that grow from nothing, as x'' = −sign(x) + sign(x')/2 does. By its first derivative every way out is pressed back.
  [[nodiscard]] int swinging_law() const { return swinging_; }
  void set_swinging_law(int law) { swinging_ = law; }
  /// The variables, then the multipliers. False: one of them has no value.
  bool observe(const Interval& t, const Box& x, const Box& v, Box& values);

 private:
  int first_;  // output
  std::vector<bool> disturbed_, affine_;
  std::vector<std::vector<bool>> holds_;
  bool is_nested_ = false;
  int swinging_ = -1;
  IntervalSeries spread_, observer_;
};

/// Those that a piece has met.
class OpenFlows {
 public:
  explicit OpenFlows(ModeFlows& flows) : flows_(flows) {}

  /// Null: the equations are not solved, or arguments are not given by the states one by one.
  OpenFlow* get(Mode mode, const OpenLaws& open, const Interval& t, const Box& box);
  [[nodiscard]] const ModeFlows& flows() const { return flows_; }

 private:
  bool are_given(const ModeSystem& made, const OpenLaws& open, const Interval& t, const Box& box);
  [[nodiscard]] int swinging_law(const ModeSystem& made, const OpenLaws& open, const Interval& t, const Box& box);

  using Key = std::tuple<Mode, std::vector<int>, std::vector<double>>;

  ModeFlows& flows_;
  std::map<Key, std::unique_ptr<OpenFlow>> known_;
};

}  // namespace perp::enclosure
