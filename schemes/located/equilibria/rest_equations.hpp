#pragma once

#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>

namespace perp {

/// 0 = H(t, 0, y) of one mode, y = (x, λ of the laws whose branch leaves it open), for `RankNewton`.
class RestEquations {
 public:
  /// `scales`: the units of x and λ, in which steps are measured; they decide of no root.
  RestEquations(ModeFlow& flow, double t, const JetScales& scales);

  /// Starts from x and λ. False: something is not finite, as below.
  bool start(const Vector& x, const Vector& lambda);
  bool evaluate();
  void move(double share, const Vector& step) { y_ += share * step; }
  void set(const Vector& y) { y_ = y; }

  [[nodiscard]] const Vector& residual() const { return H_; }
  [[nodiscard]] const Matrix& matrix() const { return H_y_; }
  [[nodiscard]] const Matrix& rate_matrix() const { return H_ydot_; }
  [[nodiscard]] const Vector& sizes() const { return sizes_; }
  [[nodiscard]] const Vector& row_sizes() const { return row_sizes_; }
  [[nodiscard]] const Vector& y() const { return y_; }
  /// Where y started.
  [[nodiscard]] const Vector& y_start() const { return y_start_; }
  [[nodiscard]] static bool is_linear() { return false; }
  [[nodiscard]] double relative_residual() const;

  /// Bounds of |H_i| at y, to the bit: the residual and its rounding; infinite where there are none.
  [[nodiscard]] Vector residual_bounds();
  /// The largest |H_i| in units of what the roundings of y and of the row itself do to it; infinite where there is no bound.
  [[nodiscard]] double misfit();
  /// w of all laws for y within these errors; an error is infinite where there is no bound.
  [[nodiscard]] std::vector<RunningError> w(const Vector& errors);
  /// Does H at y change with t?
  [[nodiscard]] bool moves_with_time();

 private:
  bool evaluate_bounded(const Vector& errors);

  ModeFlow& flow_;
  double t_, time_;
  Vector scale_, ydot_, y_, y_start_, H_, sizes_, row_sizes_;
  Matrix H_ydot_, H_y_;
  std::vector<RunningError> bounded_, rates_, rows_;
};

/// Is y a root as far as rounding lets see: every row is within `misfit_limit` of its rounding?
[[nodiscard]] bool is_root(RestEquations& equations);

}  // namespace perp
