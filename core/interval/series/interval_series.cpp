// The recurrences of interval Taylor series with first derivatives; called by the steps of
// enclosures.
#include <algorithm>
#include <cmath>

#include <perp/core/interval/series/implicit_function.hpp>
#include <perp/core/interval/series/interval_series.hpp>
#include <perp/core/interval/interval_sum.hpp>

namespace perp::enclosure {

// Quantities and their derivatives follow (u, u') (v, v') = (u v, u' v + u v'), a sum for each of
// them. Coefficients of weighted strands are k u_k; a strand < 0 is 0.

void IntervalSeries::store(int strand, int k, const Interval& value) {
  const auto place = static_cast<std::size_t>(strand);
  values_[place * static_cast<std::size_t>(orders_) + static_cast<std::size_t>(k)] = value;
  if (value.is_zero()) return;
  Strand& here = strands_[place];
  here.length = k + 1;
  here.is_long = here.is_long || !is_short(value);
  is_complete_ = is_complete_ && value.is_bounded();
}

void IntervalSeries::set(int strand, int k, const Interval& value) {
  store(strand, k, value);
  const int products = weighted(strand);
  if (products >= 0) store(products, k, value.is_zero() ? value : Interval(k) * value);
}

/// sum += Σ_{first ≤ l ≤ last} a_l b_{k−l}, without what is beyond the last coefficients.
void IntervalSeries::convolve(IntervalSum& sum, int a, int b, int k, int first, int last) const {
  if (a < 0 || b < 0) return;
  const Strand &left = strands_[static_cast<std::size_t>(a)],
               &right = strands_[static_cast<std::size_t>(b)];
  first = std::max(first, k - right.length + 1);
  last = std::min(last, left.length - 1);
  if (first <= last)
    sum.add_products(&at(a, first), &at(b, k - first), last - first + 1,
                     !left.is_long && !right.is_long);
}

/// a_k + sign b_k
Interval IntervalSeries::sum_of(int a, int b, int k, double sign) const {
  if (is_zero(b, k)) return is_zero(a, k) ? Interval(0) : at(a, k);
  const Interval second = sign < 0 ? -at(b, k) : at(b, k);
  return is_zero(a, k) ? second : at(a, k) + second;
}

/// Σ_{0 ≤ l ≤ k} a_l b_{k−l}
Interval IntervalSeries::product(int a, int b, int direction, int k) const {
  IntervalSum sum;
  convolve(sum, strand(a, direction), first_strand(b), k, 0, k);
  if (direction >= 0) convolve(sum, first_strand(a), strand(b, direction), k, 0, k);
  return sum.value();
}

/// Σ_{first ≤ l ≤ k − first} a_l a_{k−l}: every pair once, and the square in the middle; of the
/// derivative 2 Σ_{0 ≤ l ≤ k − first} a'_l a_{k−l}, where a'_k is left out by 1 = `first`.
void IntervalSeries::convolve_square(IntervalSum& sum, int a, int direction, int k,
                                     int first) const {
  const int value = first_strand(a);
  const bool has_middle = direction < 0 && k % 2 == 0 && k / 2 >= first;
  if (direction < 0)
    convolve(sum, value, value, k, first, (k + 1) / 2 - 1);
  else
    convolve(sum, strand(a, direction), value, k, 0, k - first);
  sum.redouble();
  if (has_middle && !is_zero(value, k / 2)) sum.add(square(at(value, k / 2)));
}

/// Σ_{0 ≤ l ≤ k} a_l a_{k−l}
Interval IntervalSeries::squared(int a, int direction, int k) const {
  IntervalSum sum;
  convolve_square(sum, a, direction, k, 0);
  return sum.value();
}

/// y b = a:  y_k b_0 = a_k − Σ_{1 ≤ l ≤ k} b_l y_{k−l},
/// y'_k b_0 = a'_k − Σ_{1 ≤ l ≤ k} b_l y'_{k−l} − Σ_{0 ≤ l ≤ k} b'_l y_{k−l}
Interval IntervalSeries::quotient(int node, int direction, int k) const {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const int numerator = strand(here.a, direction), divisor = first_strand(here.b);
  IntervalSum sum;
  convolve(sum, divisor, strand(node, direction), k, 1, k);
  if (direction >= 0) convolve(sum, strand(here.b, direction), first_strand(node), k, 0, k);
  if (!is_zero(numerator, k)) sum.subtract(at(numerator, k));
  return -sum.value() / at(divisor, 0);
}

/// y' w = ± a':  k y_k w_0 = ± k a_k − Σ_{1 ≤ l < k} l y_l w_{k−l}
Interval IntervalSeries::integral(int node, int direction, int k) const {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const int inner = strand(here.a, direction), slope = first_strand(here.b);
  IntervalSum sum;
  convolve(sum, weighted(strand(node, direction)), slope, k, 1, k - 1);
  if (direction >= 0)
    convolve(sum, weighted(first_strand(node)), strand(here.b, direction), k, 1, k);
  if (!is_zero(inner, k)) sum.subtract(Interval(here.sign * k) * at(inner, k));
  return -sum.value() / (Interval(k) * at(slope, 0));
}

/// y² = a:  2 y_0 y_k = a_k − Σ_{1 ≤ l < k} y_l y_{k−l}
Interval IntervalSeries::root(int node, int direction, int k) const {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const int inner = strand(here.a, direction);
  IntervalSum sum;
  convolve_square(sum, node, direction, k, 1);
  if (!is_zero(inner, k)) sum.subtract(at(inner, k));
  return -sum.value() / (Interval(2) * at(first_strand(node), 0));
}

/// a y' = r y a':  k y_k a_0 = r Σ_{1 ≤ l ≤ k} l a_l y_{k−l} − Σ_{1 ≤ l < k} (k − l) a_l y_{k−l}
Interval IntervalSeries::power(int node, int direction, int k) const {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const int a = first_strand(here.a), y = first_strand(node);
  const int da = strand(here.a, direction), dy = strand(node, direction);
  IntervalSum gained, lost;
  convolve(gained, weighted(da), y, k, 1, k);
  convolve(lost, da, weighted(y), k, direction < 0 ? 1 : 0, k - 1);
  if (direction >= 0) {
    convolve(gained, weighted(a), dy, k, 1, k);
    convolve(lost, a, weighted(dy), k, 1, k - 1);
  }
  return (at(first_strand(here.b), 0) * gained.value() - lost.value()) /
         (Interval(k) * at(a, 0));
}

/// The angle of (x, y):  k φ_k q_0 = Σ l (y_l x_{k−l} − x_l y_{k−l}) − Σ_{l < k} l φ_l q_{k−l},
/// q = x² + y²
Interval IntervalSeries::angle(int node, int direction, int k) const {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const int y = first_strand(here.a), x = first_strand(here.b), q = first_strand(here.c);
  const int dy = strand(here.a, direction), dx = strand(here.b, direction);
  IntervalSum left, right;
  convolve(left, weighted(dy), x, k, 1, k);
  convolve(right, weighted(dx), y, k, 1, k);
  convolve(right, weighted(strand(node, direction)), q, k, 1, k - 1);
  if (direction >= 0) {
    convolve(left, weighted(y), dx, k, 1, k);
    convolve(right, weighted(x), dy, k, 1, k);
    convolve(right, weighted(first_strand(node)), strand(here.c, direction), k, 1, k);
  }
  return (left.value() - right.value()) / (Interval(k) * at(q, 0));
}

/// y' = sign s a':  k y_k = sign Σ_{1 ≤ l ≤ k} l a_l s_{k−l}
Interval IntervalSeries::integrated(int a, int slope, int direction, int k, double sign) const {
  IntervalSum sum;
  convolve(sum, weighted(strand(a, direction)), first_strand(slope), k, 1, k);
  if (direction >= 0)
    convolve(sum, weighted(first_strand(a)), strand(slope, direction), k, 1, k);
  return sum.value() / Interval(sign * k);
}

/// What is the same choice over the whole box is that branch. One of constants need not be the same: else there is no series.
void IntervalSeries::choose(int node, int k) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const Interval& a = at(first_strand(here.a), 0);
  if (here.kind == Kind::absolute || here.kind == Kind::sign) {
    const int side = certain_sign(a);
    if (side == 0) return choose_of_constants(node, k);
    if (here.kind == Kind::absolute) return copy(node, k, here.a, side < 0);
    return set(first_strand(node), k, Interval(k == 0 ? side : 0));
  }
  const Interval& b = at(first_strand(here.b), 0);
  if (!certainly_less(a, b) && !certainly_less(b, a)) return choose_of_constants(node, k);
  copy(node, k, certainly_less(a, b) == (here.kind == Kind::smaller) ? here.a : here.b, false);
}

/// abs, min, max of what does not move with t are constants: their differences are those of the operands times [-1, 1], or [0, 1] and the rest.
void IntervalSeries::choose_of_constants(int node, int k) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const int first = first_strand(node);
  if (here.kind == Kind::sign || varies_[static_cast<std::size_t>(node)]) return set(first, k, Interval::none());
  const Interval& a = at(first_strand(here.a), 0);
  set(first, 0, apply_operation(here.function, a, here.b < 0 ? a : at(first_strand(here.b), 0)));
  const auto slope = [&](int of, int y) { return is_zero(strand(of, direction(y)), 0) ? Interval(0) : at(strand(of, direction(y)), 0); };
  for (int y = first + 1; y < last_strand(node); ++y)
    set(y, 0, hull(slope(here.a, y), here.b < 0 ? -slope(here.a, y) : slope(here.b, y)));
}

/// node_k = ± from_k
void IntervalSeries::copy(int node, int k, int from, bool negated) {
  for (int y = first_strand(node); y < last_strand(node); ++y) {
    const int x = strand(from, direction(y));
    set(y, k, is_zero(x, k) ? Interval(0) : (negated ? -at(x, k) : at(x, k)));
  }
}

/// Coefficient 0 of a function: its value, and slope · a'.
void IntervalSeries::apply_chain(int node, int a, const Interval& value, const Interval& slope) {
  set(first_strand(node), 0, value);
  for (int y = first_strand(node) + 1; y < last_strand(node); ++y) {
    const int inner = strand(a, direction(y));
    set(y, 0, is_zero(inner, 0) && slope.has_value() ? Interval(0) : slope * at(inner, 0));
  }
}

/// φ' = (x y' − y x') / (x² + y²)
void IntervalSeries::apply_angle(int node) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const Interval &y = at(first_strand(here.a), 0), &x = at(first_strand(here.b), 0);
  set(first_strand(node), 0, atan2(y, x));
  for (int place = first_strand(node) + 1; place < last_strand(node); ++place) {
    const int dy = strand(here.a, direction(place)), dx = strand(here.b, direction(place));
    IntervalSum sum;
    if (dy >= 0) sum.add(x * at(dy, 0));
    if (dx >= 0) sum.subtract(y * at(dx, 0));
    set(place, 0, sum.value() / at(first_strand(here.c), 0));
  }
}

/// sin and cos, or sinh and cosh: s' = c a', c' = ∓ s a'
void IntervalSeries::apply_pair(int node) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const Interval& a = at(first_strand(here.a), 0);
  const bool round = here.function == Operation::sin;
  const Interval s = round ? sin(a) : sinh(a), c = round ? cos(a) : cosh(a);
  apply_chain(node, here.a, s, c);
  apply_chain(node + 1, here.a, c, Interval(here.sign) * s);
}

/// tan or tanh, and its slope 1 ± y².
void IntervalSeries::apply_tangent(int node) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const Interval& a = at(first_strand(here.a), 0);
  const Interval value = here.function == Operation::tan ? tan(a) : tanh(a);
  const Interval slope = Interval(1) + Interval(here.sign) * square(value);
  apply_chain(node, here.a, value, slope);
  apply_chain(node + 1, node, slope, Interval(2 * here.sign) * value);
}

/// Coefficients 0 of the functions that have a recurrence for the others.
void IntervalSeries::evaluate_first(int node) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const Interval& a = at(first_strand(here.a), 0);
  switch (here.kind) {
    case Kind::exponential: {
      const Interval value = exp(a);
      return apply_chain(node, here.a, value, value);
    }
    case Kind::pair: return apply_pair(node);
    case Kind::tangent: return apply_tangent(node);
    case Kind::integral:
      return apply_chain(node, here.a, apply_operation(here.function, a, a),
                         Interval(here.sign) / at(first_strand(here.b), 0));
    case Kind::root: {
      const Interval value = sqrt(a);
      if (!with_derivatives_) return apply_chain(node, here.a, value, value);  // also at 0
      return apply_chain(node, here.a, value, Interval(0.5) / value);
    }
    case Kind::power: {
      const Interval& r = at(first_strand(here.b), 0);
      const Interval value = pow(a, r);
      return apply_chain(node, here.a, value, r * pow(a, r - Interval(1)));
    }
    default: return apply_angle(node);
  }
}

void IntervalSeries::evaluate(int node, int k) {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  const int first = first_strand(node);
  switch (here.kind) {
    case Kind::constant:
      return set(first, k, k == 0 || !here.value.has_value() ? here.value : Interval(0));
    case Kind::time: return set(first, k, k == 0 ? t_ : Interval(k == 1 ? 1 : 0));
    case Kind::negate: return copy(node, k, here.a, true);
    case Kind::absolute:
    case Kind::smaller:
    case Kind::larger:
    case Kind::sign: return choose(node, k);
    case Kind::state:
    case Kind::partner: return;
    case Kind::add:
    case Kind::subtract:
    case Kind::multiply:
    case Kind::square:
    case Kind::divide: break;
    default:
      if (k == 0) return evaluate_first(node);
  }
  for (int y = first; y < last_strand(node); ++y) set(y, k, recur(node, direction(y), k));
  if (here.kind == Kind::pair || here.kind == Kind::tangent)
    for (int y = first_strand(node + 1); y < last_strand(node + 1); ++y)
      set(y, k, recur_partner(node, direction(y), k));
}

/// A coefficient from those before, by the differential equation that the function fulfils.
Interval IntervalSeries::recur(int node, int direction, int k) const {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  switch (here.kind) {
    case Kind::add:
      return sum_of(strand(here.a, direction), strand(here.b, direction), k, 1);
    case Kind::subtract:
      return sum_of(strand(here.a, direction), strand(here.b, direction), k, -1);
    case Kind::multiply: return product(here.a, here.b, direction, k);
    case Kind::square: return squared(here.a, direction, k);
    case Kind::divide: return quotient(node, direction, k);
    case Kind::exponential: return integrated(here.a, node, direction, k, 1);
    case Kind::pair:
    case Kind::tangent: return integrated(here.a, node + 1, direction, k, 1);
    case Kind::integral: return integral(node, direction, k);
    case Kind::root: return root(node, direction, k);
    case Kind::power: return power(node, direction, k);
    default: return angle(node, direction, k);
  }
}

/// Of the slope of a function: s = ∫ ± y a' or 1 ± y².
Interval IntervalSeries::recur_partner(int node, int direction, int k) const {
  const Node& here = nodes_[static_cast<std::size_t>(node)];
  if (here.kind == Kind::pair) return integrated(here.a, node, direction, k, here.sign);
  const Interval of_value = squared(node, direction, k);
  return here.sign < 0 ? -of_value : of_value;
}

/// z_0 and its derivatives are those of the implicit function, z_{k+1} = (z')_k / (k + 1).
void IntervalSeries::set_implicit(int unknown, int k) {
  const int node = states() + unknown;
  for (int z = first_strand(node); z < last_strand(node); ++z) {
    if (k == 0) {
      set(z, 0, direction(z) < 0 ? implicit_->value(unknown)
                                 : implicit_->slope(unknown, direction(z)));
      continue;
    }
    const int f = strand(rate_nodes_[static_cast<std::size_t>(node)], direction(z));
    set(z, k, is_zero(f, k - 1) ? Interval(0) : at(f, k - 1) / Interval(k));
  }
}

/// x_0 is the start, x_{k+1} = f_k / (k + 1).
void IntervalSeries::set_states(int k) {
  for (int i = 0; i < implicit_count(); ++i) set_implicit(i, k);
  for (int j = 0; j < states(); ++j) {
    const int node = state_nodes_[static_cast<std::size_t>(j)];
    for (int x = first_strand(node); x < last_strand(node); ++x) {
      if (k == 0) {
        const bool is_value = direction(x) < 0;
        set(x, 0, is_value ? x_[static_cast<std::size_t>(j)] : Interval(direction(x) == j ? 1 : 0));
        continue;
      }
      const int f = strand(rate_nodes_[static_cast<std::size_t>(j)], direction(x));
      set(x, k, is_zero(f, k - 1) ? Interval(0) : at(f, k - 1) / Interval(k));
    }
  }
}

/// Room for the coefficients of all strands, which are 0 so far.
void IntervalSeries::clear() {
  values_.resize(strands_.size() * static_cast<std::size_t>(orders_));
  for (Strand& strand : strands_) {
    strand.length = 0;
    strand.is_long = false;
  }
  std::fill(values_.begin(), values_.end(), Interval(0));
}

/// At (t, x), up to this order. False: there is no bound of implicit unknowns there.
bool IntervalSeries::begin(const Interval& t, std::span<const Interval> x, int order, bool derivatives) {
  t_ = t;
  x_.assign(x.begin(), x.end());
  with_derivatives_ = derivatives;
  is_complete_ = true;
  orders_ = order + 1;
  return !implicit_ || implicit_->compute(t, x);
}

bool IntervalSeries::compute(const Interval& t, std::span<const Interval> x, int order,
                             bool derivatives) {
  if (!begin(t, x, order, derivatives)) return false;
  clear();
  for (int k = 0; k <= order; ++k) {
    set_states(k);
    if (k == order) break;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
      if (k == 0 || varies_[static_cast<std::size_t>(node)]) evaluate(node, k);
    if (!is_complete_) return false;
  }
  return is_complete_;
}

bool IntervalSeries::compute_values(const Interval& t, std::span<const Interval> x, int count) {
  if (!begin(t, x, 0, false)) return false;
  values_.resize(strands_.size());
  const int last = *std::max_element(output_nodes_.begin(), output_nodes_.begin() + count);
  const int end = std::max(last + 1, states() + implicit_count());
  // Behind a node may be its partner, which is computed with it.
  for (int node = 0; node < std::min(end + 1, static_cast<int>(nodes_.size())); ++node) {
    Strand& strand = strands_[static_cast<std::size_t>(first_strand(node))];
    strand.length = 0;
    strand.is_long = false;
  }
  set_states(0);
  for (int node = 0; node < end; ++node) evaluate(node, 0);
  return is_complete_;
}

}  // namespace perp::enclosure
