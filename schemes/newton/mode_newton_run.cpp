// The iterations of a run of Newton's method in one mode: how it goes on and how it ends.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {
namespace {

constexpr int between_milestones = 30;  ///< iterations in which all rows have to fall
constexpr double progress = 0x1p-8;     ///< to this share
constexpr int most_iterations = 3000;   ///< of a fall, e.g. down an exponential
constexpr int most_refinements = 4;     ///< of a linear mode: its first step leads to its solution
constexpr double contraction = 0.25;    ///< of the first corrections near a simple solution
constexpr double solution_rest = 0x1p-48;  ///< share of a solution, in scaled unknowns, that elimination leaves of a zero
constexpr int most_nested = 4;          ///< arguments of laws that hold the multipliers of others, one in the other
constexpr double contradicting = 0.1;   ///< share of the residual a singular matrix leaves

}  // namespace

NewtonEnd ModeNewton::run(Vector& d, Vector& lambda) {
  check_interruption();
  singular_ = left_domain_ = false;
  gate_known_ = gate_known_ && has_asked_rows();  // of a step before: still a guess
  local_ = true;
  orientation_ = 0;
  step_.fix(lambda);
  residual_ = inf;
  if (!step_.linearise(d, lambda)) return NewtonEnd::domain;
  lambda_trial_ = lambda;
  const NewtonEnd end = iterate(d, lambda);
  if (end == NewtonEnd::stalled && iterations_ >= allowed_) return NewtonEnd::exhausted;
  if (end != NewtonEnd::converged || is_definite(d, lambda)) return end;
  local_ = false;
  return NewtonEnd::indefinite;
}

NewtonEnd ModeNewton::run_near(Vector& d, Vector& lambda) {
  near_only_ = true;
  const NewtonEnd end = run(d, lambda);
  near_only_ = false;
  return end;
}

void ModeNewton::put_on_branches(const Vector& d, Vector& lambda) {
  step_.fix(lambda);
  given_ = lambda;
  bool moves = true;
  for (int k = 0; k < most_nested && moves && step_.linearise(d, lambda); ++k) {
    step_.w(w_);
    moves = false;
    for (const int law : step_.free_laws()) {
      const Branch& branch = step_.branch(law);
      if (branch.b == 0) continue;
      const double value = (branch.c - branch.a * w_[law]) / branch.b;
      moves = moves || value != lambda[law];
      lambda[law] = value;
    }
  }
  if (!lambda.allFinite()) lambda = given_;
}

/// Leaves J⁻¹ F at another point, with the last factors, in work_. False: rows have no values there.
bool ModeNewton::corrects_from(const Vector& d, const Vector& lambda) {
  lambda_from_ = lambda;
  put_on_branches(d, lambda_from_);
  if (!step_.linearise(d, lambda_from_)) return false;
  std::copy_n(step_.residual(), at(step_.size()), work_.begin());
  solve(work_);
  return true;
}

bool ModeNewton::leads_straight(const Vector& d_from, const Vector& lambda_from, const Vector& d, const Vector& lambda,
                                const std::vector<int>& variables, const Vector& reach) {
  if (variables.empty()) return true;
  if (!step_.linearise(d, lambda)) return false;
  step_.bound(d, lambda);
  if (!factorise()) return false;
  errors(d_error_, lambda_error_);
  const bool has_values = corrects_from(d_from, lambda_from);
  step_.linearise(d, lambda);
  const double rest = solution_rest * scaled_size(work_);
  return has_values && std::ranges::all_of(variables, [&](int j) {
    const double way = d[j] - d_from[j], missed = std::abs(way + work_[at(j)]);
    const double rounding = std::max(2 * gate * d_error_[j], rest * lu_.column_scale(j));
    return missed <= std::max(straight * std::max(std::abs(way), reach[j]), rounding);
  });
}

/// Is the row known to be 0 to its rounding? One that has no bound of it, as the sine of 1e16, never passes the gate.
bool ModeNewton::is_at_rounding(std::size_t row) const {
  return gate_known_ && std::isfinite(last_errors_[row]) && std::abs(step_.residual()[row]) <= gate * last_errors_[row];
}

/// Do the rows fall as down an exponential, some iterations apart? Where none is left to fall, the gate that did not pass
/// will not.
bool ModeNewton::makes_progress(const Vector& d, const Vector& lambda) {
  const auto has_bound = [](double error) { return std::isfinite(error); };
  if (gate_known_ && !std::all_of(last_errors_.begin(), last_errors_.begin() + step_.size(), has_bound)) ask_gate(d, lambda);
  bool falls = true, moves = false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(step_.size()); ++i) {
    const double now = std::abs(step_.residual()[i]);
    falls = falls && (now <= progress * milestone_[i] || is_at_rounding(i));
    moves = moves || now < milestone_[i];
    milestone_[i] = now;
  }
  return falls && moves;
}

/// One more step from a point that has passed the gate, if it comes nearer.
void ModeNewton::polish(Vector& d, Vector& lambda) {
  const double passed = residual_;
  ++iterations_;
  if (direction(by_blocks_)) {
    step_.move(d, lambda, 1, direction_.data(), d_trial_, lambda_trial_);
    if (step_.linearise(d_trial_, lambda_trial_) && ask_gate(d_trial_, lambda_trial_) < passed) {
      d.swap(d_trial_);
      lambda.swap(lambda_trial_);
      return;
    }
  }
  step_.linearise(d, lambda);
  ask_gate(d, lambda);
}

/// A share of the direction that helps. Where none does, elimination may have lost what is small beside others: then
/// one of the direction by blocks. False: none.
bool ModeNewton::advance(const Vector& d, const Vector& lambda, bool& finite) {
  if (search_line(d, lambda, finite)) return true;
  if (!regular_now_ || by_blocks_ || step_.is_large() || !step_.linearise(d, lambda) || !direction(true)) return false;
  size_ = scaled_size(direction_);
  return search_line(d, lambda, finite);
}

/// Does the point pass the gate? Then it is polished. The gate is asked where all rows may be rounding, or steps do not help.
bool ModeNewton::converges_here(const Course& course, Vector& d, Vector& lambda) {
  const bool is_asked = course.stagnates || course.rests || is_promising();
  if (!(is_asked && ask_gate(d, lambda) <= gate)) return false;
  if (residual_ > 1) polish(d, lambda);
  local_ = course.iteration <= 1 || course.contracts;
  return true;
}

/// Is there none to be expected? Steps near a solution contract, a linear mode is solved by its first ones, else rows fall.
bool ModeNewton::gives_up(const Course& course, const Vector& d, const Vector& lambda) {
  if (near_only_ && course.iteration >= 2 && !course.contracts) return true;
  if (step_.is_linear() && course.iteration >= most_refinements) return true;
  if (course.iteration % between_milestones != 0) return false;
  return !makes_progress(d, lambda) && course.iteration >= 2 * between_milestones;
}

/// One damped step, to which (d, λ) move; where there is none, how the run ends.
std::optional<NewtonEnd> ModeNewton::iterate_once(Course& course, Vector& d, Vector& lambda) {
  ++iterations_;
  if (!direction(false)) return NewtonEnd::inconsistent;
  write_floor(d, lambda);
  drop_small_rests();
  std::copy_n(step_.residual(), static_cast<std::size_t>(step_.size()), before_.begin());
  bool finite = false;
  if (!advance(d, lambda, finite)) return refused(d, lambda, finite, course.contracts);
  course.stagnates = next_size_ > size_ / 2;
  if (course.iteration == 0)
    course.contracts = share_ == 0 && (next_size_ <= contraction * size_ || is_rounding(lambda));
  course.rests = stays_at(d, lambda);
  d.swap(d_trial_);
  lambda.swap(lambda_trial_);
  return std::nullopt;
}

NewtonEnd ModeNewton::iterate(Vector& d, Vector& lambda) {
  Course course;
  const auto most = static_cast<int>(std::clamp(allowed_ - iterations_, 0L, long{most_iterations}));
  for (; course.iteration < most; ++course.iteration) {
    if (converges_here(course, d, lambda)) return NewtonEnd::converged;
    if (course.rests || gives_up(course, d, lambda)) break;  // after a rest all would be the same
    if (const auto end = iterate_once(course, d, lambda)) return *end;
  }
  local_ = course.contracts;
  // The last step may have led where all that is left is rounding.
  return ask_gate(d, lambda) <= gate && !near_only_ ? NewtonEnd::converged : NewtonEnd::stalled;
}

/// Do the linearised equations at a singular matrix contradict each other by more than rounding?
bool ModeNewton::is_contradictory() const {
  return !regular_now_ && (remainder_.contradicts || remainder_.share > contradicting);
}

/// No share of the direction leads nearer: rounding holds the point, or there is no solution here.
/// Rounding may also hold what falls at the end of the whole step, which the gate knows better.
NewtonEnd ModeNewton::refused(Vector& d, Vector& lambda, bool finite, bool contracts) {
  const bool contradicts = is_contradictory();
  step_.move(d, lambda, 1, direction_.data(), d_trial_, lambda_trial_);
  if (regular_now_ && step_.linearise(d_trial_, lambda_trial_) &&
      ask_gate(d_trial_, lambda_trial_) <= gate) {
    d.swap(d_trial_);
    lambda.swap(lambda_trial_);
    local_ = contracts;
    return NewtonEnd::converged;
  }
  step_.linearise(d, lambda);
  local_ = false;
  if (ask_gate(d, lambda) <= gate) return NewtonEnd::converged;
  if (!finite) return NewtonEnd::domain;
  return contradicts ? NewtonEnd::inconsistent : NewtonEnd::stalled;
}

}  // namespace perp
