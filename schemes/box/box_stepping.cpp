#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/types.hpp>
#include <perp/schemes/box/box_stepping.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {
namespace {

constexpr double start_share = 0x1p-20;  ///< of a step, by which a start at the end of a branch finds its mode

SparseLcs checked(SparseLcs lcs, const Theta& options) {
  check_h(options.h);
  check_tolerance(options.tol);
  check_refinements(options.refinements);
  if (options.theta < 1) throw InvalidInput("solver petsc makes steps of backward_euler, not of theta < 1");
  if (options.selector != Selector::keep_mode) throw InvalidInput("solver petsc keeps the mode where it can; expected selector keep_mode");
  return lcs;
}

/// Keeps the first departure of each law.
void add(int law, double s, std::vector<Scheme::Departure>& list) {
  const auto known = std::ranges::find(list, law, &Scheme::Departure::law);
  if (known == list.end())
    list.push_back({law, s});
  else
    known->s = std::min(known->s, s);
}

}  // namespace

BoxStepping::BoxStepping(SparseLcs lcs, const Theta& options) : lcs_(checked(std::move(lcs), options)), step_(lcs_, options.petsc) {
  for (State& state : states_) {
    state.x = Vector::Zero(lcs_.n());
    state.lambda = state.w = Vector::Zero(lcs_.m());
    state.mode.assign(lcs_.laws.size(), 0);
  }
}

Attempt BoxStepping::unsolved(Status status, std::string why) {
  message_ = std::move(why);
  return {status, false, 0, 0};
}

/// Monotone in h: what is dominated with one step is with every shorter one.
bool BoxStepping::is_dominant(double h) {
  if (h <= longest_dominant_) return true;
  if (h >= shortest_not_) return false;
  const bool is_one = step_.is_dominant(h);
  (is_one ? longest_dominant_ : shortest_not_) = h;
  return is_one;
}

/// By the certificate of all affine systems, which is looked for where rows are not dominated.
bool BoxStepping::is_monotone(double h) {
  if (!longest_monotone_) {
    const StepEquations equations(lcs_, 1);
    MonotoneSteps monotone(equations);
    longest_monotone_ = monotone.longest(1);
    is_continuous_ = *longest_monotone_ > 0 && monotone.is_continuous();
  }
  return h <= *longest_monotone_;
}

/// With dominated rows |x+ - x| is at most h |rates| over what the diagonal has above the others, in the largest entry.
bool BoxStepping::moves_with_length(double h) { return is_dominant(h) || (is_monotone(h) && is_continuous_); }

/// Branches of the laws at the start, whose multipliers are no variables: each at its end where w is on that side. False: one is
/// outside of its branches. `touches`: some are on their corner.
bool BoxStepping::starts_inside(const Vector& x0, double t, Mode& mode, bool& touches) {
  const Vector q = lcs_.q(t), Cx = lcs_.C.times(x0), sizes = lcs_.C.sizes_times(x0.cwiseAbs());
  for (int i = 0; i < lcs_.m(); ++i) {
    const BoxLaw& law = step_.laws()[at(i)];
    const double above = law.side * (Cx[i] + q[i] - law.corner);
    const double rounding = 8 * unit_roundoff * (sizes[i] + std::abs(q[i]) + std::abs(law.corner));
    const bool is_open = std::abs(above) <= rounding || !lcs_.D.row(i).empty();  // multipliers in w are not known yet
    mode[at(i)] = is_open ? law.inside : above > 0 ? law.at_lower : law.at_upper;
    touches = touches || is_open;
    if (mode[at(i)] < 0) return false;
  }
  return true;
}

/// In the present mode, whose multipliers are at ends.
void BoxStepping::put_start(const Vector& x0, double t) {
  State& now = current();
  for (int i = 0; i < lcs_.m(); ++i) {
    const BoxLaw& law = step_.laws()[at(i)];
    const int branch = now.mode[at(i)];
    now.lambda[i] = branch == law.at_lower ? law.lower : branch == law.at_upper ? law.upper : 0;
  }
  now.w = lcs_.C.times(x0) + lcs_.D.times(now.lambda) + lcs_.q(t);
}

Attempt BoxStepping::start(double t, const Vector& x0, double h, std::vector<Event>& /*events*/) {
  State& now = current();
  now.t = t;
  now.x = x0;
  bool touches = false;
  if (!starts_inside(x0, t, now.mode, touches))
    return unsolved(Status::not_solved, "solver petsc: a law is violated at the start; expected a start that satisfies them, or another solver");
  put_start(x0, t);
  const Attempt solved{Status::solved, false, has_one_solution(h) ? 1 : 0, 0};
  if (!touches) return solved;
  // On a corner the step that begins there tells the branch and the multiplier.
  step_.set(start_share * h, x0, t);
  Mode mode = now.mode;
  if (!(step_.solve(mode) && step_.is_inside()) && !step_.search(mode)) return unsolved(Status::not_solved, step_.message());
  now.mode = mode;
  now.lambda = step_.lambda();
  now.w = step_.w();
  return solved;
}

void BoxStepping::put(double t_next, const Mode& mode) {
  State& next = trial();
  next.t = t_next;
  next.x = step_.x();
  next.lambda = step_.lambda();
  next.w = step_.w();
  next.rounding = step_.rounding();
  next.mode = mode;
}

Attempt BoxStepping::take(double t_next, const Mode& mode, double h) {
  const bool is_one = has_one_solution(h);
  put(t_next, mode);
  residual_ = std::isnan(residual_) ? step_.residual() : std::max(residual_, step_.residual());
  if (!is_one) ++not_enumerated_;
  return {Status::solved, mode == this->mode(), is_one ? 1 : 0, 0};
}

/// `is_end_enough`: of a step that leaves its mode nothing else counts, where it has one solution.
Attempt BoxStepping::attempt_by(double t_next, double h, bool is_end_enough) {
  Mode mode = this->mode();
  step_.set(h, x(), t_next);
  const bool has_end = step_.solve(mode);
  trial().ends = has_end ? step_.margins() : std::vector<BoxStep::Margin>{};
  const bool is_kept = has_end && step_.is_inside();
  if (has_end && (is_kept || (is_end_enough && has_one_solution(h)))) {
    Attempt attempt = take(t_next, mode, h);
    attempt.kept_mode = is_kept;
    return attempt;
  }
  ++searches_;
  if (!step_.search(mode)) return unsolved(Status::not_solved, step_.message());
  return take(t_next, mode, h);
}

/// Every x is near the solution of its step; the sums of the terms of a row add their rounding.
Vector BoxStepping::motion_rounding(const Vector& a, const Vector& b) const {
  const double each = (lcs_.n() + 4) * 2 * unit_roundoff;
  return each * motion_terms(a, b);
}

Vector BoxStepping::drift(const Vector& sizes, long steps) const {
  Vector each = motion_rounding(sizes, Vector::Zero(sizes.size()));
  for (const State& state : states_)
    if (state.rounding.size() > 0) each = each.cwiseMax(lcs_.E.sizes_times(state.rounding));
  return each * static_cast<double>(std::max(steps, 1L));
}

Vector BoxStepping::rounding() {
  return current().rounding.size() > 0 ? current().rounding : Scheme::rounding();
}

void BoxStepping::accept() {
  const std::size_t oldest = previous_;
  previous_ = now_;
  now_ = trial_;
  trial_ = oldest;
}

void BoxStepping::restore(const Step& state) {
  State& now = current();
  now = {state.t, state.x, state.lambda, state.w, {}, state.mode, {}};
}

/// Of a margin at the last state, on the branch of that mode.
double BoxStepping::slack_before(const BoxStep::Margin& margin, const Mode& mode) const {
  const Branch& branch = lcs_.laws[at(margin.law)].branches[at(mode[at(margin.law)])];
  const Range& range = margin.of_lambda ? branch.lambda : branch.w;
  const double value = margin.of_lambda ? before().lambda[margin.law] : before().w[margin.law];
  return std::max(0.0, margin.is_upper ? range.upper - value : value - range.lower);
}

std::vector<Scheme::Departure> BoxStepping::departures() {
  std::vector<Departure> list;
  for (const BoxStep::Margin& margin : current().ends) {
    if (!margin.is_beyond) continue;
    const double start = slack_before(margin, before().mode);
    add(margin.law, start / (start - margin.value), list);
  }
  return list;
}

std::vector<Scheme::Departure> BoxStepping::approaches() {
  std::vector<Departure> list;
  for (const BoxStep::Margin& margin : current().ends) {
    const double start = slack_before(margin, mode());
    if (start > 0 && margin.value < start) add(margin.law, start / (start - margin.value), list);
  }
  return list;
}

std::vector<int> BoxStepping::laws_beyond_end() {
  std::vector<int> list;
  for (const BoxStep::Margin& margin : current().ends)
    if (margin.value < 0) list.push_back(margin.law);
  return list;
}

void BoxStepping::count(Counts& counts) const {
  counts["petsc_searches"] += searches_;
  counts["petsc_iterations"] += step_.iterations();
  counts["petsc_systems"] += step_.systems();
  if (not_enumerated_ > 0) counts["not_enumerated"] += not_enumerated_;
}

}  // namespace perp
