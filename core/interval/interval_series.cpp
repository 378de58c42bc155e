// The recurrences of interval Taylor series with first derivatives; called by the steps of
// enclosures.
#include <algorithm>
#include <cmath>

#include <perp/core/interval/interval_series.hpp>

namespace perp::enclosure {

// A jet is a coefficient and its derivatives: (u, u') (v, v') = (u v, u' v + u v'). Exact zeros are
// skipped: most derivatives are.

void IntervalSeries::clear(Interval* sum) const { std::fill(sum, sum + stride_, Interval(0)); }

void IntervalSeries::add_to(Interval* sum, const Interval* u, double weight) const {
  for (int d = 0; d < stride_; ++d)
    if (!u[d].is_zero()) sum[d] += Interval(weight) * u[d];
}

void IntervalSeries::add_product(Interval* sum, const Interval* u, const Interval* v,
                                 double weight) const {
  const Interval wu = weight == 1 ? u[0] : Interval(weight) * u[0];
  const Interval wv = weight == 1 ? v[0] : Interval(weight) * v[0];
  if (!wu.is_zero() && !v[0].is_zero()) sum[0] += wu * v[0];
  for (int d = 1; d < stride_; ++d) {
    if (!u[d].is_zero() && !wv.is_zero()) sum[d] += u[d] * wv;
    if (!v[d].is_zero() && !wu.is_zero()) sum[d] += wu * v[d];
  }
}

/// y w v = sum:  y = sum / (w v),  y' = (sum' − y w v') / (w v)
void IntervalSeries::divide_by(Interval* sum, const Interval* divisor, double weight) const {
  const Interval whole = Interval(weight) * divisor[0];
  sum[0] = sum[0] / whole;
  for (int d = 1; d < stride_; ++d) {
    if (!divisor[d].is_zero()) sum[d] -= Interval(weight) * sum[0] * divisor[d];
    if (!sum[d].is_zero() || !whole.has_value()) sum[d] = sum[d] / whole;
  }
}

/// node_k += weight Σ_{first ≤ l ≤ last} a_l b_{k−l}
void IntervalSeries::convolve(int node, int k, int a, int b, int first, int last, double weight) {
  for (int l = first; l <= last; ++l) add_product(jet(node, k), jet(a, l), jet(b, k - l), weight);
}

/// node_k += weight Σ_{1 ≤ l ≤ last} l a_l b_{k−l}
void IntervalSeries::convolve_weighted(int node, int k, int a, int b, int last, double weight) {
  for (int l = 1; l <= last; ++l) add_product(jet(node, k), jet(a, l), jet(b, k - l), weight * l);
}

/// node_k += Σ a_l a_{k−l}: every pair once, and the square in the middle.
void IntervalSeries::convolve_square(int node, int k, int a) {
  Interval* sum = jet(node, k);
  for (int l = 0; 2 * l < k; ++l) add_product(sum, jet(a, l), jet(a, k - l), 2);
  if (k % 2 != 0) return;
  const Interval* u = jet(a, k / 2);
  sum[0] += square(u[0]);
  for (int d = 1; d < stride_; ++d)
    if (!u[d].is_zero()) sum[d] += Interval(2) * u[0] * u[d];
}

/// y' = sign s a':  k y_k = sign Σ_{1 ≤ l ≤ k} l a_l s_{k−l}
void IntervalSeries::integrate(int node, int k, int a, int slope, double sign) {
  clear(jet(node, k));
  convolve_weighted(node, k, a, slope, k, sign);
  for (int d = 0; d < stride_; ++d)
    if (!jet(node, k)[d].is_zero()) jet(node, k)[d] = jet(node, k)[d] / Interval(k);
}

/// Coefficient 0 of a function: its value, and slope · a'.
void IntervalSeries::apply_chain(int node, int a, const Interval& value, const Interval& slope) {
  Interval* y = jet(node, 0);
  y[0] = value;
  for (int d = 1; d < stride_; ++d) {
    const Interval& inner = jet(a, 0)[d];
    y[d] = inner.is_zero() && slope.has_value() ? Interval(0) : slope * inner;
  }
}

/// What is the same choice over the whole box is that branch; else there is no series.
void IntervalSeries::choose(int node, int k) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const Interval& a = jet(here.a, 0)[0];
  Interval* y = jet(node, k);
  clear(y);
  if (here.kind == Kind::absolute || here.kind == Kind::sign) {
    const int side = certain_sign(a);
    if (side == 0)
      std::fill(y, y + stride_, Interval::none());
    else if (here.kind == Kind::absolute)
      add_to(y, jet(here.a, k), side);
    else if (k == 0)
      y[0] = Interval(side);
    return;
  }
  const Interval& b = jet(here.b, 0)[0];
  const bool smaller = here.kind == Kind::smaller;
  if (certainly_less(a, b))
    add_to(y, jet(smaller ? here.a : here.b, k), 1);
  else if (certainly_less(b, a))
    add_to(y, jet(smaller ? here.b : here.a, k), 1);
  else
    std::fill(y, y + stride_, Interval::none());
}

bool IntervalSeries::is_complete(int node, int k) const {
  const Interval* y = jet(node, k);
  return std::all_of(y, y + stride_, [](const Interval& value) { return value.has_value(); });
}

/// Coefficients 0 of the functions that have a recurrence for the others.
void IntervalSeries::evaluate_first(int node) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const Interval& a = jet(here.a, 0)[0];
  switch (here.kind) {
    case Kind::exponential: {
      const Interval value = exp(a);
      return apply_chain(node, here.a, value, value);
    }
    case Kind::pair: {
      const bool round = here.function == Operation::sin;
      const Interval s = round ? sin(a) : sinh(a), c = round ? cos(a) : cosh(a);
      apply_chain(node, here.a, s, c);
      return apply_chain(node + 1, here.a, c, Interval(here.sign) * s);
    }
    case Kind::tangent: {
      const Interval value = here.function == Operation::tan ? tan(a) : tanh(a);
      const Interval slope = Interval(1) + Interval(here.sign) * square(value);
      apply_chain(node, here.a, value, slope);
      return apply_chain(node + 1, node, slope, Interval(2 * here.sign) * value);
    }
    case Kind::integral:
      return apply_chain(node, here.a, apply_operation(here.function, a, a),
                         Interval(here.sign) / jet(here.b, 0)[0]);
    case Kind::root: {
      const Interval value = sqrt(a);
      if (stride_ == 1) return apply_chain(node, here.a, value, value);  // also at 0
      return apply_chain(node, here.a, value, Interval(0.5) / value);
    }
    case Kind::power: {
      const Interval& r = jet(here.b, 0)[0];
      const Interval value = pow(a, r);
      return apply_chain(node, here.a, value, r * pow(a, r - Interval(1)));
    }
    default: {  // the angle of (x, y): φ' = (x y' − y x') / (x² + y²)
      const Interval* y = jet(here.a, 0);
      const Interval* x = jet(here.b, 0);
      Interval* angle = jet(node, 0);
      for (int d = 1; d < stride_; ++d) angle[d] = (x[0] * y[d] - y[0] * x[d]) / jet(here.c, 0)[0];
      angle[0] = atan2(y[0], x[0]);
    }
  }
}

void IntervalSeries::evaluate(int node, int k) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  Interval* y = jet(node, k);
  switch (here.kind) {
    case Kind::constant:
      clear(y);
      if (k == 0 || !here.value.has_value()) y[0] = here.value;
      return;
    case Kind::time:
      clear(y);
      if (k < 2) y[0] = k == 0 ? t_ : Interval(1);
      return;
    case Kind::negate: clear(y); return add_to(y, jet(here.a, k), -1);
    case Kind::add:
      clear(y);
      add_to(y, jet(here.a, k), 1);
      return add_to(y, jet(here.b, k), 1);
    case Kind::subtract:
      clear(y);
      add_to(y, jet(here.a, k), 1);
      return add_to(y, jet(here.b, k), -1);
    case Kind::multiply: clear(y); return convolve(node, k, here.a, here.b, 0, k, 1);
    case Kind::square: clear(y); return convolve_square(node, k, here.a);
    case Kind::divide:  // y b = a
      clear(y);
      add_to(y, jet(here.a, k), 1);
      convolve(node, k, here.b, node, 1, k, -1);
      return divide_by(y, jet(here.b, 0), 1);
    case Kind::absolute:
    case Kind::smaller:
    case Kind::larger:
    case Kind::sign: return choose(node, k);
    case Kind::state:
    case Kind::partner: return;
    default: return k == 0 ? evaluate_first(node) : recur(node, k);
  }
}

/// Coefficient k ≥ 1 of a function from those before, by the differential equation that it fulfils.
void IntervalSeries::recur(int node, int k) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  Interval* y = jet(node, k);
  switch (here.kind) {
    case Kind::exponential: return integrate(node, k, here.a, node, 1);
    case Kind::pair:
      integrate(node, k, here.a, node + 1, 1);
      return integrate(node + 1, k, here.a, node, here.sign);
    case Kind::tangent:  // s = 1 ± y²
      integrate(node, k, here.a, node + 1, 1);
      clear(jet(node + 1, k));
      for (int l = 0; l <= k; ++l)
        add_product(jet(node + 1, k), jet(node, l), jet(node, k - l), here.sign);
      return;
    case Kind::integral:  // y' w = ± a':  k y_k w_0 = ± k a_k − Σ_{1 ≤ l < k} l y_l w_{k−l}
      clear(y);
      add_to(y, jet(here.a, k), here.sign * k);
      convolve_weighted(node, k, node, here.b, k - 1, -1);
      return divide_by(y, jet(here.b, 0), k);
    case Kind::root:  // y² = a:  2 y_0 y_k = a_k − Σ_{1 ≤ l < k} y_l y_{k−l}
      clear(y);
      add_to(y, jet(here.a, k), 1);
      convolve(node, k, node, node, 1, k - 1, -1);
      return divide_by(y, jet(node, 0), 2);
    case Kind::power:  // a y' = r y a':  k y_k a_0 = Σ_{1 ≤ l ≤ k} (r l − (k − l)) a_l y_{k−l}
      clear(y);
      convolve_weighted(node, k, here.a, node, k, 1);
      for (int d = 0; d < stride_; ++d) y[d] *= jet(here.b, 0)[0];
      for (int l = 1; l < k; ++l) add_product(y, jet(here.a, l), jet(node, k - l), -(k - l));
      return divide_by(y, jet(here.a, 0), k);
    default:  // k φ_k q_0 = Σ l (y_l x_{k−l} − x_l y_{k−l}) − Σ_{l < k} l φ_l q_{k−l},  q = x² + y²
      clear(y);
      convolve_weighted(node, k, here.a, here.b, k, 1);
      convolve_weighted(node, k, here.b, here.a, k, -1);
      convolve_weighted(node, k, node, here.c, k - 1, -1);
      return divide_by(y, jet(here.c, 0), k);
  }
}

/// x_0 is the start, x_{k+1} = f_k / (k + 1).
void IntervalSeries::set_states(int k) {
  const int n = states();
  for (int j = 0; j < n; ++j) {
    Interval* x = jet(state_nodes_[static_cast<std::size_t>(j)], k);
    clear(x);
    if (k == 0) {
      x[0] = x_[static_cast<std::size_t>(j)];
      if (stride_ > 1) x[1 + j] = Interval(1);
      continue;
    }
    const Interval* f = jet(rate_nodes_[static_cast<std::size_t>(j)], k - 1);
    for (int d = 0; d < stride_; ++d)
      if (!f[d].is_zero()) x[d] = f[d] / Interval(k);
  }
}

bool IntervalSeries::compute(const Interval& t, std::span<const Interval> x, int order,
                             bool derivatives) {
  t_ = t;
  x_.assign(x.begin(), x.end());
  orders_ = order + 1;
  stride_ = derivatives ? 1 + states() : 1;
  values_.resize(nodes_.size() * static_cast<std::size_t>(orders_) *
                 static_cast<std::size_t>(stride_));
  for (int k = 0; k <= order; ++k) {
    set_states(k);
    if (k == order) break;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
      evaluate(node, k);
      if (!is_complete(node, k)) return false;
    }
  }
  return true;
}

}  // namespace perp::enclosure
