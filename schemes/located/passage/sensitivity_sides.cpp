// Where derivatives of a run have two sides: asked for at starts, ends of steps and events.
#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <utility>

#include <perp/core/branches.hpp>
#include <perp/schemes/located/passage/sensitivity_update.hpp>

namespace perp {
namespace {

constexpr double least_touch = 1e-12;  ///< as of a dip that counts: see EventLocator

}  // namespace

/// Is the present state at the end of a branch that this gap is the distance to?
bool SensitivityUpdate::is_at_end(const Gap& gap) const {
  return gap.law >= 0 && locator_.is_zero(gap, gap.at(gap.of_lambda ? at_.now.lambda[gap.law] : at_.now.w[gap.law]));
}

/// Does some q move the state off the surface of this gap?
bool SensitivityUpdate::moves_off(const Gap& gap, const Sensitivities::GapRate& rate) const {
  if (gap.law < 0) return !rate.by_q.isZero(0);
  return (rate.by_q.cwiseAbs().array() > rounding_of_derivatives * terms_of(at_, locator_, gap, rate, maps_.dx()).array()).any();
}

/// The branch beyond the end of w that this gap is of, not a vertical one; -1: there is none.
int SensitivityUpdate::branch_beyond(const Gap& gap) const {
  if (gap.of_lambda) return -1;
  const SharedList<Branch>& branches = at_.system.laws[static_cast<std::size_t>(gap.law)].branches;
  const auto begins = std::ranges::find_if(branches, [&gap](const Branch& branch) {
    const Range range = w_range(branch);
    return !is_vertical(branch) && (gap.sign > 0 ? range.lower < gap.bound && range.upper >= gap.bound
                                                 : range.upper > gap.bound && range.lower <= gap.bound);
  });
  return begins == branches.end() ? -1 : static_cast<int>(begins - branches.begin());
}

/// Have states before and beyond the end of a branch that a start is on the same rates? A short time beyond the end adds
/// (ẋ_beyond − ẋ) dt to what q does; a law with memory does not come back. The state is known to `known` of its units.
bool SensitivityUpdate::have_one_rate(const Gap& gap, const Jet& after, int beyond, double known) {
  const auto law = static_cast<std::size_t>(gap.law);
  if (at_.system.laws[law].memory) return false;
  Mode mode = after.mode;
  mode[law] = beyond;
  if (!holds_others(jets_.all().solve(mode, after.t, after.x.col(0), after.lambda.col(0), after.x.col(1)), gap.law)) return false;
  return maps_.has_rate_of(after, mode, known / at_.scales.time * at_.scales.x) == true;
}

/// Does a start beyond this end, where the law has no branch, jump onto w = 0? The present state leaves it at once: one
/// beyond comes to the same course whatever its w is, one before to another. Of a higher index none starts beyond.
bool SensitivityUpdate::jumps_beyond(const Gap& gap, const Jet& after) {
  const auto law = static_cast<std::size_t>(gap.law);
  const SharedList<Branch>& branches = at_.system.laws[law].branches;
  const auto held = std::ranges::find_if(branches, [&gap](const Branch& branch) {
    return is_vertical(branch) && w_range(branch).lower == gap.bound;
  });
  if (held == branches.end() || is_bounded(at_.system.laws[law])) return false;
  Mode mode = after.mode;
  mode[law] = static_cast<int>(held - branches.begin());
  const Jet across = jets_.all().solve(mode, at_.now.t, at_.now.x, at_.now.lambda);
  if (!across.consistent) return false;
  const ModeJets::Structure& held_by = jets_.structure(across);
  return !held_by.is_high_index && (held_by.velocity_level.empty() || held_by.velocity_level[law] == 0);
}

/// Do states beside the end of a branch that a start is on go on by other rates, or jump?
bool SensitivityUpdate::starts_between(const Gap& gap, const Jet& start, int beyond) {
  return beyond < 0 ? jumps_beyond(gap, start) : !have_one_rate(gap, start, beyond, 0);
}

/// The branch that a state comes to behind the end of its branch that this gap is of; -1: there is none.
int SensitivityUpdate::branch_across(const Gap& gap) const {
  constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
  const int beyond = branch_beyond(gap);
  if (beyond >= 0) return beyond;
  const auto law = static_cast<std::size_t>(gap.law);
  const SharedList<Branch>& branches = at_.system.laws[law].branches;
  const auto meets = [&](const Branch& branch) {
    if (!gap.of_lambda) return is_vertical(branch) && w_range(branch).lower == gap.bound;
    if (is_vertical(branch)) return false;
    const double of_w = branch.a * at_.now.w[gap.law], of_lambda = branch.b * gap.bound;
    return std::abs(of_w + of_lambda - branch.c) <= rounding * (std::abs(of_w) + std::abs(of_lambda) + std::abs(branch.c));
  };
  const auto found = std::ranges::find_if(branches, meets);
  return found == branches.end() ? -1 : static_cast<int>(found - branches.begin());
}

/// Behind the end of its branch, which the solution reaches now, has it the same derivatives, those of algebraic variables too?
bool SensitivityUpdate::goes_on_alike(const Gap& gap, const Sensitivities::GapRate& rate) {
  const int across = branch_across(gap);
  if (across < 0) return !at_.options.ends_with_mode;  // what another mode goes on with is not known here
  Mode mode = at_.now.mode;
  mode[static_cast<std::size_t>(gap.law)] = across;
  const Jet here = jets_.at_state(at_.now), there = jets_.all().solve(mode, at_.now.t, at_.now.x, at_.now.lambda);
  if (!here.consistent || !holds_others(there, gap.law)) return false;
  const Matrix S = maps_.dx() + (here.x.col(1) - there.x.col(1)) * rate.time().transpose();
  return are_alike(maps_.complete(here, maps_.dx()).dx, maps_.complete(there, S).dx, terms_);
}

/// Does a jet hold the ranges of all laws but this one, but for rounding? Else other laws leave their branches with it.
bool SensitivityUpdate::holds_others(const Jet& jet, int law) const {
  if (!jet.consistent || !jet.determined) return false;
  return std::ranges::all_of(gaps_of(at_.system.laws, jet.mode), [&](const Gap& gap) {
    const double value = gap.at((gap.of_lambda ? jet.lambda : jet.w)(gap.law, 0));
    return gap.law == law || value >= 0 || locator_.is_zero(gap, value);
  });
}

/// Are these the same derivatives, column by column, but for the rounding of terms of these sizes?
bool SensitivityUpdate::are_alike(const Matrix& one, const Matrix& other, const Vector& terms) const {
  const Vector most = sizes(one).cwiseMax(sizes(other)), apart = sizes(one - other);
  return (apart.array() <= same_derivative * most.array() + rounding_of_derivatives * terms.array()).all();
}

/// May states beside this end, of which the present one is on, have other derivatives? Of w within a mode alone where a
/// branch is beyond it.
bool SensitivityUpdate::may_have_two_sides(const Gap& gap, const Jet* start) const {
  return is_at_end(gap) && (gap.of_lambda || start != nullptr || is_over() || branch_beyond(gap) >= 0);
}

/// What a state does at the end of a branch that some q moves it off, where what is beyond has other derivatives: null, nothing.
const char* SensitivityUpdate::two_sided(const Gap& gap, const Jet* start) {
  if (!may_have_two_sides(gap, start)) return nullptr;
  const Sensitivities::GapRate rate = start != nullptr ? maps_.gap_rate(gap, *start, maps_.dx()) : rate_now(gap);
  if (!moves_off(gap, rate)) return nullptr;
  const int beyond = branch_beyond(gap);
  if (rests(gap, rate) && (beyond >= 0 || gap.of_lambda)) return "stays on";
  return start != nullptr ? two_sided_start(gap, *start, beyond) : two_sided_end(gap, rate);
}

/// The same of a start from which the gap moves. From the end of a multiplier that moves, what it does beyond for a time of the
/// size of dq moves x by dq² alone.
const char* SensitivityUpdate::two_sided_start(const Gap& gap, const Jet& start, int beyond) {
  return !gap.of_lambda && starts_between(gap, start, beyond) ? "starts on" : nullptr;
}

/// The same of the end of a step, where the gap moves.
const char* SensitivityUpdate::two_sided_end(const Gap& gap, const Sensitivities::GapRate& rate) {
  return is_over() && !goes_on_alike(gap, rate) ? "ends on" : nullptr;
}

/// Does a gap not move, that is, tell no time?
bool SensitivityUpdate::rests(const Gap& gap, const Sensitivities::GapRate& rate) const {
  if (gap.law < 0) return std::abs(rate.by_t) <= resting * rate.moves;
  return std::abs(rate.by_t) * at_.scales.time <= resting * locator_.size(gap);
}

/// There are none from here on, since the solution does this at the end of a branch or a reset's condition.
void SensitivityUpdate::end_at(const Gap& gap, const char* does) {
  const std::string where = gap.law >= 0 ? "end of a branch of " + at_.system.laws[static_cast<std::size_t>(gap.law)].name
                                         : "condition of " + at_.system.resets[static_cast<std::size_t>(gap.reset)].name;
  end(fmt::format("the solution {} the {}, and derivatives by what moves it off have two sides", does, where));
}

/// Ends where derivatives have two sides: a state that some q moves off the end of a branch on which it stays, starts, or is
/// when the run is over. What it touches only is told by itself.
void SensitivityUpdate::watch_ends(const Jet* start, const std::vector<Gap>& touched) {
  const auto is_touched = [&](const Gap& gap) {
    return std::ranges::any_of(touched, [&](const Gap& other) { return other.law == gap.law && !gap.of_lambda; });
  };
  if (!active()) return;
  for (const Gap& gap : locator_.gaps()) {
    const char* const does = is_touched(gap) ? nullptr : two_sided(gap, start);
    if (does != nullptr) return end_at(gap, does);
  }
}

/// Are the rates of the state before and beyond the end of a branch, that a solution turns back from, the same? What it does
/// beyond for a short time adds nothing of the order of dq then.
bool SensitivityUpdate::has_one_rate_beyond(const Gap& gap, const Jet& here) {
  const int beyond = gap.law < 0 ? -1 : branch_beyond(gap);
  return beyond >= 0 && have_one_rate(gap, here, beyond, std::max(least_touch, at_.options.tol));
}

void SensitivityUpdate::expect_touch(const Gap& gap, double t) {
  if (gap.surface < 0 && !gap.of_lambda) touches_.push_back({gap, t});
}

/// What the solution touches at the end of a step, where it turns back. Derivatives end there where what is beyond has other
/// rates.
std::vector<Gap> SensitivityUpdate::watch_touches() {
  std::vector<Gap> touched;
  const double latest = at_.now.t + touch_share * (at_.now.t - at_.moved_from.t);
  for (const Touch& touch : std::exchange(touches_, {})) {
    if (!active() || touch.t > latest) continue;
    touched.push_back(touch.gap);
    const Jet here = jets_.at_state(at_.now);
    const Sensitivities::GapRate rate = maps_.gap_rate(touch.gap, here, maps_.dx());
    if (moves_off(touch.gap, rate) && !has_one_rate_beyond(touch.gap, here)) end_at(touch.gap, "touches");
  }
  return touched;
}

/// Is the run over at an event that has moved S to these values? Then those before it are the other side.
bool SensitivityUpdate::ends_span_between(const Matrix& behind) {
  if (!is_over() || at_.passage.gaps.empty() || at_.passage.dt.isZero(0)) return false;
  if (are_alike(maps_.complete(moment_.is_in_orders ? moment_.before : at_.passage.before, before_).dx, behind, terms_)) return false;
  end_at(at_.passage.gaps.front(), "ends on");
  return true;
}

void SensitivityUpdate::at_reset_of_end(int reset) {
  if (!active()) return;
  const Gap gap{.reset = reset};
  const Sensitivities::GapRate rate = maps_.gap_rate(gap, at_.passage.before, maps_.dx());
  if (rate.by_q.isZero(0)) return;
  at_.passage.dt = rate.time();
  at_.passage.condition = 1 / std::abs(rate.by_t);
  end_at(gap, "ends on");
}

}  // namespace perp
