// Proved steps of smooth differential equations; called by `enclose`.
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/taylor_step.hpp>

namespace perp::enclosure {
namespace {

constexpr int trials = 60;     ///< lengths that are tried in one step
constexpr int inflations = 8;  ///< of V, per length
constexpr double roundoff = 0x1p-53;

/// τ^power
Interval natural_power(const Interval& tau, int power) { return pow(tau, Interval(power)); }

}  // namespace

TaylorStep::TaylorStep(const Flow& flow, const StepOptions& options)
    : options_(options), point_(flow), box_series_(flow), tube_(flow) {}

Interval TaylorStep::since_start(double from, double to) const {
  return {directed::subtract_down(from, t_), directed::subtract_up(to, t_)};
}

/// Σ_{k ≤ K} x_k τ^k by Horner's rule.
Interval TaylorStep::polynomial(const IntervalSeries& series, int state,
                                const Interval& tau) const {
  Interval sum = series.coefficient(state, options_.order);
  for (int k = options_.order - 1; k >= 0; --k) sum = sum * tau + series.coefficient(state, k);
  return sum;
}

Box TaylorStep::centre_at(const Interval& tau) const {
  Box sum(remainder_.size());
  for (int i = 0; i < point_.states(); ++i)
    sum[static_cast<std::size_t>(i)] =
        polynomial(point_, i, tau) +
        remainder_[static_cast<std::size_t>(i)] * natural_power(tau, options_.order + 1);
  return sum;
}

Box TaylorStep::box_at(const Interval& tau) const {
  Box sum(remainder_.size());
  for (int i = 0; i < box_series_.states(); ++i)
    sum[static_cast<std::size_t>(i)] =
        polynomial(box_series_, i, tau) +
        remainder_[static_cast<std::size_t>(i)] * natural_power(tau, options_.order + 1);
  return sum;
}

IntervalMatrix TaylorStep::jacobian_at(const Interval& tau) const {
  const int n = box_series_.states();
  IntervalMatrix J(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      Interval sum = box_series_.derivative(i, j, options_.order);
      for (int k = options_.order - 1; k >= 0; --k)
        sum = sum * tau + box_series_.derivative(i, j, k);
      J(i, j) = sum;
    }
  }
  return J;
}

/// Series at the centre and over the box. The mean value form needs derivatives between the centre
/// and each member: where the centre is outside, the box is that of both.
bool TaylorStep::expand(const Doubleton& set) {
  const Box centre = points(set.center());
  Box box = set.box();
  for (std::size_t i = 0; i < box.size(); ++i) box[i] = hull(box[i], centre[i]);
  return point_.compute(Interval(t_), centre, options_.order, false) &&
         box_series_.compute(Interval(t_), box, options_.order + 1, true) && is_bounded(box);
}

/// |x_k| h^k ≤ share · size for the last two coefficients of every state; its size is that of its
/// value and of its change over the last step.
double TaylorStep::proposed_length(const Box& box) const {
  double length = directed::infinity;
  for (int i = 0; i < box_series_.states(); ++i) {
    const double size = std::max(magnitude(box[static_cast<std::size_t>(i)]),
                                 magnitude(box_series_.coefficient(i, 1)) * last_length_);
    for (int k = options_.order; k <= options_.order + 1; ++k) {
      const double last = magnitude(box_series_.coefficient(i, k));
      if (last > 0 && size > 0)
        length = std::min(length, 0.9 * std::pow(options_.share * size / last, 1.0 / k));
    }
  }
  if (last_length_ > 0) length = std::min(length, 2.5 * last_length_);
  return options_.longest > 0 ? std::min(length, options_.longest) : length;
}

/// The proof of the class comment for the step from t to t + length.
bool TaylorStep::prove(double length) {
  const int n = box_series_.states(), K = options_.order;
  const Interval times(0, length), last = natural_power(times, K + 1);
  Box smooth(static_cast<std::size_t>(n)), V(smooth), Z(smooth), R(smooth);
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    smooth[at] = polynomial(box_series_, i, times);
    // twice the coefficient over the box; where that is 0, as much as rounding is
    const double rounding =
        std::min(0x1p-10 * roundoff * magnitude(smooth[at]) / last.hi, directed::largest);
    V[at] = symmetric(2 * magnitude(box_series_.coefficient(i, K + 1)) +
                      (std::isnan(rounding) ? 0 : rounding) + 0x1p-1000);
  }
  for (int trial = 0; trial < inflations; ++trial) {
    for (std::size_t i = 0; i < Z.size(); ++i) Z[i] = smooth[i] + V[i] * last;
    if (!is_bounded(Z) ||
        !tube_.compute(Interval(t_, directed::add_up(t_, length)), Z, K + 1, false))
      return false;
    bool inside = true;
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      R[at] = tube_.coefficient(i, K + 1);
      inside = inside && is_inside(R[at], V[at]);
    }
    if (!is_bounded(R)) return false;
    if (inside) {
      tube_box_ = Z;
      remainder_ = R;
      return true;
    }
    for (std::size_t i = 0; i < V.size(); ++i)
      V[i] = Interval(1.5) * hull(V[i], symmetric(magnitude(R[i])));
  }
  return false;
}

/// Not only the coefficients over the box but the remainder that was proved is small: below the
/// rounding of the state, or a hundredth of its width.
bool TaylorStep::is_sharp(const Box& box, double h) const {
  if (options_.excess == directed::infinity) return true;
  const Interval last = natural_power(Interval(0, h), options_.order + 1);
  for (std::size_t i = 0; i < box.size(); ++i) {
    const double size = magnitude(tube_box_[i]);
    const double most = roundoff * size + options_.excess * width(box[i]);
    if (width(remainder_[i]) * last.hi > most) return false;
  }
  return true;
}

// Lengths are multiples of the grid, so that t stays a double and its distance to the end is exact.
bool TaylorStep::prepare(const Doubleton& set, double t, double end, double grid) {
  t_ = t;
  if (!expand(set)) {
    reason_ = "the right-hand side has no value, or no derivatives, everywhere in the set";
    return false;
  }
  double length = std::min(proposed_length(set.box()), end - t);
  for (int trial = 0; trial < trials; ++trial, length *= 0.7) {
    end_ = length < end - t ? t + grid * std::floor(length / grid) : end;
    if (!(end_ > t)) break;
    const double longest = since_start(t, end_).hi;
    if (prove(longest) && is_sharp(set.box(), longest)) {
      last_length_ = longest;
      return true;
    }
  }
  reason_ = "no step however short could be proved: the set is too wide, or the solutions end";
  return false;
}

Box TaylorStep::between(double from, double to) const {
  return common(box_at(since_start(from, to)), tube_box_);
}

Box TaylorStep::at(const Doubleton& set, double time) const {
  const Interval tau = since_start(time, time);
  return common(set.image_box(centre_at(tau), jacobian_at(tau)), box_at(tau));
}

void TaylorStep::move(Doubleton& set) {
  const Interval tau = since_start(end_, end_);
  set.move(centre_at(tau), jacobian_at(tau), box_at(tau));
}

}  // namespace perp::enclosure
