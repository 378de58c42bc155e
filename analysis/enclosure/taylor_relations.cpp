// States that others give, and surfaces that solutions do not leave, in proved steps.
#include <algorithm>

#include <perp/analysis/enclosure/taylor_step.hpp>

namespace perp::enclosure {
namespace {

/// I − d nᵀ/(n d), `along` the enclosure of n d.
IntervalMatrix projector(const Box& d, const Box& normal, const Interval& along) {
  const int n = static_cast<int>(d.size());
  IntervalMatrix P{Matrix(Matrix::Identity(n, n))};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      P(i, j) -= d[static_cast<std::size_t>(i)] * normal[static_cast<std::size_t>(j)] / along;
  return P;
}

}  // namespace

/// Every line that is 0 along the solutions, one after the other.
void TaylorStep::project(const Interval& t, Box& F, IntervalMatrix& J, const Box& box) {
  for (int k = static_cast<int>(dependents_.size()); k < relations_.outputs(); ++k)
    project(t, k, F, J, box);
}

/// g(x(τ)) = 0:  with c in the middle of F, n of ∇g over box and c, and any direction d,
///     n (x(τ) − c) ∈ −g(c) − (∇g − n) (x(τ) − c) = e,   x(τ) = c + P (x(τ) − c) + d e/(n d),
/// P = I − d nᵀ/(n d): what leads off the surface is replaced by what is known of it. d is n in the
/// units of the states: their sizes, as those of `proposed_length`.
void TaylorStep::project(const Interval& t, int k, Box& F, IntervalMatrix& J, const Box& box) {
  const Box c = points(middle(F));
  Box all = box, normal, d;
  for (std::size_t i = 0; i < c.size(); ++i) all[i] = hull(all[i], c[i]);
  if (!relations_.compute(t, c, 1, false)) return;
  Interval e = -relations_.output(k, 0), along;
  if (!relations_.compute(t, all, 1, true)) return;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const Interval& slope = relations_.output_derivative(k, static_cast<int>(i), 0);
    normal.emplace_back(middle(slope));
    const double size =
        std::max(magnitude(all[i]),
                 magnitude(box_series_.coefficient(static_cast<int>(i), 1)) * last_length_);
    d.push_back(Interval(size) * (Interval(size) * normal[i]));
    along += normal[i] * d[i];
    e -= (slope - normal[i]) * (box[i] - c[i]);
  }
  const Interval share = e / along;
  if (!(along.lo > 0) || !share.is_bounded()) return;
  const IntervalMatrix P = projector(d, normal, along);
  F = c + P * (F - c);
  for (std::size_t i = 0; i < F.size(); ++i) F[i] += d[i] * share;
  J = P * J;
}

/// Σ_i ∂e/∂x_i J_ij, what is 0 left out.
Interval TaylorStep::relation_slope(int k, const IntervalMatrix& J, int j) const {
  Interval sum;
  for (int i = 0; i < J.rows(); ++i) {
    const Interval& slope = relations_.output_derivative(k, i, 0);
    if (!slope.is_zero() && !J(i, j).is_zero()) sum += slope * J(i, j);
  }
  return sum;
}

/// e at F, and its derivatives over all points between: x_j(τ) = e(x(τ)), x(τ) ∈ F + J (x − x̂).
void TaylorStep::complete(const Interval& t, Box& F, IntervalMatrix& J, const Box& box) {
  if (dependents_.empty()) return;
  const int count = static_cast<int>(dependents_.size()), n = J.columns();
  if (!relations_.compute(t, F, 1, false)) return;
  Box values;
  for (int k = 0; k < count; ++k) values.push_back(relations_.output(k, 0));
  Box all = box;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = hull(all[i], F[i]);
  if (!relations_.compute(t, all, 1, true)) return;
  for (int k = 0; k < count; ++k) {
    const int row = dependents_[static_cast<std::size_t>(k)].state;
    F[static_cast<std::size_t>(row)] = values[static_cast<std::size_t>(k)];
    for (int j = 0; j < n; ++j) J(row, j) = relation_slope(k, J, j);
  }
}

void TaylorStep::refine(const Interval& tau, Box& box) {
  if (dependents_.empty() || !relations_.compute(t_ + tau, box, 1, false)) return;
  for (int k = 0; k < static_cast<int>(dependents_.size()); ++k) {
    Interval& x = box[static_cast<std::size_t>(dependents_[static_cast<std::size_t>(k)].state)];
    x = common_part(x, relations_.output(k, 0));
  }
}

Box TaylorStep::start(double t, const Box& box) {
  Box all = box;
  if (dependents_.empty() || !relations_.compute(Interval(t), box, 1, false)) return all;
  for (int k = 0; k < static_cast<int>(dependents_.size()); ++k) {
    Interval& x = all[static_cast<std::size_t>(dependents_[static_cast<std::size_t>(k)].state)];
    x = hull(x, relations_.output(k, 0));
  }
  return is_bounded(all) ? all : box;
}

}  // namespace perp::enclosure
