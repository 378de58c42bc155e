#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>
#include <perp/schemes/newton/rank_newton.hpp>

namespace perp {

/// 0 = H(t, 0, y) of one mode.
class RestEquations {
 public:
  RestEquations(ModeFlow& flow, double t, const Vector& scale) : flow_(flow), t_(t) {
    scale_ = Vector::Ones(flow.size());
    scale_.head(flow.n()) = scale;
    ydot_ = Vector::Zero(flow.size());
    y_ = Vector::Zero(flow.size());
  }

  bool start(const Vector& x, const Vector& lambda) {
    flow_.gather(x, lambda, y_);
    return evaluate();
  }
  bool evaluate() {
    const bool finite = flow_.linearize(t_, ydot_, y_, H_, H_ydot_, H_y_);
    sizes_ = y_.cwiseAbs().cwiseMax(scale_);
    row_sizes_ = H_y_.cwiseAbs() * sizes_;
    return finite;
  }
  void move(double share, const Vector& step) { y_ += share * step; }

  [[nodiscard]] const Vector& residual() const { return H_; }
  [[nodiscard]] const Matrix& matrix() const { return H_y_; }
  [[nodiscard]] const Matrix& rate_matrix() const { return H_ydot_; }
  [[nodiscard]] const Vector& sizes() const { return sizes_; }
  [[nodiscard]] const Vector& row_sizes() const { return row_sizes_; }
  [[nodiscard]] const Vector& y() const { return y_; }
  /// Bounds of |H_i|: the residual and its rounding; infinite where there are none.
  [[nodiscard]] Vector residual_bounds() {
    std::vector<RunningError> y, H;
    for (const double value : y_) y.emplace_back(value);
    const std::vector<RunningError> rest(y.size());
    Vector bounds = Vector::Constant(y_.size(), inf);
    if (flow_.evaluate_bounded(RunningError(t_), rest, y, H))
      for (Eigen::Index i = 0; i < bounds.size(); ++i) {
        const RunningError& row = H[static_cast<std::size_t>(i)];
        bounds[i] = std::abs(row.value) + row.error;
      }
    return bounds;
  }
  [[nodiscard]] static bool is_linear() { return false; }
  [[nodiscard]] double relative_residual() const { return perp::relative_residual(H_, row_sizes_); }
  /// Does H change with t?
  [[nodiscard]] bool moves_with_time() const {
    Vector H_t;
    flow_.by_time(H_t);
    for (Eigen::Index i = 0; i < H_t.size(); ++i)
      if (std::abs(H_t[i]) > unmoved * std::max(row_sizes_[i], std::abs(H_t[i]) * unmoved))
        return true;
    return false;
  }

 private:
  static constexpr double unmoved = 1e-8;  ///< what time changes of a row in a unit of it, relative to the row

  ModeFlow& flow_;
  double t_;
  Vector scale_, ydot_, y_, H_, sizes_, row_sizes_;
  Matrix H_ydot_, H_y_;
};

}  // namespace perp
