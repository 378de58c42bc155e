// The equations of a point at rest in a mode: the searches for equilibria solve them.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/lcp/residual_gate.hpp>
#include <perp/schemes/located/equilibria/rest_equations.hpp>
#include <perp/schemes/newton/rank_newton.hpp>

namespace perp {
namespace {

/// Moments, in units of time from t on, at which the derivative by time is looked at: it may be 0 at a single one.
constexpr double moments[] = {0, 0.381966, 0.7236068};

}  // namespace

RestEquations::RestEquations(ModeFlow& flow, double t, const JetScales& scales)
    : flow_(flow), t_(t), time_(scales.time) {
  flow_.gather(scales.x, scales.lambda, scale_);
  ydot_ = Vector::Zero(flow.size());
  y_ = Vector::Zero(flow.size());
  rates_.resize(y_.size());
}

bool RestEquations::start(const Vector& x, const Vector& lambda) {
  flow_.gather(x, lambda, y_);
  y_start_ = y_;
  return evaluate();
}

bool RestEquations::evaluate() {
  const bool finite = flow_.linearize(t_, ydot_, y_, H_, H_ydot_, H_y_);
  sizes_ = y_.cwiseAbs().cwiseMax(scale_);
  row_sizes_ = H_y_.cwiseAbs() * sizes_;
  return finite;
}

double RestEquations::relative_residual() const { return perp::relative_residual(H_, row_sizes_); }

/// H and w for y within these errors.
bool RestEquations::evaluate_bounded(const Vector& errors) {
  bounded_.clear();
  for (Eigen::Index j = 0; j < y_.size(); ++j) bounded_.emplace_back(y_[j], errors[j]);
  return flow_.evaluate_bounded(RunningError(t_), rates_, bounded_, rows_);
}

Vector RestEquations::residual_bounds() {
  Vector bounds = Vector::Constant(y_.size(), inf);
  if (!evaluate_bounded(Vector::Zero(y_.size()))) return bounds;
  for (Eigen::Index i = 0; i < bounds.size(); ++i)
    bounds[i] = std::abs(rows_[at(i)].value) + rows_[at(i)].error;
  return bounds;
}

double RestEquations::misfit() {
  if (!evaluate_bounded(y_.unaryExpr([](double value) { return half_ulp(value); }))) return inf;
  double largest = 0;
  for (const RunningError& row : rows_)
    if (row.value != 0) largest = std::max(largest, row.error > 0 ? std::abs(row.value) / row.error : inf);
  return largest;
}

std::vector<RunningError> RestEquations::w(const Vector& errors) {
  static_cast<void>(evaluate_bounded(errors));  // that a row has no bound says nothing of w
  return flow_.bounded_w();
}

bool RestEquations::moves_with_time() {
  Vector H, H_t;
  Matrix by_rate, by_value;
  return std::ranges::any_of(moments, [&](double share) {
    if (!flow_.linearize(t_ + share * time_, ydot_, y_, H, by_rate, by_value)) return true;
    flow_.by_time(H_t);
    return !H_t.isZero(0);
  });
}

bool is_root(RestEquations& equations) { return equations.misfit() <= misfit_limit; }

}  // namespace perp
