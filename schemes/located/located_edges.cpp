#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <perp/core/branches.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/schemes/located/located_run.hpp>

// Where the equations have values but no derivatives, as √|s| at s = 0: no Taylor series starts there.
// A solution may pass all the same, with a corner of its rates.

namespace perp {
namespace {

constexpr double at_edge = 1e-12;    ///< of the terms of a margin: as near as steps go
/// Of the tolerance of a gap: what Newton's method of a step leaves of it.
constexpr double left_by_newton = 64 * std::numeric_limits<double>::epsilon();
constexpr double most_order = 64;    ///< of the zero that a gap falls to, and of the last step: the way there
constexpr double last_steps = 16;    ///< of the shortest: the way to an end that no step goes
constexpr double at_end = 1e-11;     ///< of the terms of a margin: not to be told from its end
constexpr double decided = 1e-9;    ///< of the terms of a rate: its sign is no rounding
constexpr double of_rounding = 8 * std::numeric_limits<double>::epsilon();  ///< of a move to 0
constexpr int most_modes = 256;     ///< that are tried

}  // namespace

/// The end of a branch that a law is at with this w.
std::optional<double> LocatedRun::end_at(int law, double w, bool is_hit) const {
  const auto i = static_cast<std::size_t>(law);
  const Branch& present = system_.laws[i].branches[static_cast<std::size_t>(now_.mode[i])];
  if (is_vertical(present)) return present.c / present.a;
  const double size = law_sizes_.size() > 0 ? law_sizes_[law] : scales_.w[law];
  std::optional<double> nearest;
  double least = is_hit ? inf : at_end;
  for (const Branch& branch : system_.laws[i].branches) {
    const Range range = w_range(branch);
    for (const double end : {range.lower, range.upper}) {
      if (!std::isfinite(end)) continue;
      const double share = std::abs(w - end) / std::max({size, std::abs(w), std::abs(end)});
      if (!(share < least) && !(w == end)) continue;
      least = share;
      nearest = end;
    }
  }
  return nearest;
}

/// From now on jets are those of the ends of branches which the present state is at, as far as formulas
/// have no derivatives there. `hit`: laws whose branch ended.
void LocatedRun::hold_ends(const std::vector<int>& hit) {
  if (!jets_.has_rough_laws()) return;
  const int n = system_.n();
  std::vector<double> z(static_cast<std::size_t>(evaluator_.inputs()), 0.0);
  std::vector<double> rows(static_cast<std::size_t>(n + system_.m()));
  z[0] = now_.t;
  std::copy(now_.x.begin(), now_.x.end(), z.begin() + system_.variable_input(0));
  evaluator_.evaluate(z.data(), rows.data());
  ends_.assign(static_cast<std::size_t>(system_.m()), BranchForms::open);
  for (int i = 0; i < system_.m(); ++i) {
    if (!jets_.rough_laws()[static_cast<std::size_t>(i)]) continue;
    const bool is_hit = std::find(hit.begin(), hit.end(), i) != hit.end();
    const auto end = end_at(i, rows[static_cast<std::size_t>(n + i)], is_hit);
    if (end) ends_[static_cast<std::size_t>(i)] = *end;
  }
  jets_.hold_ends(ends_);
  first_jets_.hold_ends(ends_);
}

/// Do the jets hold an end?
bool LocatedRun::holds_ends() const {
  return std::any_of(ends_.begin(), ends_.end(), [](double end) { return std::isfinite(end); });
}

/// Behind the event, unless the solution rests at the ends.
void LocatedRun::release_ends() {
  if (rests_ || ends_.empty()) return;
  ends_.clear();
  jets_.hold_ends({});
  first_jets_.hold_ends({});
}

/// The gap of a law that is 0 as near as steps can go: by its size, or by what it falls by within the
/// shortest steps.
std::optional<Gap> LocatedRun::gap_at_end() {
  std::optional<Gap> nearest;
  double least = at_edge;
  const double passed = now_.t - moved_from_.t;
  for (const Gap& gap : gaps_) {
    if (gap.law < 0) continue;
    const double value = gap_value(gap, now_);
    const bool moved = passed > 0 && moved_from_.mode == now_.mode;
    const double fall = moved ? (gap_value(gap, moved_from_) - value) / passed : 0;
    const double soon = std::max(fall, 0.0) * last_steps * shortest_step();
    const double left = std::abs(value) <= soon ? 0 : std::abs(value);
    const double share = left / gap_size(gap);
    if (!(share <= least)) continue;
    least = share;
    nearest = gap;
  }
  return nearest;
}

/// How long a gap that falls as (t* − t)^k still takes to 0, by its first two derivatives: k follows from
///     g g̈ / ġ² = (k − 1) / k.
/// Empty: it does not fall, or not as soon. Of a system of index 0 the rates are known beside any others.
std::optional<double> LocatedRun::time_to_end(const Gap& gap) {
  const Jet jet = jets_.solve(now_.mode, now_.t, now_.x, now_.lambda);
  double rate = jet.consistent ? gap.sign * jet.w(gap.law, 1) : nan, share = 0;
  if (flow_.size() == system_.n() && !needs_jets_)
    if (const auto alone = continuation_by_rates(now_.mode, {})) rate = gap.sign * alone->jet.w(gap.law, 1);
  if (!(rate < 0)) return std::nullopt;
  const double value = gap_value(gap, now_);
  if (jet.consistent && jet.w.cols() > 2)
    share = std::clamp(2 * gap.sign * jet.w(gap.law, 2) * value / (rate * rate), 0.0, 1 - 1 / most_order);
  const double time = -value / (rate * (1 - share));
  const bool is_soon = time <= most_order * (now_.t - moved_from_.t) && now_.t + time < limit();
  return is_soon ? std::optional(time) : std::nullopt;
}

/// Has a step not made this gap smaller, of formulas without derivatives at its end, and is what is left of it
/// below the rounding of its variables?
bool LocatedRun::is_lost_in_rounding(const Gap& gap) {
  if (gap.law < 0 || gap.of_lambda || !jets_.rough_laws()[static_cast<std::size_t>(gap.law)]) return false;
  const double value = gap_value(gap, now_);
  const double unknown = left_by_newton * options_.tol * gap_size(gap);
  return value > 0 && value <= unknown && value >= gap_value(gap, moved_from_);
}

/// Goes on to the end of such a gap that falls. False: there is none.
bool LocatedRun::pass_lost_gap() {
  if (!jets_.has_rough_laws() || !(now_.t > moved_from_.t) || moved_from_.mode != now_.mode || rests_)
    return false;
  for (const Gap& gap : gaps_) {
    const std::optional<double> time = is_lost_in_rounding(gap) ? time_to_end(gap) : std::nullopt;
    if (!time) continue;
    const double end = now_.t + *time;
    for (double t = next_output(now_.t); t < end; t = next_output(t)) {
      now_.t = t;  // asked for meanwhile
      record(true);
    }
    now_.t = end;
    pass_edge(Gap(gap));
    return true;
  }
  return false;
}

/// Puts the present state onto the end of a branch that its argument w is next to: the shortest way
/// in units of the variables. On the other side of it the equations may have no value.
void LocatedRun::move_to_edge(const Gap& gap) {
  if (gap.of_lambda) return;
  Vector w, w_t;
  Matrix w_ydot, w_y, w_p;
  flow_.gather(now_.x, now_.lambda, y_);
  const bool has_derivatives =
      flow_.linearize_w(now_.t, Vector::Zero(flow_.size()), y_, w, w_ydot, w_y, w_t, w_p);
  const Vector slope = w_y.row(gap.law).head(system_.n());
  if (!has_derivatives && !(slope.allFinite() && w.allFinite())) return;
  const Vector way = scales_.x.cwiseAbs2().cwiseProduct(slope);
  if (!(slope.dot(way) > 0)) return;
  const Vector move = (w[gap.law] - gap.bound) / slope.dot(way) * way;
  for (int j = 0; j < system_.n(); ++j) {
    const double left = now_.x[j] - move[j];
    now_.x[j] = std::abs(left) <= of_rounding * std::abs(move[j]) ? 0 : left;
  }
}

/// Passes the end of a mode that steps come as near as they can, but not beyond: the domain of its
/// equations ends there.
void LocatedRun::pass_edge(const Gap& gap) {
  move_to_edge(gap);
  const Step before = now_;
  pass_at_corner(gap, before);
  is_at_edge_ = true;
  const std::vector<int> hit = laws_hit();
  go_on(before, undecided_laws(before, hit), hit, JumpOfX::none);
  is_at_edge_ = false;
}

/// The continuation in a mode of index 0 without free multipliers, as far as values tell:
///     ẋ = −(∂F/∂ẋ)⁻¹ F(t, 0, x, λ),   ẇ = ∂G/∂t + ∂G/∂x ẋ,   ẇ leads inward where w is at an end.
/// Empty: it has none, or another form.
std::optional<Continuation> LocatedRun::continuation_by_rates(const Mode& mode,
                                                              const std::vector<int>& open) {
  const int n = system_.n(), m = system_.m();
  flow_.set_mode(mode);
  if (flow_.size() != n) return std::nullopt;
  for (int j = 0; j < n; ++j)
    if (!flow_.is_differential(j)) return std::nullopt;
  Vector H, zero = Vector::Zero(n), lambda, w, w_t, x;
  Matrix H_ydot, H_y, w_ydot, w_y, w_p;
  const bool has_derivatives = flow_.linearize(now_.t, zero, now_.x, H, H_ydot, H_y);
  if (!has_derivatives && !(H.allFinite() && H_ydot.allFinite())) return std::nullopt;
  const linear::FullLu rates(H_ydot);
  if (!rates.is_invertible()) return std::nullopt;
  const Vector xdot = rates.solve(Vector(-H));
  const Vector sizes = H_ydot.cwiseAbs() * xdot.cwiseAbs() + H.cwiseAbs();
  if (!flow_.evaluate(now_.t, xdot, now_.x, H)) return std::nullopt;
  for (int i = 0; i < n; ++i)
    if (!(std::abs(H[i]) <= decided * sizes[i])) return std::nullopt;  // not affine in ẋ
  if (!flow_.linearize_w(now_.t, xdot, now_.x, w, w_ydot, w_y, w_t, w_p) &&
      !(w.allFinite() && w_y.allFinite() && w_t.allFinite()))
    return std::nullopt;
  flow_.scatter(now_.x, x, lambda);
  Continuation next{mode, {}, {}, true};
  next.jet.t = now_.t;
  next.jet.mode = mode;
  next.jet.x = Matrix::Zero(n, 3);
  next.jet.x.col(0) = x;
  next.jet.x.col(1) = xdot;
  next.jet.lambda = next.jet.w = next.jet.w_size = Matrix::Zero(m, 2);
  next.jet.lambda.col(0) = lambda;
  next.jet.w.col(0) = w;
  next.jet.w.col(1) = w_y * xdot + w_t;
  next.jet.w_size = next.jet.w.cwiseAbs();
  next.jet.x_known.assign(static_cast<std::size_t>(n), 2);
  next.jet.lambda_known.assign(static_cast<std::size_t>(m), 1);
  next.jet.w_known.assign(static_cast<std::size_t>(m), 2);
  next.jet.residual = 0;
  next.jet.consistent = next.jet.determined = true;
  for (const Gap& gap : gaps_of(system_.laws, mode)) {
    if (std::find(open.begin(), open.end(), gap.law) == open.end()) continue;
    const double size = std::max(law_sizes_[gap.law], std::abs(gap.bound));
    const double value = gap.at(w[gap.law]), speed = gap.sign * next.jet.w(gap.law, 1);
    const double terms = w_y.row(gap.law).cwiseAbs().dot(scales_.x / scales_.time);
    if (value > at_edge * size) continue;
    if (value < -at_edge * size || !(speed > decided * terms)) return std::nullopt;
  }
  return next;
}

/// The modes into which the rates lead, those of the laws that are not open as they are. What needs
/// a multiplier is not tried.
std::vector<Continuation> LocatedRun::continuations_by_rates(const std::vector<int>& open) {
  std::vector<Continuation> found;
  Mode mode = now_.mode;
  for (const int i : open) mode[static_cast<std::size_t>(i)] = 0;
  bool more = true;
  for (int tried = 0; more && tried < most_modes; ++tried) {
    if (auto next = continuation_by_rates(mode, open)) found.push_back(std::move(*next));
    more = false;
    for (std::size_t k = open.size(); k-- > 0 && !more;) {
      const auto i = static_cast<std::size_t>(open[k]);
      more = ++mode[i] < static_cast<int>(system_.laws[i].branches.size());
      if (!more) mode[i] = 0;
    }
  }
  for (const Continuation& next : found) structures_.try_emplace(next.mode);
  return found;
}

}  // namespace perp
