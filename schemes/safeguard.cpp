#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/schemes/known_part.hpp>
#include <perp/schemes/leaps.hpp>
#include <perp/schemes/safeguard.hpp>

namespace perp {
namespace {

constexpr int most_changes = 32;      ///< changes of mode followed within one step
constexpr int most_shorter = 64;      ///< steps made shorter because long ones have no solution
constexpr double last_moment = 1e-6;  ///< of the step length
constexpr int most_split_halvings = 4;      ///< of a step, to pass its first change alone
/// Of a row of E dx that a smooth step or a kink shows when h is halved; outside of it the row is
/// examined: by how much it misses one half shrinks to a quarter where the motion is smooth.
constexpr double least_shrink = 0.35, most_shrink = 0.65;
constexpr double least_curved = 0.15, most_curved = 0.35;
constexpr int most_settling = 3;     ///< steps after a change, the index of a contact
constexpr double artefact = 0.25;    ///< share of the ways travelled that two ends are apart
constexpr double lost_share = 1e-3;  ///< of an algebraic variable: its change to another branch

/// Advances in the present mode as far as it goes, by bisection. On return the scheme stands at
/// `low`, and no step from there to `high`, at most `floor` away, keeps the mode. Where a step to
/// `high` has no solution at all, `too_long`, its length may be the reason: from nearer it is tried
/// again, up to `end`; `shorter` counts these. `path` gets the accepted states, `leaps` what leaves the
/// mode.
void exhaust_mode(Scheme& scheme, double& low, double& high, double end, double floor, bool too_long,
                  int& shorter, std::vector<Step>& path, std::vector<Leap>& leaps) {
  const auto advances = [&](double to) {
    const Attempt attempt = scheme.attempt(to, to - low);
    too_long = attempt.status != Status::solved;
    if (too_long) return false;
    if (!attempt.kept_mode) {
      leaps.push_back({to - low, scheme.motion(scheme.x(), scheme.attempted())});
      return false;
    }
    scheme.accept();
    path.push_back(scheme.snapshot());
    low = to;
    return true;
  };
  while (high - low > floor) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    const bool was_too_long = too_long;
    if (!advances(middle)) {
      high = middle;
      continue;
    }
    if (!was_too_long) continue;
    double length = high - low;
    while (advances(high)) {
      if (low >= end || ++shorter == most_shorter) return;
      length *= 2;
      high = std::min(low + length, end);
    }
  }
}

/// The same; the state at its end, see `known_state`.
Step end_of_mode(Scheme& scheme, double& low, double& high, double end, double floor, bool too_long, int& shorter,
                 std::vector<Step>& path, std::vector<Leap>& leaps, double h) {
  const Step start = scheme.snapshot();
  const std::size_t first = path.size();
  exhaust_mode(scheme, low, high, end, floor, too_long, shorter, path, leaps);
  return known_state(scheme, start, path, first, h);
}

/// Changes of mode right before the end of a solution are rounding: the solution ends in the mode
/// before.
void forget_last_moment(Scheme& scheme, Refinement& result, double h) {
  while (!result.changes.empty() && scheme.t() - result.changes.back().before.t < last_moment * h) {
    scheme.restore(result.changes.back().before);
    result.changes.pop_back();
  }
}

}  // namespace

bool take_step(Scheme& scheme, const Step& before, double t_next, double h) {
  scheme.restore(before);
  const bool is_solved = scheme.attempt(t_next, h).status == Status::solved;
  if (is_solved)
    scheme.accept();
  else
    scheme.restore(before);
  return is_solved;
}

std::vector<int> unsteady_rows(Scheme& scheme, const Step& before, const Vector& whole, double h,
                               const Vector& rounding) {
  const Vector least = rounding.cwiseMax(scheme.motion_rounding(before.x, before.x));
  const auto shorter = [&](double length) {
    const Attempt attempt = scheme.attempt(before.t + length, length);
    return attempt.status == Status::solved ? scheme.motion(before.x, scheme.attempted()) : Vector();
  };
  std::vector<int> rows;
  for (int i = 0; i < static_cast<int>(whole.size()); ++i)
    if (!(std::abs(whole[i]) <= least[i])) rows.push_back(i);
  if (rows.empty()) return rows;
  const Vector half = shorter(h / 2);
  if (half.size() == 0) return rows;
  std::erase_if(rows, [&](int i) {
    const double share = half[i] / whole[i];
    return share >= least_shrink && share <= most_shrink;
  });
  if (rows.empty()) return rows;
  const Vector quarter = shorter(h / 4);
  if (quarter.size() == 0) return rows;
  std::erase_if(rows, [&](int i) {
    const double share = (quarter[i] - half[i] / 2) / (half[i] - whole[i] / 2);
    return share >= least_curved && share <= most_curved;
  });
  return rows;
}

bool shrinks_as_a_whole(Scheme& scheme, const Step& before, const Vector& whole, double h) {
  scheme.restore(before);
  if (scheme.attempt(before.t + h / 2, h / 2).status != Status::solved) return false;
  const double share = scheme.motion(before.x, scheme.attempted()).norm() / whole.norm();
  return share >= least_shrink && share <= most_shrink;
}

bool differs(const Scheme& scheme, const Step& before, const Step& refined, const Vector& whole,
             const std::vector<int>& rows) {
  if (scheme.mode() == refined.mode) return false;
  const Vector travelled = scheme.motion(before.x, refined.x).cwiseAbs() + whole.cwiseAbs();
  const Vector apart = scheme.motion(refined.x, scheme.x()).cwiseAbs();
  return std::any_of(rows.begin(), rows.end(),
                     [&](int i) { return apart[i] > artefact * travelled[i]; });
}

bool is_jump(const Scheme& scheme, const Refinement& refinement, const LocatedChange& change,
             const Vector& whole, double h, const Vector& rounding) {
  const Vector &before = change.before.x, &after = change.after.x;
  const Vector moved = scheme.motion(before, after).cwiseAbs();
  const Vector least = rounding.cwiseMax(scheme.motion_rounding(before, after));
  // What a row moves elsewhere, in a step of length h.
  Vector rest = Vector::Zero(moved.size());
  double time = 0;
  const auto include = [&](const Step& a, const Step& b) {
    rest += scheme.motion(a.x, b.x).cwiseAbs();
    time += b.t - a.t;
  };
  const Step* last = &refinement.from;
  for (const LocatedChange& other : refinement.changes) {
    include(*last, other.before);
    last = &other.after;
  }
  include(*last, refinement.to);
  if (time > 0) rest *= std::max(1.0, h / time);
  if (whole.size() > 0) rest = rest.cwiseMax(whole.cwiseAbs());
  const Vector terms = scheme.motion_terms(before, after);
  const double length = change.after.t - change.before.t, share = jump_share + 4 * length / h;
  // What rates move in the time of the change is no jump, however fast.
  const Vector by_rates =
      moved_by_rates * length * scheme.rate_terms(change.before).cwiseMax(scheme.rate_terms(change.after));
  for (Eigen::Index i = 0; i < moved.size(); ++i)
    if (moved[i] > std::max(least[i], by_rates[i]) && moved[i] > share * (rest[i] > 0 ? rest[i] : terms[i])) return true;
  return std::any_of(change.lost.begin(), change.lost.end(), [&](int j) {
    const double size = std::max({std::abs(refinement.from.x[j]), std::abs(refinement.to.x[j]),
                                  std::abs(before[j]), std::abs(after[j])});
    return std::abs(after[j] - before[j]) > lost_share * size;
  });
}

bool skips_modes(Scheme& scheme, const Step& before, double t_next, double h) {
  if (!take_step(scheme, before, t_next, h)) return true;
  const std::vector<Scheme::Departure> departures = scheme.departures();
  double first = 1, last = 0;
  int changes = 0;
  for (const Scheme::Departure& departure : departures) {
    const auto i = static_cast<std::size_t>(departure.law);
    const auto times = std::count_if(departures.begin(), departures.end(),
                                     [&](const auto& other) { return other.law == departure.law; });
    if (times < 2 && before.mode[i] == scheme.mode()[i]) continue;
    first = std::min(first, departure.s);
    last = std::max(last, departure.s);
    ++changes;
  }
  const Mode end = scheme.mode();
  scheme.restore(before);
  if (changes >= 2 && last - first > least_share) return true;
  if (changes == 0 || !(first > least_share && first < 1)) return false;
  // Before the first change another law has to change, which the whole step has left out.
  const Attempt shorter = scheme.attempt(before.t + first / 2 * h, first / 2 * h);
  if (shorter.status != Status::solved || shorter.kept_mode) return false;
  scheme.accept();
  bool left_out = false;
  for (std::size_t i = 0; i < end.size(); ++i)
    left_out = left_out || (scheme.mode()[i] != before.mode[i] && end[i] == before.mode[i]);
  scheme.restore(before);
  return left_out;
}

bool pass_first_change(Scheme& scheme, const Step& before, double t_next, double h,
                       const Vector& rounding) {
  if (!take_step(scheme, before, t_next, h)) return false;
  std::vector<char> leaves(before.mode.size(), 0);
  double share = 1;
  for (const Scheme::Departure& departure : scheme.departures()) {
    if (departure.s < least_share)
      leaves[static_cast<std::size_t>(departure.law)] = 1;
    else
      share = std::min(share, departure.s);
  }
  for (int k = 0; k < most_split_halvings; ++k) {
    share /= 2;
    scheme.restore(before);
    const double t = before.t + share * h;
    if (scheme.attempt(t, share * h).status != Status::solved) break;
    const Vector whole = scheme.motion(before.x, scheme.attempted());
    if (!unsteady_rows(scheme, before, whole, share * h, rounding).empty()) break;  // a jump
    if (!take_step(scheme, before, t, share * h)) break;
    bool alone = true;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      alone = alone && (leaves[i] != 0 || scheme.mode()[i] == before.mode[i]);
    if (alone) return true;
  }
  scheme.restore(before);
  return false;
}

namespace {

/// A change in one moment leaves algebraic variables that are its impulses, and a constraint that sets
/// in stops the rates that it opposes one step after its own: a landing ends with v⁺ = -q/δ, what its
/// length δ makes of the distance q, and the next step with v⁺ = 0. One step more of that length
/// belongs to the change, and further ones as long as what they move does not shrink with δ.
void make_settling_steps(Scheme& scheme, double t_next, double length) {
  for (int k = 0; k < most_settling && scheme.t() + length < t_next; ++k) {
    const Step here = scheme.snapshot();
    const Attempt attempt = scheme.attempt(here.t + length, length);
    if (attempt.status != Status::solved || !attempt.kept_mode) return;
    const Vector whole = scheme.motion(here.x, scheme.attempted());
    const Vector nothing = Vector::Zero(whole.size());
    if (k == 0) {
      scheme.accept();
      continue;
    }
    if (unsteady_rows(scheme, here, whole, length, nothing).empty()) return;
    if (!take_step(scheme, here, here.t + length, length)) return;  // shorter ones took its place
  }
}

/// These steps, and the algebraic variables that a longer one has.
void settle(Scheme& scheme, double t_next, double length, double h) {
  make_settling_steps(scheme, t_next, length);
  begin_known(scheme, t_next, h);
}

/// Notes that the scheme has left the mode of `before`. Changes in one moment are one change: that of
/// the last, from where the first began.
LocatedChange& add_change(Scheme& scheme, const Step& before, double h, Refinement& result) {
  const bool same_moment =
      !result.changes.empty() && before.t - result.changes.back().before.t < last_moment * h;
  if (!same_moment) result.changes.push_back({before, {}, 0, {}});
  LocatedChange& here = result.changes.back();
  here.after = scheme.snapshot();
  here.norm = scheme.motion(here.before.x, here.after.x).norm();
  return here;
}

/// Accepts the attempted step, which leaves the mode of `before`. It is made again by longer ones, as long as
/// rounding over its length is what decides where it ends and shrinks with the length. If no length helps, by
/// the first one.
void leave_by_known_step(Scheme& scheme, const Step& before, double t_next, double h) {
  scheme.accept();
  Vector last = unknown_part(scheme, before);
  if (last.isZero(0)) return;
  const Step first = scheme.snapshot();
  const double longest = std::min(t_next - before.t, longest_moment * h);
  bool is_better = false;
  for (double step = 2 * (first.t - before.t); step <= longest; step *= 2) {
    if (!take_step(scheme, before, before.t + step, step) || scheme.mode() != first.mode) continue;
    const Vector error = unknown_part(scheme, before);
    const bool shrinks = (error.array() < 0.75 * last.array()).any();
    if (shrinks ? error.isZero(0) : is_better) return;
    if (!shrinks) break;
    is_better = true;
    last = error;
  }
  if (!take_step(scheme, before, first.t, first.t - before.t)) scheme.restore(first);
}

/// The shortest step from `low` that has a solution, by doubling the one to `high`. Where it keeps the mode, but is too
/// short to move the state, the mode ends within its rounding: a longer one leaves it.
Attempt attempt_to_leave(Scheme& scheme, double low, double high, double t_next) {
  Attempt attempt = scheme.attempt(high, high - low);
  const auto rests = [&] {
    const Vector moved = scheme.motion(scheme.x(), scheme.attempted()).cwiseAbs();
    return (moved.array() <= scheme.motion_rounding(scheme.x(), scheme.x()).array()).all();
  };
  const auto stays = [&] { return attempt.status != Status::solved || (attempt.kept_mode && rests()); };
  for (double step = 2 * (high - low); stays() && low + step <= t_next; step *= 2)
    attempt = scheme.attempt(low + step, step);
  return attempt;
}

/// `refine` without the states at its ends.
Refinement refined(Scheme& scheme, double t_next, double h, int refinements) {
  Refinement result;
  std::string reason;  // why the last whole rest of the step could not be made
  const double floor = std::ldexp(h, -refinements);
  int shorter = 0;
  for (int change = 0; change <= most_changes; ++change) {
    double low = scheme.t();
    Attempt attempt = scheme.attempt(t_next, t_next - low);
    const bool done =
        attempt.status == Status::solved && (attempt.kept_mode || change == most_changes);
    if (done) {
      const Step before = scheme.snapshot();
      scheme.accept();
      if (!attempt.kept_mode) add_change(scheme, before, h, result);  // the last that is followed
      result.status = Status::solved;
      return result;
    }
    if (attempt.status == Status::not_solved) reason = ": " + scheme.message();
    double high = t_next;
    std::vector<Leap> leaps;
    const Step before = end_of_mode(scheme, low, high, t_next, floor, attempt.status != Status::solved, shorter,
                                    result.path, leaps, h);
    if (shorter == most_shorter) {
      result.status = Status::not_solved;
      result.message =
          fmt::format("{} steps shorter than {:g} did not pass it{}", shorter, h, reason);
      return result;
    }
    if (scheme.t() >= t_next) {
      result.status = Status::solved;
      return result;
    }
    attempt = attempt_to_leave(scheme, low, high, t_next);
    if (attempt.status != Status::solved) attempt = scheme.attempt(t_next, t_next - low);
    if (attempt.status != Status::solved && t_next - low <= end_of_step * h) {
      // Too short a rest to tell anything: the state is that at the end of the step.
      Step end = before;
      end.t = t_next;
      scheme.restore(end);
      result.status = Status::solved;
      return result;
    }
    if (attempt.status != Status::solved) {
      result.status = attempt.status;
      result.message = attempt.status == Status::no_solution
                           ? scheme.message()
                           : fmt::format("no step from here was solved, not even one of {:.3g}: {}",
                                         high - low, scheme.message());
      forget_last_moment(scheme, result, h);
      return result;
    }
    leave_by_known_step(scheme, before, t_next, h);
    leaps.push_back({scheme.t() - low, scheme.motion(before.x, scheme.x())});
    if (grow_without_bound(leaps, scheme.motion_rounding(before.x, scheme.x()))) {
      scheme.restore(before);
      result.status = Status::not_solved;
      result.message =
          "the only way on is a jump that grows without bound as the steps get shorter: the solution "
          "ends";
      return result;
    }
    const bool changes_mode = scheme.mode() != before.mode;
    if (changes_mode) scheme.departures();  // for whether the mode before has lost its branch
    std::vector<int> lost = changes_mode ? scheme.lost_variables() : std::vector<int>{};
    if (changes_mode) settle(scheme, t_next, scheme.t() - before.t, h);
    result.path.push_back(scheme.snapshot());
    LocatedChange& here = add_change(scheme, before, h, result);
    if (!lost.empty()) here.lost = std::move(lost);
    if (scheme.t() >= t_next) {
      result.status = Status::solved;
      return result;
    }
  }
  result.status = Status::not_solved;
  result.message = "too many changes within one step" + reason;
  return result;
}

}  // namespace

bool leaves_at_once(Scheme& scheme, double h) {
  const double moment = std::ldexp(h, -10);
  const Attempt attempt = scheme.attempt(scheme.t() + moment, moment);
  return attempt.status == Status::solved && !attempt.kept_mode;
}

Refinement refine(Scheme& scheme, double t_next, double h, int refinements) {
  Step from = scheme.snapshot();
  Refinement result = refined(scheme, t_next, h, refinements);
  result.from = std::move(from);
  result.to = scheme.snapshot();
  return result;
}

}  // namespace perp
