// Resets where laws change their branches within a step: multipliers and algebraic variables jump there, and conditions
// with them.
#include <algorithm>
#include <utility>

#include <perp/schemes/capturing/nonlinear_capturing.hpp>

namespace perp {
namespace {

constexpr double same_share = 0x1p-40;  ///< of a step: changes that are no further apart are at one moment

}  // namespace

/// What the constraints say of a state in its mode: its algebraic variables, λ and w. As they are where they say nothing.
void NonlinearCapturing::put_on_constraints(Step& state) {
  Vector x = state.x;
  solve_constraints(step_, newton_, state.t, state.mode, x, state.lambda, state.w);
  for (int j = 0; j < step_.n(); ++j)
    if (is_algebraic(j)) state.x[j] = x[j];
}

/// The last way of the path, from a to b in another mode, as states in between: in the mode of a to where the first laws
/// leave it, from there on in theirs. Two states at one moment are a jump.
std::vector<Step> NonlinearCapturing::way_of_change(const Step& a, const Step& b) {
  std::vector<Departure> left = previous().t == a.t ? departures() : std::vector<Departure>{};
  std::erase_if(left, [&](const Departure& departure) {
    const auto law = static_cast<std::size_t>(departure.law);
    return a.mode[law] == b.mode[law] || !(departure.s < 1);
  });
  double s = left.empty() ? 0 : 1;
  for (const Departure& departure : left) s = std::min(s, departure.s);
  Step before = a;
  if (s > 0) {
    before = between(a, b, s);
    put_on_constraints(before);
  }
  Step after = before;
  for (std::size_t i = 0; i < b.mode.size(); ++i) {
    const bool leaves_later = std::ranges::any_of(left, [&](const Departure& departure) {
      return departure.law == static_cast<int>(i) && departure.s > s + same_share;
    });
    if (leaves_later) continue;
    after.mode[i] = b.mode[i];
    after.lambda[static_cast<Eigen::Index>(i)] = b.lambda[static_cast<Eigen::Index>(i)];
    after.w[static_cast<Eigen::Index>(i)] = b.w[static_cast<Eigen::Index>(i)];
  }
  for (int j = 0; j < step_.n(); ++j)
    if (is_algebraic(j)) after.x[j] = b.x[j];
  put_on_constraints(after);
  std::vector<Step> way{a};
  if (s > 0) way.push_back(before);
  way.push_back(std::move(after));
  if (way.back().mode != b.mode) way.push_back(at_old_values(way.back(), b));
  way.push_back(b);
  return way;
}

/// The state of b as it is seen in the mode of a: the variables with rates are there, the others are those of a.
Step NonlinearCapturing::at_old_values(const Step& a, const Step& b) const {
  Step state = a;
  state.t = b.t;
  for (int j = 0; j < step_.n(); ++j)
    if (!is_algebraic(j)) state.x[j] = b.x[j];
  return state;
}

/// Of the resets whose condition is 0 at the end of a mode, or comes to be 0 behind its change, those that the motion in
/// this mode, ranges left out, leads to the side on which they fire: a law on the same surface holds it there.
std::vector<int> NonlinearCapturing::passing_in_old_mode(const Step& state, const Step& behind) {
  const ResetWatch::Errors errors = ResetWatch::rounding(state, behind);
  std::vector<int> open, passing;
  for (int k = 0; k < resets_.count(); ++k)
    if (resets_.is_armed(k) && (resets_.sign(k, state, errors) == 0 || resets_.sign(k, behind, errors) == 0))
      open.push_back(k);
  if (open.empty()) return passing;
  const Step now = snapshot();
  restore(state);
  for (const int exponent : looks) {
    const double h = std::ldexp(options_.h, exponent);
    if (open.empty() || !(state.t + h > state.t)) continue;
    is_first_order_ = true;
    set_step(state.t + h, h);
    if (!solve_mode(h)) continue;
    const Step ahead{state.t + h, state.x + trial().d, trial().lambda, state.w, state.mode};
    std::erase_if(open, [&](int k) {
      const double change = resets_.condition(k, ahead) - resets_.condition(k, state);
      const ResetWatch::Errors rounding = ResetWatch::rounding(state, ahead);
      if (!(std::abs(change) > resets_.error(k, ahead, rounding) + resets_.error(k, state, rounding))) return false;
      if (resets_.fires(k, change > 0 ? 1 : -1)) passing.push_back(k);
      return true;
    });
  }
  std::ranges::sort(passing);
  restore(now);
  return passing;
}

/// Resets at the moment at which the mode of `before` ends and that of `after` begins, on the way to `end`: those whose
/// conditions jump to their other side, beside the laws that change; and those that pass it together with such a law,
/// which computes again from what they set.
std::optional<Scheme::ResetOutcome> NonlinearCapturing::fire_at_change(const Step& before, const Step& after, const Step& end,
                                                                       std::vector<int> jumping, std::vector<Event>& events) {
  std::vector<int> fired = jumping;
  for (const int k : passing_in_old_mode(before, after))
    if (std::ranges::find(fired, k) == fired.end()) fired.push_back(k);
  if (fired.empty()) return std::nullopt;
  std::ranges::sort(fired);
  ResetOutcome outcome{ResetOutcome::Kind::applied, before.t, end.t, {}, {}};
  // Laws change first: where conditions jump, values are computed from what they are in the new mode.
  Step state = jumping.empty() ? before : after;
  if (jumping.empty()) {
    outcome.until = before.t;
    for (std::size_t i = 0; i < end.mode.size(); ++i)
      if (before.mode[i] != end.mode[i]) outcome.laws.push_back(static_cast<int>(i));
  }
  apply(fired, std::move(state), {before.t, end.t}, ResetWatch::rounding(before, after), outcome, events);
  return outcome;
}

/// The first resets on the way from a to b in another mode. Of a way that is not the last of its path, a short step over
/// what may be a jump, only the ends are known.
std::optional<Scheme::ResetOutcome> NonlinearCapturing::reset_on_change(const Step& a, const Step& b, bool is_last,
                                                                        std::vector<Event>& events) {
  std::vector<Step> way = is_last ? way_of_change(a, b) : std::vector<Step>{a, at_old_values(a, b), b};
  if (!is_last)
    if (auto outcome = fire_at_change(a, way[1], b, {}, events)) return outcome;
  for (std::size_t k = 1; k < way.size(); ++k) {
    const Step &from = way[k - 1], &to = way[k];
    if (from.mode != to.mode) {
      if (auto outcome = fire_at_change(from, to, b, resets_.at_jump(from, to), events)) return outcome;
    } else if (const std::optional<ResetWatch::Firing> firing = resets_.first(from, to)) {
      return fire(from, to, *firing, events);
    }
  }
  return std::nullopt;
}

}  // namespace perp
