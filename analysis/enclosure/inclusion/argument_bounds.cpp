// How far the arguments of open laws go from the corners they come back to; called by inclusion
// phases.
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/inclusion/inclusion.hpp>

namespace perp::enclosure {
namespace {

constexpr int narrowings = 2;  ///< of a tube: closer rates tell more of w

/// The part of w from `below` under the corner to `above` over it.
Interval limited(const Interval& w, const Interval& corner, double below, double above) {
  Interval part = w;
  if (std::isfinite(below)) part.lo = std::max(part.lo, (corner - Interval(below)).lo);
  if (std::isfinite(above)) part.hi = std::min(part.hi, (corner + Interval(above)).hi);
  return part;
}

/// whole − Σ_{i ≠ j} parts_i
Interval without_others(Interval whole, const Box& parts, std::size_t j) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (i != j && !parts[i].is_zero()) whole -= parts[i];
  return whole;
}

}  // namespace

/// The largest rate at which points of w beyond the corner go away from it; ∞: not known.
double Inclusion::outward_rate(OpenFlow& flow, std::size_t a, double corner, int side,
                               const Interval& w) {
  const Law& law = flows_->flows().system().laws[static_cast<std::size_t>(laws_[a].law)];
  Box lambda = lambda_;
  lambda[a] = lambda_beside(law, corner, side, w);
  if (!lambda[a].has_value() || !flow.expand(Interval(t_) + times_, tube_, lambda, 2, false))
    return directed::infinity;
  const Interval rate = flow.argument_rate(static_cast<int>(a));
  return side > 0 ? rate.hi : -rate.lo;
}

/// Of 0 ≤ u = side (w − c):  u(s) ≤ u(0)⁺ + s u'  with the largest u' of points beyond the corner.
/// Where none has gone beyond it, limits of λ and rates at the corner tell whether any will.
Inclusion::Beyond Inclusion::beyond(OpenFlow& flow, std::size_t a, const Interval& corner,
                                    int side) {
  const OpenLaw& open = laws_[a];
  const double c = corner.lo;
  if (side > 0 ? open.reached.hi <= c : open.reached.lo >= c) {
    const Interval next(side > 0 ? directed::next_up(c) : directed::next_down(c));
    const bool is_at = open.reached.contains(corner);
    return {.during = 0, .after = 0, .returns = is_at && outward_rate(flow, a, c, side, next) < 0};
  }
  const double outward = outward_rate(flow, a, c, side, open.reached);
  if (!std::isfinite(outward)) return {};
  const Interval now = side > 0 ? open.w - corner : corner - open.w;
  const double first = std::max(now.hi, 0.0);
  const Interval last = Interval(first) + (Interval(to_) - Interval(t_)) * Interval(outward);
  return {
      .during = std::max(first, last.hi), .after = std::max(last.hi, 0.0), .returns = outward < 0};
}

Inclusion::ArgumentBounds Inclusion::argument_bounds(OpenFlow& flow, std::size_t a) {
  const OpenLaw& open = laws_[a];
  ArgumentBounds bounds;
  if (flow.is_disturbed(static_cast<int>(a))) return bounds;  // w may jump
  const Law& law = flows_->flows().system().laws[static_cast<std::size_t>(open.law)];
  for (const int k : open.graph.branches) {
    const Branch& branch = law.branches[static_cast<std::size_t>(k)];
    if (branch.b != 0) continue;
    const Interval corner = Interval(branch.c) / Interval(branch.a);
    if (!corner.is_point()) continue;
    const Beyond above = beyond(flow, a, corner, 1), below = beyond(flow, a, corner, -1);
    bounds.during = limited(bounds.during, corner, below.during, above.during);
    bounds.after = limited(bounds.after, corner, below.after, above.after);
    if (above.returns && below.returns) bounds.pressed = k;
  }
  return bounds;
}

/// w at the end of the step, where a side of a vertical branch goes back to it.
void Inclusion::bound_arguments(OpenFlow& flow) {
  for (std::size_t a = 0; a < laws_.size(); ++a) {
    const ArgumentBounds bounds = argument_bounds(flow, a);
    laws_[a].w = bounds.after;
    laws_[a].pressed = bounds.pressed;
  }
}

/// The tube as far as w goes in the step. While members come in, some are no solutions yet.
void Inclusion::narrow_tube(OpenFlow& flow) {
  if (!is_settled()) return;
  const Interval all = Interval(t_) + times_;
  for (int round = 0; round < narrowings; ++round) {
    bool is_narrower = false;
    for (std::size_t a = 0; a < laws_.size(); ++a) {
      Interval& reached = laws_[a].reached;
      const Interval w = common({reached}, {argument_bounds(flow, a).during})[0];
      if (w == reached) continue;
      reached = w;
      contract(flow, all, a, reached, tube_);
      is_narrower = true;
    }
    if (!is_narrower || !flow.expand(all, tube_, lambda_, 2, false)) return;
    note_rates(flow);
  }
}

/// Narrows w and the states by each other: x_j from w = w(m) + Σ ∂w/∂x_i (x_i − m_i).
void Inclusion::contract(OpenFlow& flow, const Interval& t, std::size_t a, Interval& w, Box& box) {
  const Box m = points(middle(box));
  const int law = static_cast<int>(a);
  if (!flow.expand(t, m, lambda_, 1, false)) return;
  const Interval value = flow.argument(law);
  if (!flow.expand(t, box, lambda_, 1, true)) return;
  Box parts(box.size());
  Interval all = value;
  for (std::size_t j = 0; j < box.size(); ++j) {
    const Interval slope = flow.argument_slope(law, static_cast<int>(j));
    if (!slope.is_zero()) parts[j] = slope * (box[j] - m[j]);
    all += parts[j];
  }
  w = common({common({flow.argument(law)}, {all})[0]}, {w})[0];
  for (std::size_t j = 0; j < box.size(); ++j) {
    const Interval slope = flow.argument_slope(law, static_cast<int>(j));
    if (certain_sign(slope) == 0) continue;
    box[j] = common({box[j]}, {m[j] + without_others(w - value, parts, j) / slope})[0];
  }
}

/// Which x_j act on the w of each open law, by λ inside of it too.
std::vector<std::vector<bool>> Inclusion::acting_on_arguments(const OpenFlow& flow) const {
  const int n = set_.states(), m = static_cast<int>(laws_.size());
  std::vector<std::vector<bool>> acting(laws_.size(),
                                        std::vector<bool>(static_cast<std::size_t>(n)));
  const auto add = [&](int a, const std::vector<bool>& others) {
    std::vector<bool>& own = acting[static_cast<std::size_t>(a)];
    for (std::size_t j = 0; j < own.size(); ++j) own[j] = own[j] || others[j];
  };
  for (int a = 0; a < m; ++a)
    for (int j = 0; j < n; ++j)
      acting[static_cast<std::size_t>(a)][static_cast<std::size_t>(j)] =
          !flow.argument_slope(a, j).is_zero();
  for (int round = 1; round < m; ++round)
    for (int a = 0; a < m; ++a)
      for (int b = 0; b < m; ++b)
        if (flow.holds(a, b)) add(a, acting[static_cast<std::size_t>(b)]);
  return acting;
}

/// Which x_j act on x_i' = f_i(t, x, λ(w(t, x))), after `expand` with derivatives.
void Inclusion::note_acting(const OpenFlow& flow, const IntervalMatrix& A,
                            const IntervalMatrix& B) {
  const int n = set_.states();
  const std::vector<std::vector<bool>> on_w = acting_on_arguments(flow);
  acting_.assign(static_cast<std::size_t>(n), std::vector<bool>(static_cast<std::size_t>(n)));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      bool acts = !A(i, j).is_zero();
      for (int a = 0; a < static_cast<int>(laws_.size()); ++a)
        acts = acts || (!B(i, a).is_zero() &&
                        on_w[static_cast<std::size_t>(a)][static_cast<std::size_t>(j)]);
      acting_[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = acts;
    }
}

void Inclusion::note_rates(const OpenFlow& flow) {
  for (std::size_t a = 0; a < laws_.size(); ++a)
    laws_[a].rate = flow.argument_rate(static_cast<int>(a));
  rates_.clear();
  for (int i = 0; i < set_.states(); ++i) rates_.push_back(flow.rate(i));
}

}  // namespace perp::enclosure
