// Ends of modes without derivatives: asked by the run where a step finds no end, and by transitions from there.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/branches.hpp>
#include <perp/core/linear/rank_elimination.hpp>
#include <perp/schemes/located/events/rough_ends.hpp>
#include <perp/schemes/located/jets/mode_search.hpp>

namespace perp {
namespace {

constexpr double at_edge = 1e-12;    ///< of the terms of a margin: as near as steps go
/// Of the tolerance of a gap: what Newton's method of a step leaves of it.
constexpr double left_by_newton = 64 * std::numeric_limits<double>::epsilon();
constexpr double most_order = 64;    ///< of the zero that a gap falls to, and of the last step: the way there
constexpr double last_steps = 16;    ///< of the shortest: the way to an end that no step goes
constexpr double decided = 1e-9;     ///< of the terms of a rate: its sign is no rounding
constexpr double singular = 1e-11;   ///< pivots of a scaled matrix below this are zero
constexpr double of_rounding = 8 * std::numeric_limits<double>::epsilon();  ///< of a move to 0
constexpr int most_modes = 256;      ///< that are tried

}  // namespace

std::optional<Gap> RoughEnds::gap_at_end() {
  std::optional<Gap> nearest;
  double least = at_edge;
  const double passed = at_.now.t - at_.moved_from.t;
  for (const Gap& gap : locator_.gaps()) {
    if (gap.law < 0) continue;
    const double value = locator_.value(gap, at_.now);
    const bool moved = passed > 0 && at_.moved_from.mode == at_.now.mode;
    const double fall = moved ? (locator_.value(gap, at_.moved_from) - value) / passed : 0;
    const double soon = std::max(fall, 0.0) * last_steps * at_.shortest_step();
    const double left = std::abs(value) <= soon ? 0 : std::abs(value);
    const double share = left / locator_.size(gap);
    if (!(share <= least)) continue;
    least = share;
    nearest = gap;
  }
  return nearest;
}

/// ġ of a law's gap by the jet; of a system of index 0 the rates are known beside any others. NaN: unknown.
double RoughEnds::rate_of(const Gap& gap, const Jet& jet) {
  if (integrator_.flow().size() == at_.system.n() && !integrator_.needs_jets())
    if (const auto alone = continuation(at_.now.mode, {})) return gap.sign * alone->jet.w(gap.law, 1);
  return jet.consistent ? gap.sign * jet.w(gap.law, 1) : nan;
}

/// How long a gap that falls as (t* − t)^k still takes to 0, by its first two derivatives: k follows from
///     g g̈ / ġ² = (k − 1) / k.
/// Empty: it does not fall, or not as soon.
std::optional<double> RoughEnds::time_to_end(const Gap& gap, double limit) {
  const Jet jet = jets_.at_state(at_.now);
  const double rate = rate_of(gap, jet);
  if (!(rate < 0)) return std::nullopt;
  double share = 0;
  const double value = locator_.value(gap, at_.now);
  if (jet.consistent && jet.w.cols() > 2)
    share = std::clamp(2 * gap.sign * jet.w(gap.law, 2) * value / (rate * rate), 0.0, 1 - 1 / most_order);
  const double time = -value / (rate * (1 - share));
  const bool is_soon = time <= most_order * (at_.now.t - at_.moved_from.t) && at_.now.t + time < limit;
  return is_soon ? std::optional(time) : std::nullopt;
}

/// Has a step not made this gap smaller, of formulas without derivatives at its end, and is what is left of it
/// below the rounding of its variables, or has not moved at all, as where they are too large beside it?
bool RoughEnds::is_lost_in_rounding(const Gap& gap) {
  if (gap.law < 0 || gap.of_lambda || !jets_.all().rough_laws()[static_cast<std::size_t>(gap.law)]) return false;
  const double value = locator_.value(gap, at_.now);
  const double unknown = left_by_newton * at_.options.tol * locator_.size(gap);
  const double before = locator_.value(gap, at_.moved_from);
  return value > 0 && (value == before || (value <= unknown && value >= before));
}

std::optional<RoughEnds::Lost> RoughEnds::lost_gap(double limit) {
  if (!jets_.all().has_rough_laws() || !(at_.now.t > at_.moved_from.t) || at_.moved_from.mode != at_.now.mode ||
      jets_.rests())
    return std::nullopt;
  for (const Gap& gap : locator_.gaps())
    if (is_lost_in_rounding(gap))
      if (const std::optional<double> time = time_to_end(gap, limit)) return Lost{gap, *time};
  return std::nullopt;
}

void RoughEnds::move_to(const Gap& gap) {
  if (gap.of_lambda) return;
  Vector w, w_t, y;
  Matrix w_ydot, w_y, w_p;
  integrator_.flow().gather(at_.now.x, at_.now.lambda, y);
  const bool has_derivatives =
      integrator_.flow().linearize_w(at_.now.t, Vector::Zero(integrator_.flow().size()), y, w, w_ydot, w_y, w_t, w_p);
  const Vector slope = w_y.row(gap.law).head(at_.system.n());
  if (!has_derivatives && !(slope.allFinite() && w.allFinite())) return;
  const Vector way = at_.scales.x.cwiseAbs2().cwiseProduct(slope);
  if (!(slope.dot(way) > 0)) return;
  const Vector move = (w[gap.law] - gap.bound) / slope.dot(way) * way;
  for (int j = 0; j < at_.system.n(); ++j) {
    const double left = at_.now.x[j] - move[j];
    at_.now.x[j] = std::abs(left) <= of_rounding * std::abs(move[j]) ? 0 : left;
  }
}

/// Is the flow in a mode of index 0 without free multipliers, by the form of its equations?
bool RoughEnds::is_of_index_0() const {
  const ModeFlow& flow = integrator_.flow();
  if (flow.size() != at_.system.n()) return false;
  for (int j = 0; j < flow.n(); ++j)
    if (!flow.is_differential(j)) return false;
  return true;
}

/// ẋ of a mode of index 0 without free multipliers, which the flow is in; empty: it has another form.
std::optional<Vector> RoughEnds::rates_at_present() {
  if (!is_of_index_0()) return std::nullopt;
  const int n = at_.system.n();
  ModeFlow& flow = integrator_.flow();
  Vector H;
  Matrix H_ydot, H_y;
  const bool has_derivatives = flow.linearize(at_.now.t, Vector::Zero(n), at_.now.x, H, H_ydot, H_y);
  if (!has_derivatives && !(H.allFinite() && H_ydot.allFinite())) return std::nullopt;
  RankElimination rates;  // rows and variables have units of their own
  rates.factorise(H_ydot, at_.scales.x, H_ydot.cwiseAbs() * at_.scales.x, singular);
  if (rates.rank() < n) return std::nullopt;
  Vector xdot;
  rates.solve(Vector(-H), xdot);
  const Vector sizes = H_ydot.cwiseAbs() * xdot.cwiseAbs() + H.cwiseAbs();
  if (!flow.evaluate(at_.now.t, xdot, at_.now.x, H)) return std::nullopt;
  const bool is_affine = (H.cwiseAbs().array() <= decided * sizes.array()).all();
  return is_affine ? std::optional(xdot) : std::nullopt;
}

/// Do the gaps of the open laws that are 0 grow?
bool RoughEnds::leads_inward(const Continuation& next, const Matrix& w_y, const std::vector<int>& open) const {
  for (const Gap& gap : gaps_of(at_.system.laws, next.mode)) {
    if (std::find(open.begin(), open.end(), gap.law) == open.end()) continue;
    const double size = std::max(at_.law_sizes[gap.law], std::abs(gap.bound));
    const double value = gap.at(next.jet.w(gap.law, 0)), speed = gap.sign * next.jet.w(gap.law, 1);
    const double terms = w_y.row(gap.law).cwiseAbs().dot(at_.scales.x / at_.scales.time);
    if (value > at_edge * size) continue;
    if (value < -at_edge * size || !(speed > decided * terms)) return false;
  }
  return true;
}

/// The continuation in a mode of index 0 without free multipliers, as far as values tell:
///     ẋ = −(∂F/∂ẋ)⁻¹ F(t, 0, x, λ),   ẇ = ∂G/∂t + ∂G/∂x ẋ,   ẇ leads inward where w is at an end.
/// Empty: it has none, or another form.
std::optional<Continuation> RoughEnds::continuation(const Mode& mode, const std::vector<int>& open) {
  const int n = at_.system.n(), m = at_.system.m();
  ModeFlow& flow = integrator_.flow();
  flow.set_mode(mode);
  const std::optional<Vector> xdot = rates_at_present();
  if (!xdot) return std::nullopt;
  Vector lambda, w, w_t, x;
  Matrix w_ydot, w_y, w_p;
  if (!flow.linearize_w(at_.now.t, *xdot, at_.now.x, w, w_ydot, w_y, w_t, w_p) &&
      !(w.allFinite() && w_y.allFinite() && w_t.allFinite()))
    return std::nullopt;
  flow.scatter(at_.now.x, x, lambda);
  Continuation next{mode, {}, {}, true};
  next.jet.t = at_.now.t;
  next.jet.mode = mode;
  next.jet.x = Matrix::Zero(n, 3);
  next.jet.x.col(0) = x;
  next.jet.x.col(1) = *xdot;
  next.jet.lambda = next.jet.w = next.jet.w_size = Matrix::Zero(m, 2);
  next.jet.lambda.col(0) = lambda;
  next.jet.w.col(0) = w;
  next.jet.w.col(1) = w_y * *xdot + w_t;
  next.jet.w_size = next.jet.w.cwiseAbs();
  next.jet.x_known.assign(static_cast<std::size_t>(n), 2);
  next.jet.lambda_known.assign(static_cast<std::size_t>(m), 1);
  next.jet.w_known.assign(static_cast<std::size_t>(m), 2);
  next.jet.residual = 0;
  next.jet.consistent = next.jet.determined = true;
  return leads_inward(next, w_y, open) ? std::optional(std::move(next)) : std::nullopt;
}

std::vector<Continuation> RoughEnds::continuations(const std::vector<int>& open) {
  std::vector<Continuation> found;
  Mode mode = at_.now.mode;
  for (const int i : open) mode[static_cast<std::size_t>(i)] = 0;
  bool more = true;
  for (int tried = 0; more && tried < most_modes; ++tried) {
    if (auto next = continuation(mode, open)) found.push_back(std::move(*next));
    more = next_mode(at_.system.laws, open, mode);
  }
  for (const Continuation& next : found) jets_.set_plain(next.mode);
  return found;
}

}  // namespace perp
