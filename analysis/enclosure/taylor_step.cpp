// Proved steps of smooth differential equations; called by `enclose`.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/analysis/enclosure/taylor_step.hpp>

namespace perp::enclosure {
namespace {

constexpr int trials = 60;     ///< lengths that are tried in one step
constexpr int inflations = 8;  ///< of V, per length
constexpr double roundoff = 0x1p-53;
constexpr double least_normal = std::numeric_limits<double>::min();

/// τ^power by squares.
Interval natural_power(const Interval& tau, int power) {
  if (power == 0) return Interval(1);
  if (power == 1) return tau;
  const Interval half = square(natural_power(tau, power / 2));
  return power % 2 == 0 ? half : half * tau;
}

/// The states that others give, as outputs of a flow that stands still.
Flow relations(const Flow& flow) {
  Flow still = flow;
  for (std::vector<int>* rates : {&still.rates, &still.implicit.rates})
    std::fill(rates->begin(), rates->end(), still.tape.constant(0));
  still.outputs.clear();
  for (const DependentState& dependent : flow.dependents) still.outputs.push_back(dependent.line);
  still.outputs.insert(still.outputs.end(), flow.invariants.begin(), flow.invariants.end());
  return still;
}

/// k (k − 1) … (k − order + 1) x; the factor is exact.
Interval falling(int k, int order, const Interval& x) {
  double product = 1;
  for (int l = 0; l < order; ++l) product *= k - l;
  return order == 0 ? x : Interval(product) * x;
}

/// a_first + … + a_last τ^(last − first) by Horner's rule.
template <class Coefficient>
Interval horner(const Coefficient& a, int first, int last, const Interval& tau) {
  if (last < first) return {};
  Interval sum = a(last);
  for (int k = last - 1; k >= first; --k) sum = sum * tau + a(k);
  return sum;
}

}  // namespace

TaylorStep::TaylorStep(const Flow& flow, const StepOptions& options, int gaps)
    : options_(options),
      gaps_(gaps),
      point_(flow),
      box_series_(flow),
      tube_(flow),
      relations_(relations(flow)),
      dependents_(flow.dependents) {}

Interval TaylorStep::since_start(double from, double to) const { return Interval(from, to) - t_; }

/// Σ_{k ≤ K} x_k τ^k; what is exactly 0 beyond the last coefficient costs nothing.
Interval TaylorStep::polynomial(const IntervalSeries& series, int state,
                                const Interval& tau) const {
  return horner([&](int k) { return series.coefficient(state, k); }, 0,
                std::min(options_.order, series.length(state) - 1), tau);
}

Box TaylorStep::centre_at(const Interval& tau) const {
  Box sum(remainder_.size());
  const Interval last = natural_power(tau, options_.order + 1);
  for (int i = 0; i < point_.states(); ++i)
    sum[static_cast<std::size_t>(i)] =
        polynomial(point_, i, tau) + remainder_[static_cast<std::size_t>(i)] * last;
  return sum;
}

Box TaylorStep::box_at(const Interval& tau) {
  Box sum(remainder_.size());
  const Interval last = natural_power(tau, options_.order + 1);
  for (int i = 0; i < box_series_.states(); ++i)
    sum[static_cast<std::size_t>(i)] =
        polynomial(box_series_, i, tau) + remainder_[static_cast<std::size_t>(i)] * last;
  sum = common(sum, tube_box_);
  refine(tau, sum);
  return sum;
}

IntervalMatrix TaylorStep::jacobian_at(const Interval& tau) const {
  const int n = box_series_.states();
  IntervalMatrix J(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      J(i, j) = horner([&](int k) { return box_series_.derivative(i, j, k); }, 0,
                       std::min(options_.order, box_series_.derivative_length(i, j) - 1), tau);
  }
  return J;
}

/// Σ_{k ≤ K} ∂x_k τ^k + δ_{K+1} W τ^(K+1): coefficient K + 1 at time σ is a function of x(σ), whose
/// derivative by x(0) is that by x(σ), which lies in Z, times W = ∂x(σ)/∂x(0), W' = ∂f(x(σ)) W.
IntervalMatrix TaylorStep::flow_jacobian(const Interval& tau) const {
  const int n = box_series_.states(), last = options_.order + 1;
  IntervalMatrix D(n, n), W{Matrix(Matrix::Identity(n, n))};
  std::vector<double> sizes;
  for (const Interval& x : tube_box_) sizes.push_back(magnitude(x));
  const Matrix change = change_bound(growth_, magnitude(tau), sizes);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      D(i, j) = tube_.derivative(i, j, last);
      if (change(i, j) != 0) W(i, j) += symmetric(change(i, j));
    }
  }
  const IntervalMatrix DW = D * W;
  IntervalMatrix J = jacobian_at(tau);
  const Interval power = natural_power(tau, last);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (!DW(i, j).is_zero()) J(i, j) += DW(i, j) * power;
  return J;
}

/// Series at the centre and over the box. The mean value form needs derivatives between the centre
/// and each member: where the centre is outside, the box is that of both.
bool TaylorStep::expand(const Interval& center_t, const Box& center, const Box& members) {
  Box box = members;
  for (std::size_t i = 0; i < box.size(); ++i) box[i] = hull(box[i], center[i]);
  return point_.compute(center_t, center, options_.order, false) &&
         box_series_.compute(t_, box, options_.order + 1, true) && is_bounded(box);
}

/// |a_k| h^k ≤ share · size for coefficients of a series; its size is that of its value and of its
/// change over the last step. With |a_k| like size/ρ^k that is (h/ρ)^last ≤ options.share for each
/// of them: the last one alone may be 0 where the others are not.
template <class Coefficient>
double TaylorStep::length_for(const Coefficient& a, int first, int last, int order) const {
  double length = directed::infinity;
  const double size = std::max(magnitude(a(0)), magnitude(a(1)) * last_length_);
  for (int k = first; k <= last; ++k) {
    const double rest = magnitude(a(k));
    const double share = k >= order ? options_.share : std::pow(options_.share, double(k) / order);
    if (rest > 0 && size > 0)
      length = std::min(length, 0.9 * std::pow(share * (size / rest), 1.0 / k));
  }
  return length;
}

/// For every state, implicit unknown and gap: what is a quotient of states may change much faster
/// than they do.
double TaylorStep::proposed_length() const {
  double length = directed::infinity;
  const int K = options_.order;
  const auto shorten = [&](const auto& a, int first, int last) {
    length = std::min(length, length_for(a, first, last, K));
  };
  for (int i = 0; i < box_series_.states(); ++i)
    shorten([&](int k) { return box_series_.coefficient(i, k); }, K, K + 1);
  for (int i = 0; i < box_series_.implicit_count(); ++i)
    shorten([&](int k) { return box_series_.implicit_coefficient(i, k); }, K, K + 1);
  for (int i = 0; i < gaps_; ++i)  // a rate alone tells nothing
    shorten([&](int k) { return box_series_.output(i, k); }, std::max(K - 1, 2), K);
  if (last_length_ > 0) length = std::min(length, 2.5 * last_length_);
  return options_.longest > 0 ? std::min(length, options_.longest) : length;
}

/// Σ_{k ≤ K} x_k T^k, and the V that is tried first; `last`: T^(K+1).
void TaylorStep::guess(const Interval& times, const Interval& last, Box& smooth, Box& V) const {
  const int K = options_.order;
  for (int i = 0; i < box_series_.states(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    smooth[at] = polynomial(box_series_, i, times);
    // twice the coefficient over the box; where that is 0, as much as rounding is
    const double rounding =
        std::min(0x1p-10 * roundoff * magnitude(smooth[at]) / magnitude(last), directed::largest);
    V[at] = symmetric(2 * magnitude(box_series_.coefficient(i, K + 1)) +
                      (std::isnan(rounding) ? 0 : rounding) + 0x1p-1000);
  }
}

/// R = x_{K+1} over Z ⊂ int V?
bool TaylorStep::is_proved(const Box& V, Box& R) const {
  bool inside = true;
  for (int i = 0; i < box_series_.states(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    R[at] = tube_.coefficient(i, options_.order + 1);
    inside = inside && is_inside(R[at], V[at]);
  }
  return inside;
}

/// The proof of the class comment for these times after t.
bool TaylorStep::prove(const Interval& times, bool derivatives) {
  const int n = box_series_.states(), K = options_.order;
  const Interval last = natural_power(times, K + 1);
  Box smooth(static_cast<std::size_t>(n)), V(smooth), Z(smooth), R(smooth);
  guess(times, last, smooth, V);
  for (int trial = 0; trial < inflations; ++trial) {
    for (std::size_t i = 0; i < Z.size(); ++i) Z[i] = smooth[i] + V[i] * last;
    if (!is_bounded(Z) || !tube_.compute(t_ + times, Z, K + 1, derivatives)) return false;
    const bool inside = is_proved(V, R);
    if (!is_bounded(R)) return false;
    if (inside) {
      tube_box_ = Z;
      bound_ = V;
      remainder_ = R;
      keep_zeros(times, smooth);
      return true;
    }
    for (std::size_t i = 0; i < V.size(); ++i)
      V[i] = Interval(1.5) * hull(V[i], symmetric(magnitude(R[i])));
  }
  return false;
}

/// States whose polynomials are 0; in Z they are.
std::vector<std::size_t> TaylorStep::zeros_of(const Box& smooth, Box& Z) {
  std::vector<std::size_t> zeros;
  for (std::size_t i = 0; i < Z.size(); ++i) {
    if (!smooth[i].is_zero()) continue;
    zeros.push_back(i);
    Z[i] = Interval(0);
  }
  return zeros;
}

/// States I whose polynomials are 0 stay there if f_I = 0 at all points of Z with x_I = 0: a
/// solution of the other equations at x_I = 0 is one of all, and the solution is the only one.
void TaylorStep::keep_zeros(const Interval& times, const Box& smooth) {
  Box Z = tube_box_;
  std::vector<std::size_t> zeros = zeros_of(smooth, Z);
  if (!zeros.empty() && !rates_) rates_ = point_;
  while (!zeros.empty()) {
    if (!rates_->compute(t_ + times, Z, 1, false)) return;
    const auto moves = [&](std::size_t i) {
      const bool is_moved = !rates_->coefficient(static_cast<int>(i), 1).is_zero();
      if (is_moved) Z[i] = tube_box_[i];
      return is_moved;
    };
    if (std::erase_if(zeros, moves) == 0) break;
  }
  for (const std::size_t i : zeros) tube_box_[i] = remainder_[i] = Interval(0);
}

/// Not only the coefficients over the box but the remainder that was proved is small: below the
/// rounding of the state, which is that of the smallest normal number where it is below that, or a
/// small share of its width.
bool TaylorStep::is_sharp(const Box& box, double h) const {
  if (options_.excess == directed::infinity) return true;
  const Interval last = natural_power(Interval(0, h), options_.order + 1);
  for (std::size_t i = 0; i < box.size(); ++i) {
    const double size = magnitude(tube_box_[i]);
    const double most = std::max(roundoff * size, least_normal) + options_.excess * width(box[i]);
    if (width(remainder_[i]) * last.hi > most) return false;
  }
  return true;
}

// Lengths are multiples of the grid, so that t stays a double and its distance to the end is exact.
bool TaylorStep::prepare(const Doubleton& set, double t, double end, double grid) {
  t_ = Interval(t);
  if (!expand(t_, points(set.center()), set.box())) {
    reason_ = "the right-hand side has no value, or no derivatives, everywhere in the set";
    return false;
  }
  double length = std::min(proposed_length(), end - t);
  for (int trial = 0; trial < trials; ++trial, length *= 0.7) {
    end_ = length < end - t ? t + grid * std::floor(length / grid) : end;
    if (!(end_ > t)) break;
    const double longest = since_start(t, end_).hi;
    if (prove(Interval(0, longest), false) && is_sharp(set.box(), longest)) {
      last_length_ = longest;
      return true;
    }
  }
  reason_ = "no step however short could be proved: the set is too wide, or the solutions end";
  return false;
}

bool TaylorStep::prepare_window(const Interval& t, const Box& box, const Interval& center_t,
                                const Box& center, double radius) {
  t_ = t;
  if (!expand(center_t, center, box) || !prove(symmetric(radius), true)) return false;
  const int n = tube_.states();
  growth_.resize(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) growth_(i, j) = magnitude(tube_.derivative(i, j, 1));
  return growth_.allFinite();
}

Box TaylorStep::between(double from, double to) { return box_at(since_start(from, to)); }

TaylorStep::Image TaylorStep::image_of(const Doubleton& set) {
  const int n = set.states();
  return {points(set.center()), IntervalMatrix(Matrix(Matrix::Identity(n, n))), set.box()};
}

TaylorStep::Image TaylorStep::image_at(const Doubleton& set, double time) {
  const Interval tau = since_start(time, time);
  Image image{centre_at(tau), jacobian_at(tau), box_at(tau)};
  complete(Interval(time), image.F, image.J, image.states);
  project(Interval(time), image.F, image.J, image.states);
  image.states = common(set.image_box(image.F, image.J), image.states);
  return image;
}

void TaylorStep::move(Doubleton& set, double time) {
  const Interval tau = since_start(time, time);
  const Box box = box_at(tau);
  Box F = centre_at(tau);
  IntervalMatrix J = jacobian_at(tau);
  complete(Interval(time), F, J, box);
  project(Interval(time), F, J, box);
  set.move(F, J, box);
}

void TaylorStep::move(Doubleton& set, double time, const Box& added, const Box& change,
                      const Box& within) {
  const Interval tau = since_start(time, time);
  Box F = centre_at(tau) + added;
  IntervalMatrix J = jacobian_at(tau);
  const Box box = common(box_at(tau) + added, within);
  for (int i = 0; i < set.states(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!(width(change[at]) < width(added[at]))) continue;
    F[at] = Interval(set.center()[at]) + change[at];
    for (int j = 0; j < set.states(); ++j) J(i, j) = Interval(i == j ? 1 : 0);
  }
  complete(Interval(time), F, J, box);
  set.move(F, J, box);
}

// Outputs are known to one order less than the states: m(τ) ∈ Σ_{k < K} m_k τ^k + m_K(Z) τ^K, and
// its derivatives by time likewise.

Interval TaylorStep::output_polynomial(const IntervalSeries& series, int i, int order,
                                       const Interval& tau) const {
  return horner([&](int k) { return falling(k, order, series.output(i, k)); }, order,
                std::min(options_.order, series.output_length(i)) - 1, tau);
}

Interval TaylorStep::output_remainder(int i, int order, const Interval& tau) const {
  const int K = options_.order;
  const Interval& last = tube_.output(i, K);
  return last.is_zero() ? last : falling(K, order, last) * natural_power(tau, K - order);
}

Interval TaylorStep::output(int i, int order, const Interval& tau) const {
  return output_polynomial(box_series_, i, order, tau) + output_remainder(i, order, tau);
}

Interval TaylorStep::center_output(int i, int order, const Interval& tau) const {
  return output_polynomial(point_, i, order, tau) + output_remainder(i, order, tau);
}

Interval TaylorStep::output(int i, int order, const Interval& tau, const Doubleton& set) const {
  const int n = box_series_.states();
  Box slopes(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j)
    slopes[static_cast<std::size_t>(j)] = horner(
        [&](int k) { return falling(k, order, box_series_.output_derivative(i, j, k)); }, order,
        std::min(options_.order, box_series_.output_derivative_length(i, j)) - 1, tau);
  const Interval mean = output_polynomial(point_, i, order, tau) + set.spread(slopes) +
                        output_remainder(i, order, tau);
  return common_part(output(i, order, tau), mean);
}

}  // namespace perp::enclosure
