#include <algorithm>
#include <cmath>

#include <perp/schemes/safeguard.hpp>

namespace perp {
namespace {

constexpr int most_changes = 32;      ///< changes of mode followed within one step
constexpr double last_moment = 1e-6;  ///< of the step length
constexpr double end_of_step = 1e-9;  ///< of the step length: the last of a step that is its end
constexpr int most_shares = 4;        ///< of a step tried as the end of its mode
constexpr double least_share = 1e-3;  ///< of a step that is worth a step of its own
constexpr int most_halvings = 4;      ///< of a step, to pass its first change alone
/// A change of ‖E dx‖ that a smooth step or a kink shows when h is halved; outside of it a step is
/// examined.
constexpr double least_shrink = 0.35, most_shrink = 0.65;

/// Advances in the present mode as far as it goes, by bisection. On return the scheme stands at
/// `low`, and no step from there to `high`, at most `floor` away, keeps the mode.
void exhaust_mode(Scheme& scheme, double& low, double& high, double floor) {
  while (high - low > floor) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    const Attempt attempt = scheme.attempt(middle, middle - low);
    if (attempt.status == Status::solved && attempt.kept_mode) {
      scheme.accept();
      low = middle;
    } else {
      high = middle;
    }
  }
}

/// Changes of mode right before the end of a solution are rounding: the solution ends in the mode
/// before.
void forget_last_moment(Scheme& scheme, Refinement& result, double h) {
  while (!result.changes.empty() && scheme.t() - result.changes.back().before.t < last_moment * h) {
    scheme.restore(result.changes.back().before);
    result.changes.pop_back();
  }
}

/// Share of the last accepted step at which the first law left its branch; 0: none did.
double first_departure(Scheme& scheme) {
  const std::vector<Scheme::Departure> departures = scheme.departures();
  double first = departures.empty() ? 0 : 1;
  for (const Scheme::Departure& departure : departures) first = std::min(first, departure.s);
  return first;
}

}  // namespace

void take_step(Scheme& scheme, const Step& before, double t_next, double h) {
  scheme.restore(before);
  scheme.attempt(t_next, h);
  scheme.accept();
}

bool shrinks(Scheme& scheme, const Step& before, double norm, double h, double& size) {
  // Motion at the level of rounding says nothing.
  size = std::max(size, before.x.lpNorm<Eigen::Infinity>());
  if (norm <= 1e-12 * size) return true;
  const Attempt half = scheme.attempt(before.t + h / 2, h / 2);
  if (half.status != Status::solved) return false;
  const double share = scheme.attempted_norm() / norm;
  return share >= least_shrink && share <= most_shrink;
}

bool skips_modes(Scheme& scheme, const Step& before, double t_next, double h) {
  take_step(scheme, before, t_next, h);
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
  scheme.restore(before);
  return changes >= 2 && last - first > least_share;
}

bool pass_first_change(Scheme& scheme, const Step& before, double t_next, double h, double& size) {
  take_step(scheme, before, t_next, h);
  std::vector<char> leaves(before.mode.size(), 0);
  double share = 1;
  for (const Scheme::Departure& departure : scheme.departures()) {
    if (departure.s < least_share)
      leaves[static_cast<std::size_t>(departure.law)] = 1;
    else
      share = std::min(share, departure.s);
  }
  for (int k = 0; k < most_halvings; ++k) {
    share /= 2;
    scheme.restore(before);
    const double t = before.t + share * h;
    if (scheme.attempt(t, share * h).status != Status::solved) break;
    if (!shrinks(scheme, before, scheme.attempted_norm(), share * h, size)) break;  // a jump
    take_step(scheme, before, t, share * h);
    bool alone = true;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      alone = alone && (leaves[i] != 0 || scheme.mode()[i] == before.mode[i]);
    if (alone) return true;
  }
  scheme.restore(before);
  return false;
}

bool go_to_end_of_mode(Scheme& scheme, const Step& before, double t_next, double h) {
  Attempt attempt = scheme.attempt(t_next, h);
  if (attempt.status != Status::solved) return false;
  scheme.accept();
  double share = first_departure(scheme);
  for (int k = 0; k < most_shares && share >= least_share; ++k) {
    share = std::min(share, 1 - least_share);
    scheme.restore(before);
    attempt = scheme.attempt(before.t + share * h, share * h);
    if (attempt.status != Status::solved) break;
    scheme.accept();
    if (attempt.kept_mode) return true;
    // The mode ends before that, and before where a secant says by less than it has moved.
    share = 2 * share * first_departure(scheme) - share;
  }
  scheme.restore(before);
  return false;
}

Refinement refine(Scheme& scheme, double t_next, double h, int refinements) {
  Refinement result;
  std::string reason;  // why the last whole rest of the step could not be made
  const double floor = std::ldexp(h, -refinements);
  for (int change = 0; change <= most_changes; ++change) {
    double low = scheme.t();
    Attempt attempt = scheme.attempt(t_next, t_next - low);
    const bool done =
        attempt.status == Status::solved && (attempt.kept_mode || change == most_changes);
    if (done) {
      scheme.accept();
      result.status = Status::solved;
      return result;
    }
    if (attempt.status == Status::not_solved) reason = ": " + scheme.message();
    double high = t_next;
    exhaust_mode(scheme, low, high, floor);
    // Leave the mode: by the shortest step that has a solution, the longest tried last.
    const Step before = scheme.snapshot();
    attempt = scheme.attempt(high, high - low);
    for (double step = 2 * (high - low); attempt.status != Status::solved && low + step <= t_next;
         step *= 2)
      attempt = scheme.attempt(low + step, step);
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
      result.message = scheme.message();
      forget_last_moment(scheme, result, h);
      return result;
    }
    const double norm = scheme.attempted_norm();
    scheme.accept();
    // Changes in one moment are one change: that of the last, from where the first began.
    const bool same_moment =
        !result.changes.empty() && low - result.changes.back().before.t < last_moment * h;
    if (same_moment)
      result.changes.back() = {result.changes.back().before, scheme.snapshot(), norm};
    else
      result.changes.push_back({before, scheme.snapshot(), norm});
    if (scheme.t() >= t_next) {
      result.status = Status::solved;
      return result;
    }
  }
  result.status = Status::not_solved;
  result.message = "too many changes of mode within one step" + reason;
  return result;
}

}  // namespace perp
