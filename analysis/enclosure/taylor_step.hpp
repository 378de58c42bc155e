#pragma once

#include <optional>
#include <string>

#include <perp/analysis/enclosure/doubleton.hpp>
#include <perp/core/interval/series/interval_series.hpp>

namespace perp::enclosure {

/// How steps are chosen; bounds hold whatever stands here.
struct StepOptions {
  int order = 18;        ///< K, degree of the Taylor polynomials, at least 1
  double share = 1e-17;  ///< of a state's size, that the last terms of its series may have
  double longest = 0;    ///< a step's length; 0: no limit
  double excess = 1e-4;  ///< of a box's width, that the remainder of a step may be as wide as
};

/// One step of x' = f(t, x) for all points of a set, with its proof: for times T after t,
///     Z = Σ_{k ≤ K} x_k T^k + V T^(K+1),   x_k over the box,    R = x_{K+1} over Z,   R ⊂ int V
/// Then every solution that starts in the box exists on T, is the only one, and stays in Z: as long
/// as it does, Taylor's formula with the remainder in each row gives x(τ) ∈ Σ x_k τ^k + R τ^(K+1),
/// which is inside Z, so that it cannot leave. With x̂ any point and P_k the coefficients of the
/// solution through it
///     x(τ) ∈ Σ_{k ≤ K} P_k τ^k + R τ^(K+1) + J (x(0) − x̂),     J = Σ_{k ≤ K} ∂x_k τ^k over box and
///     x̂
/// which is the mean value form of the polynomial; the remainder is that of x(0). T may hold times
/// before t, and t be an interval: the start of each member is then at a time of its own.
class TaylorStep {
 public:
  /// The first `gaps` outputs are followed as closely as the states are.
  TaylorStep(const Flow& flow, const StepOptions& options, int gaps = 0);

  /// A starting box widened so that every choice of the states that others do not give has members:
  /// x_j ∈ hull(box_j, e(t, box)). By itself it may hold no consistent point at all, as a sample or
  /// a half of a box whose ends are rounded, and what is proved of such a set contradicts itself.
  [[nodiscard]] Box start(double t, const Box& box);
  /// Finds and proves a step from t that ends at or before `end` on the grid of `grid`. False:
  /// there is none, see `reason`.
  bool prepare(const Doubleton& set, double t, double end, double grid);
  /// Proves T = [−radius, radius] for the members of `box` with the point x̂ in `center` at a time
  /// of `center_t`, which is part of t; with derivatives of the remainder, for `flow_jacobian`.
  bool prepare_window(const Interval& t, const Box& box, const Interval& center_t,
                      const Box& center, double radius);
  [[nodiscard]] double end() const { return end_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

  /// The states at every time of `from` ≤ τ ≤ `to`, between t and `end`.
  [[nodiscard]] Box between(double from, double to);
  /// Where the members of a set are at one such time: x ∈ F + J (x(0) − x̂), and in `states`.
  struct Image {
    Box F{};
    IntervalMatrix J{0, 0};
    Box states{};
  };
  /// Of a set as it is.
  [[nodiscard]] static Image image_of(const Doubleton& set);
  /// Of the set that was prepared.
  [[nodiscard]] Image image_at(const Doubleton& set, double time);
  /// Moves it to `time`, at most `end`.
  void move(Doubleton& set, double time);
  void move(Doubleton& set) { move(set, end_); }
  /// The same of solutions that are by an element of `added` beside these, and by one of `change`
  /// beside their start: in each row what tells more. `within` holds them too.
  void move(Doubleton& set, double time, const Box& added, const Box& change, const Box& within);

  /// Of times τ after t, within T.
  ///@{
  [[nodiscard]] Box centre_at(const Interval& tau) const;
  [[nodiscard]] Box box_at(const Interval& tau);
  [[nodiscard]] IntervalMatrix jacobian_at(const Interval& tau) const;
  /// ∂x(τ)/∂x(0), remainder included, of a window.
  [[nodiscard]] IntervalMatrix flow_jacobian(const Interval& tau) const;
  /// Rows of states that others give are made from those, all at this time: x_j = e(t, x),
  /// ∂x_j = ∂e ∂x.
  void complete(const Interval& time, Box& F, IntervalMatrix& J, const Box& box);
  /// Of members of which x(time) ∈ F + J (x − x̂) and in `box`: what leads off their surfaces g = 0
  /// is replaced by what is known of it.
  void project(const Interval& time, Box& F, IntervalMatrix& J, const Box& box);
  /// Z, where all solutions stay.
  [[nodiscard]] const Box& tube_box() const { return tube_box_; }
  /// V and R of its proof.
  [[nodiscard]] const Box& a_priori_bound() const { return bound_; }
  [[nodiscard]] const Box& remainder() const { return remainder_; }
  ///@}

  /// The derivative number `order` by time of an output of the flow, at times τ after t.
  ///@{
  [[nodiscard]] Interval output(int i, int order, const Interval& tau) const;
  /// Of the members of the set that was prepared, by the mean value form too.
  [[nodiscard]] Interval output(int i, int order, const Interval& tau, const Doubleton& set) const;
  /// Of the point x̂.
  [[nodiscard]] Interval center_output(int i, int order, const Interval& tau) const;
  ///@}

 private:
  template <class Coefficient>
  [[nodiscard]] double length_for(const Coefficient& a, int first, int last, int order) const;
  [[nodiscard]] double proposed_length() const;
  [[nodiscard]] bool expand(const Interval& center_t, const Box& center, const Box& box);
  bool prove(const Interval& times, bool derivatives);
  void guess(const Interval& times, const Interval& last, Box& smooth, Box& V) const;
  [[nodiscard]] bool is_proved(const Box& V, Box& R) const;
  static std::vector<std::size_t> zeros_of(const Box& smooth, Box& Z);
  void keep_zeros(const Interval& times, const Box& smooth);
  [[nodiscard]] bool is_sharp(const Box& box, double h) const;
  [[nodiscard]] Interval since_start(double from, double to) const;
  [[nodiscard]] Interval polynomial(const IntervalSeries& series, int state,
                                    const Interval& tau) const;
  [[nodiscard]] Interval output_polynomial(const IntervalSeries& series, int i, int order,
                                           const Interval& tau) const;
  [[nodiscard]] Interval output_remainder(int i, int order, const Interval& tau) const;
  void refine(const Interval& tau, Box& box);
  [[nodiscard]] Interval relation_slope(int relation, const IntervalMatrix& J, int column) const;
  void project(const Interval& t, int invariant, Box& F, IntervalMatrix& J, const Box& box);

  StepOptions options_;
  int gaps_ = 0;
  IntervalSeries point_, box_series_, tube_, relations_;
  std::optional<IntervalSeries> rates_;  // where a state may stay 0
  std::vector<DependentState> dependents_;
  Interval t_{};
  double end_ = 0, last_length_ = 0;
  Matrix growth_;                     // |∂f| over Z
  Box tube_box_, bound_, remainder_;  // Z, V, R
  std::string reason_;
};

}  // namespace perp::enclosure
