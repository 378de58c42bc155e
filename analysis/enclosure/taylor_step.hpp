#pragma once

#include <string>

#include <perp/analysis/enclosure/doubleton.hpp>
#include <perp/core/expression/interval_series.hpp>

namespace perp::enclosure {

/// How steps are chosen; bounds hold whatever stands here.
struct StepOptions {
  int order = 18;        ///< K, degree of the Taylor polynomials, at least 1
  double share = 1e-17;  ///< of a state's size, that the last terms of its series may have
  double longest = 0;    ///< a step's length; 0: no limit
  double excess = 0.01;  ///< of a box's width, that the remainder of a step may be as wide as
};

/// One step of x' = f(t, x) for all points of a set, with its proof:
///     Z = Σ_{k ≤ K} x_k [0,h]^k + V [0,h]^(K+1),   x_k over the box,    R = x_{K+1} over Z,   R ⊂
///     int V
/// Then every solution that starts in the box exists on [0,h], is the only one, and stays in Z: as
/// long as it does, Taylor's formula with the remainder in each row gives x(τ) ∈ Σ x_k τ^k + R
/// τ^(K+1), which is inside Z, so that it cannot leave. With x̂ any point and P_k the coefficients
/// of the solution through it
///     x(τ) ∈ Σ_{k ≤ K} P_k τ^k + R τ^(K+1) + J (x(0) − x̂),     J = Σ_{k ≤ K} ∂x_k τ^k over box and
///     x̂
/// which is the mean value form of the polynomial; the remainder is that of x(0).
class TaylorStep {
 public:
  TaylorStep(const Flow& flow, const StepOptions& options);

  /// Finds and proves a step from t that ends at or before `end` on the grid of `grid`. False:
  /// there is none, see `reason`.
  bool prepare(const Doubleton& set, double t, double end, double grid);
  [[nodiscard]] double end() const { return end_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

  /// The states at every time of `from` ≤ τ ≤ `to`, between t and `end`.
  [[nodiscard]] Box between(double from, double to) const;
  /// The states at one such time, of the set that was prepared.
  [[nodiscard]] Box at(const Doubleton& set, double time) const;
  /// Moves it to `end`.
  void move(Doubleton& set);

 private:
  [[nodiscard]] double proposed_length(const Box& box) const;
  [[nodiscard]] bool expand(const Doubleton& set);
  bool prove(double length);
  [[nodiscard]] bool is_sharp(const Box& box, double h) const;
  [[nodiscard]] Interval since_start(double from, double to) const;
  [[nodiscard]] Interval polynomial(const IntervalSeries& series, int state,
                                    const Interval& tau) const;
  [[nodiscard]] Box centre_at(const Interval& tau) const;
  [[nodiscard]] Box box_at(const Interval& tau) const;
  [[nodiscard]] IntervalMatrix jacobian_at(const Interval& tau) const;

  StepOptions options_;
  IntervalSeries point_, box_series_, tube_;
  double t_ = 0, end_ = 0, last_length_ = 0;
  Box tube_box_, remainder_;  // Z, R
  std::string reason_;
};

}  // namespace perp::enclosure
