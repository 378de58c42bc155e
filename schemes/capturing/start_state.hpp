#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/law.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/safeguard.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

class ImplicitStep;
class ModeNewton;

// The start of a capturing scheme is the limit of short steps from x0: of steps of h·2^k and a
// quarter of it, k = first_probe or as short as last_probe where longer ones have no solution or
// the two end in different modes.
constexpr int first_probe = -10;
constexpr int last_probe = -40;
constexpr int least_motion_probe = -70;  ///< over which a rate moves a state by less than its rounding
constexpr int fastest_probe = -80;  ///< of a motion that a rate may explain
constexpr int growing_probes = 5;  ///< further quarters of a step in which a state has to grow to be without limit

/// Steps with θ < 1 make an error e of the algebraic variables of index 2 to -(1 - θ)/θ e, and those of index k
/// differ by e/h^(k-2): with θ = 1/2 they do not converge from k = 3 on, and else in no step behind an event.
constexpr int most_theta_index = 2;

/// What is said of a run with θ < 1 since it came into a mode of a higher index.
FirstOrder first_order_since(double t, const std::vector<Law>& laws, const Mode& mode,
                             int index);

/// The branches of a law that hold a w which is known up to an error; all of them where none does.
std::vector<int> branches_at(const Law& law, double w, double error);

/// Value at 0 of a quantity that is known at h and h/4 and smooth in h.
Vector extrapolate(const Vector& at_h, const Vector& at_quarter);

/// Does a row of E (x⁺ − x0) of a short step beyond its rounding stay what it is in a quarter of the
/// step: does it jump?
bool keeps_its_size(const Vector& motion, const Vector& of_quarter, const Vector& rounding);

/// Does one beyond its rounding grow as the step gets shorter? Then it has no limit.
bool grows(const Vector& motion, const Vector& of_quarter, const Vector& rounding);

/// Where short steps from a start lead, and the motions E (x⁺ − x0) of the last two of them.
template <class State>
struct ShortSteps {
  State limit;
  Vector longer, shorter;
  bool agree = false;  ///< the last two are in one mode
  int exponent = 0;    ///< of the last one: h·2^k
};

/// The limit of ever shorter steps after the one of h·2^exponent in `steps`. The changes of two of them tell how it shrinks
/// only where both are in one mode: they are shortened until so. `step(k)`: the state and the motion of the step of
/// h·2^k, nothing where it has none.
template <class State, class Step>
void shorten(ShortSteps<State>& steps, const Step& step) {
  State& limit = steps.limit;
  do {
    const State longer = limit;
    const Mode mode = *longer.mode;
    steps.longer = steps.shorter;
    auto next = step(steps.exponent -= 2);
    if (!next) {
      steps.shorter.setZero();
      break;
    }
    std::tie(limit, steps.shorter) = *std::move(next);
    steps.agree = *limit.mode == mode;
    if (!steps.agree) continue;
    limit.x = extrapolate(longer.x, limit.x);
    limit.lambda = extrapolate(longer.lambda, limit.lambda);
    limit.w = extrapolate(longer.w, limit.w);
  } while (!steps.agree && steps.exponent > last_probe);
}

/// Do the motions grow in ever shorter steps, and not only on the way to a limit?
template <class State, class Step>
bool keep_growing(const ShortSteps<State>& steps, const Vector& rounding, const Step& step) {
  if (!steps.agree || !grows(steps.longer, steps.shorter, rounding)) return false;
  Vector longer = steps.shorter;
  for (int k = 1; k <= growing_probes; ++k) {
    const auto next = step(steps.exponent - 2 * k);
    if (!next || !grows(longer, next->second, rounding)) return false;
    longer = next->second;
  }
  return true;
}

/// Does a row of the motion beyond `least` stay what it is in ever shorter steps: does the state jump? A row that rates may
/// move so far in a step as short as the last one, `rates` of them in one of length h, is looked at in shorter ones.
template <class State, class Step>
bool keeps_its_size(const ShortSteps<State>& steps, const Vector& least, const Vector& rates, const Step& step) {
  Vector longer = steps.longer, shorter = steps.shorter;
  for (int k = steps.exponent; keeps_its_size(longer, shorter, least);) {
    const auto is_explained = shorter.array().abs() <= std::ldexp(moved_by_rates, k) * rates.array();
    if (keeps_its_size(longer, shorter, is_explained.select(inf, least))) return true;
    if (k - 10 < fastest_probe) return false;
    const auto next = step(k - 8), last = step(k -= 10);
    if (!next || !last) return true;
    longer = next->second, shorter = last->second;
  }
  return false;
}

/// What is said of a start that violates the constraints by this, where such a row grows.
std::string growing_start_text(double violation);

/// Equations without derivatives and the arguments of the laws at one state, as functions of λ.
using ConstraintsAt = std::function<void(const Vector& lambda, Vector& equations, Vector& w)>;

/// By how much a state violates its constraints: the largest |equation| and, where a branch leaves
/// λ open, the distance of w from it; other λ are those of the branches of `mode` over w. `lambda`
/// is where they start.
double violation_of_constraints(const std::vector<Law>& laws, const Mode& mode, Vector lambda,
                                const ConstraintsAt& constraints);

/// The same of a state whose mode is not known: on the branches nearest to its w for λ = 0.
double violation_of_constraints(const std::vector<Law>& laws, const ConstraintsAt& constraints);

/// λ of the first branch over w that tells it, else 0.
double multiplier_over(const Law& law, double w);

/// The multipliers that laws have over their arguments at one state; 0 where no branch tells it, and all of them where
/// arguments that hold others' multipliers do not settle.
Vector multipliers_at(const std::vector<Law>& laws, const ConstraintsAt& constraints);

/// The consistent state at t in a mode that is nearest to (x, λ), by Newton's method on the equations
/// without derivatives, the laws and ∂F/∂ẋ d = 0: what the constraints determine is known to rounding
/// then, where an extrapolation of short steps has the error of these. False, and nothing changes, where none is
/// found, or a law whose branch leaves λ open has an argument with derivatives, which are not known.
bool solve_constraints(ImplicitStep& step, ModeNewton& newton, double t, const Mode& mode, Vector& x,
                       Vector& lambda, Vector& w);

/// What is said of a start x0 whose short steps end `distance` away, in `limit`: a jump if x0 is
/// consistent, else an inconsistent start with its `violation`.
Event start_event(double t, const Vector& x0, const Vector& limit, bool consistent,
                  double distance, double violation);

}  // namespace perp
