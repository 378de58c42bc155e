// Where nothing goes on: is that proved, or not known?
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/jumps/consistent_jumps.hpp>
#include <perp/schemes/located/passage/mode_transition.hpp>
#include <perp/schemes/located/transition/nearest_in_mode.hpp>

namespace perp {
namespace {

constexpr double least_error = 1e-12;  ///< of the state at an event, in units, however small the tolerance

}  // namespace

bool is_proved_end(const LocatedState& at, const Step& state, double h) {
  if (!std::isfinite(state.x.squaredNorm()) || !std::isfinite(at.scales.x.squaredNorm())) return false;
  Dcs alone = at.system;
  alone.resets.clear();
  const std::optional<Lcs> affine = as_lcs(alone);
  if (!affine) return false;
  // Steps that are enumerated cost little beside the search in the field of short steps.
  const double moment = state.t + 0x1p-30 * h;
  const Trajectory steps = integrate(*affine, state.x, {state.t, at.span.end}, BackwardEuler{.h = h},
                                     {.observer = [&](const Step& now) { return now.t <= moment; }});
  if (steps.status == Status::no_solution && steps.t.back() <= moment) return true;
  JumpOptions options;
  if (state.mode.size() == at.system.laws.size()) options.present = state.mode;
  return consistent_jumps(*affine, state.x, state.t, options).status == Status::no_solution;
}

/// How long the gap of an event is 0, as far as its error tells: the largest time in which no term of its series is larger.
double ModeTransition::time_unknown(const Gap& gap) const {
  const Matrix& w = at_.passage.before.w;
  const double error = std::max(least_error, at_.options.tol) * run_.locator.size(gap);
  double longest = inf;
  for (Eigen::Index k = 1; k < w.cols(); ++k)
    longest = std::min(longest, std::pow(error / std::abs(w(gap.law, k)), 1.0 / static_cast<double>(k)));
  return longest;
}

/// The state on the end of the law of this gap next to a state that the run has come to, if they differ by no more than the
/// solution moves while the gap is 0.
std::optional<Step> ModeTransition::on_end(const Gap& gap, const Step& state) const {
  const auto law = static_cast<std::size_t>(gap.law);
  const auto& branches = at_.system.laws[law].branches;
  const auto held = std::ranges::find_if(branches, [&](const Branch& branch) { return is_vertical(branch) && w_range(branch).lower == gap.bound; });
  if (held == branches.end() || state.mode.size() != at_.system.laws.size()) return std::nullopt;
  Step there = state;
  there.mode[law] = static_cast<int>(held - branches.begin());
  const auto nearest = nearest_in_mode(at_.system, run_.jets.all(), there.mode, state.t, state.x, state.lambda);
  if (!nearest) return std::nullopt;
  there.x = *nearest;
  const Vector known = time_unknown(gap) * at_.passage.before.x.col(1).cwiseAbs() + std::max(least_error, at_.options.tol) * at_.scales.x;
  return ((there.x - state.x).array().abs() <= 4 * known.array()).all() ? std::optional(there) : std::nullopt;
}

/// Is it proved of the states on the ends of laws, too, that the present one cannot be told from? An event at a zero of order
/// k of its gap is known to the k-th root of the error of this, and so is the state at it.
bool ModeTransition::is_proved_end_near(const Step& state) const {
  if (!is_proved_end(at_, state, run_.rest.h())) return false;
  if (record_.is_at_start()) return true;
  return std::ranges::all_of(at_.passage.gaps, [&](const Gap& gap) {
    if (gap.law < 0 || gap.of_lambda || at_.passage.before.w.cols() < 2) return true;
    const std::optional<Step> there = on_end(gap, state);
    return !there || is_proved_end(at_, *there, run_.rest.h());
  });
}

/// No way on was found: says so with the violation of every mode.
void ModeTransition::end_here(const Step& state, const Selection& selection) {
  const std::string violations = modes_text(at_.system.laws, selection.rejected);
  const bool is_decided = is_proved_end_near(state);
  if (is_decided)
    record_.events().push_back(event_at(EventKind::no_solution, state.t, state.x,
                                        "no continuation and no jump; violations of the modes: " + violations));
  at_.now = state;
  record_.row(at_.now, true);
  const Status status = is_decided           ? Status::no_solution
                        : selection.complete ? Status::not_solved
                                             : Status::not_enumerated;
  const std::string modes = at_.system.laws.empty() ? "" : "; violations of the modes: " + violations;
  record_.finish(status, fmt::format("{} after {}{}", is_decided ? "no solution" : "no continuation found",
                                     record_.place(state), modes));
}

}  // namespace perp
