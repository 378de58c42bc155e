#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/schemes/scheme.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {

inline constexpr double known_to = 0x1p-10;  ///< share of a variable to which the end of a tiny step is known
inline constexpr double longest_moment = 0x1p-12;  ///< of the step length: no longer step stands for a moment

/// Rounding of the current state, which a tiny step from `before` has led to, where it is more than a share of a
/// variable; else 0. A constraint is known to its rounding, the velocity that it stops to that over the length of the step.
inline Vector unknown_part(const Scheme& scheme, const Step& before, const Vector& rounding) {
  const Vector size = before.x.cwiseAbs().cwiseMax(scheme.x().cwiseAbs());
  return (rounding.array() <= known_to * size.array()).select(0, rounding);
}
inline Vector unknown_part(Scheme& scheme, const Step& before) { return unknown_part(scheme, before, scheme.rounding()); }

/// A step from `before`, now current, may be so short that rounding over its length, its `unknown_part`, is all that a
/// variable with a rate has changed by: this one keeps its value.
inline void keep_unknown(Scheme& scheme, const Step& before, const Vector& unknown) {
  if (!(unknown.array() > 0).any()) return;
  Step state = scheme.snapshot();
  bool is_other = false;
  for (int j = 0; j < static_cast<int>(state.x.size()); ++j) {
    const double change = std::abs(state.x[j] - before.x[j]);
    if (scheme.is_algebraic(j) || !(change > 0) || !(change <= unknown[j])) continue;
    state.x[j] = before.x[j];
    is_other = true;
  }
  if (is_other) scheme.restore(state);
}

inline bool has_algebraic(const Scheme& scheme) {
  for (int j = 0; j < static_cast<int>(scheme.x().size()); ++j)
    if (scheme.is_algebraic(j)) return true;
  return false;
}

/// Puts in `state`, the current one, the values of algebraic variables in x that differ by no more than its `rounding`, up
/// to which the gate lets a step pass.
inline void take_known(Scheme& scheme, const Vector& x, Step& state, const Vector& rounding) {
  if (!has_algebraic(scheme)) return;
  const Vector error = most_rounding * rounding;
  bool is_other = false;
  for (int j = 0; j < static_cast<int>(state.x.size()); ++j) {
    const double change = std::abs(state.x[j] - x[j]);
    if (!scheme.is_algebraic(j) || !(change > 0) || !(change <= error[j])) continue;
    state.x[j] = x[j];
    is_other = true;
  }
  if (is_other) scheme.restore(state);
}

/// Where a tiny step from `before` led to the current state, in its mode: the latter gets the algebraic variables that
/// rounding over its length alone has changed back.
inline void keep_known(Scheme& scheme, const Step& before, double h) {
  if (!(scheme.t() - before.t < longest_moment * h)) return;
  Step state = scheme.snapshot();
  take_known(scheme, before.x, state, scheme.rounding());
}

/// The current state, to which steps from `start` in its mode led, through the states of `path` from number `first` on.
/// Where the last one was so short that rounding over its length is all that an algebraic variable has changed by, that
/// has the value of the last longer one. `h`: the user's step length; `rounding`: of the last of these steps.
inline Step known_state(Scheme& scheme, const Step& start, const std::vector<Step>& path, std::size_t first, double h,
                        const Vector& rounding) {
  Step state = scheme.snapshot();
  const double moment = longest_moment * h;
  const auto length = [&](std::size_t k) { return path[k].t - (k == first ? start.t : path[k - 1].t); };
  std::size_t last = path.size();
  while (last > first && length(last - 1) < moment) --last;
  if (last == path.size() || (last == first && start.mode != state.mode)) return state;
  const Step& longer = last == first ? start : path[last - 1];
  take_known(scheme, longer.x, state, rounding);
  return state;
}

/// Gives the current state, in which a change of mode has ended with a tiny step, the algebraic variables that a longer
/// step from there in its mode ends with, where rounding over the length of the tiny one is all that they differ by.
inline void begin_known(Scheme& scheme, double t_next, double h) {
  Step state = scheme.snapshot();
  const double moment = std::min(longest_moment * h, t_next - state.t);
  if (!(moment > 0) || !has_algebraic(scheme)) return;
  const Attempt ahead = scheme.attempt(state.t + moment, moment);
  if (ahead.status == Status::solved && ahead.kept_mode) take_known(scheme, Vector(scheme.attempted()), state, scheme.rounding());
}

}  // namespace perp
