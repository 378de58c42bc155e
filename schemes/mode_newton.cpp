#include <algorithm>
#include <cmath>

#include <perp/core/index.hpp>
#include <perp/schemes/mode_newton.hpp>

namespace perp {
namespace {

constexpr int between_milestones = 30;  ///< iterations in which all rows have to fall
constexpr double progress = 0x1p-8;     ///< to this share
constexpr int most_iterations = 3000;   ///< of a fall, e.g. down an exponential
constexpr int most_refinements = 4;     ///< of a linear mode: its first step leads to its solution
constexpr int most_halvings = 1074;     ///< of a step: the range of doubles
constexpr double contraction = 0.25;    ///< of the first corrections near a simple solution
constexpr double cancelled = 0x1p-48;   ///< share of a difference's terms that is their rounding
constexpr double noise = 0x1p-26;       ///< share of the unknowns that no branch is apart by
constexpr double contradicting = 0.1;   ///< share of the residual a singular matrix leaves
constexpr double unsolved = 0x1p-20;    ///< of the residual: what a singular matrix takes is rounding

}  // namespace

const char* describe(NewtonEnd end) {
  switch (end) {
    case NewtonEnd::converged: return "converged";
    case NewtonEnd::inconsistent: return "the equations contradict each other";
    case NewtonEnd::domain: return "Newton's method left the domain of the equations";
    case NewtonEnd::stalled: return "Newton's method did not converge";
  }
  return "";
}

ModeNewton::ModeNewton(ImplicitStep& step) : step_(step), lu_(step.n() + step.m()) {
  const auto all = static_cast<std::size_t>(step.n() + step.m());
  for (std::vector<double>* list :
       {&direction_, &work_, &before_, &milestone_, &last_errors_, &floor_, &sizes_, &next_sizes_,
        &unknown_sizes_})
    list->resize(all);
  every_entry_fell_.resize(all);
  d_trial_ = Vector::Zero(step.n());
  lambda_trial_ = Vector::Zero(step.m());
}

/// The Newton step at the last point. False: the equations contradict each other.
bool ModeNewton::direction() {
  const auto size = static_cast<std::size_t>(step_.size());
  std::copy_n(step_.residual(), size, direction_.begin());
  regular_now_ = lu_.factorise(step_.jacobian(), step_.size());
  if (regular_now_) {
    lu_.solve(direction_.data());
    orientation_ = lu_.determinant_sign();
  } else {
    singular_ = true;
    inconsistency_ = lu_.solve_least_squares(step_.jacobian(), step_.residual(), work_.data());
    std::copy_n(work_.begin(), size, direction_.begin());
  }
  for (double& value : direction_) value = -value;
  return regular_now_ || inconsistency_.least < 1 - unsolved;
}

/// The next correction, with the present matrix. Its largest entry may be rounding of its unknown
/// while others still fall.
void ModeNewton::correction() {
  std::copy_n(step_.residual(), at(step_.size()), work_.begin());
  lu_.solve(work_.data());
  write_sizes(work_, next_sizes_);
  std::fill_n(every_entry_fell_.begin(), lu_.parts(), 1);
  for (int j = 0; j < step_.size(); ++j)
    if (!(std::abs(work_[at(j)]) <= std::max(std::abs(direction_[at(j)]) / 2, floor_[at(j)])))
      every_entry_fell_[at(lu_.part(j))] = 0;
}

/// The largest entry of each part in scaled unknowns.
void ModeNewton::write_sizes(const std::vector<double>& step, std::vector<double>& sizes) const {
  std::fill_n(sizes.begin(), lu_.parts(), 0.0);
  for (int j = 0; j < step_.size(); ++j) {
    double& size = sizes[at(lu_.part(j))];
    size = std::max(size, std::abs(step[at(j)]) / lu_.column_scale(j));
  }
}

/// Has the correction fallen in every part, to this share of the step or entry by entry?
bool ModeNewton::corrections_fell(double share) const {
  for (std::size_t p = 0; p < at(lu_.parts()); ++p)
    if (!(next_sizes_[p] <= share * sizes_[p]) && every_entry_fell_[p] == 0) return false;
  return true;
}

/// Does a part hardly come nearer, or is all that is left rounding?
bool ModeNewton::stagnates() const {
  if (!regular_now_ || !corrections_fell(0.5)) return true;
  for (std::size_t p = 0; p < at(lu_.parts()); ++p)
    if (next_sizes_[p] <= sizes_[p] / 2) return false;
  return true;
}

/// Does every part contract, or is its step no more than noise beside the unknowns themselves? Then
/// the step leads to no other branch.
bool ModeNewton::contracts(const Vector& lambda) {
  if (share_ != 0 || !regular_now_) return false;
  for (int j = 0; j < step_.n(); ++j) work_[at(j)] = step_.variable(j);
  for (std::size_t k = 0; k < step_.free_laws().size(); ++k)
    work_[at(step_.n()) + k] = lambda[step_.free_laws()[k]];
  write_sizes(work_, unknown_sizes_);
  for (std::size_t p = 0; p < at(lu_.parts()); ++p)
    if (next_sizes_[p] > contraction * sizes_[p] && sizes_[p] > noise * unknown_sizes_[p])
      return false;
  return true;
}

/// What elimination leaves of a zero becomes one.
void ModeNewton::drop_cancelled() {
  for (int j = 0; j < step_.size(); ++j) {
    double& entry = direction_[at(j)];
    if (std::abs(entry) <= cancelled * sizes_[at(lu_.part(j))] * lu_.column_scale(j)) entry = 0;
  }
}

/// The rounding of the unknowns at the last point: a variable near 0 has that of its step d.
void ModeNewton::write_floor(const Vector& d, const Vector& lambda) {
  for (int j = 0; j < step_.n(); ++j)
    floor_[static_cast<std::size_t>(j)] =
        2 * half_ulp(std::max(std::abs(step_.variable(j)), std::abs(d[j])));
  for (std::size_t k = 0; k < step_.free_laws().size(); ++k)
    floor_[static_cast<std::size_t>(step_.n()) + k] = 2 * half_ulp(lambda[step_.free_laws()[k]]);
}

/// Has every row fallen to this share of what it was before the step, or to its rounding?
bool ModeNewton::rows_fell(double share) const {
  for (std::size_t i = 0; i < static_cast<std::size_t>(step_.size()); ++i) {
    const double now = std::abs(step_.residual()[i]);
    if (now > share * std::abs(before_[i]) && !(gate_known_ && now <= gate * last_errors_[i]))
      return false;
  }
  return true;
}

/// Is it worth asking the gate? Its errors change slowly from point to point.
bool ModeNewton::is_promising() const {
  if (!gate_known_) return true;
  for (std::size_t i = 0; i < static_cast<std::size_t>(step_.size()); ++i)
    if (std::abs(step_.residual()[i]) > gate * last_errors_[i]) return false;
  return true;
}

/// Do the rows fall as down an exponential, some iterations apart?
bool ModeNewton::makes_progress() {
  bool falls = true;
  for (std::size_t i = 0; i < static_cast<std::size_t>(step_.size()); ++i) {
    const double now = std::abs(step_.residual()[i]);
    falls = falls && (now <= progress * milestone_[i] || now <= gate * last_errors_[i]);
    milestone_[i] = now;
  }
  return falls;
}

/// Is the step by 2^-halvings of the direction acceptable? The step stands linearised there.
bool ModeNewton::try_share(const Vector& d, const Vector& lambda, int halvings, bool& finite) {
  const double share = std::ldexp(1.0, -halvings);
  step_.move(d, lambda, share, direction_.data(), d_trial_, lambda_trial_);
  if (halvings == 0) step_.snap(direction_.data(), cancelled, d_trial_, lambda_trial_);
  if (!step_.linearise(d_trial_, lambda_trial_)) return false;
  finite = true;
  share_ = halvings;
  if (!regular_now_) return rows_fell(1 - share / 4);
  correction();
  return corrections_fell(1 - share / 4) || rows_fell(0.5);
}

/// The longest acceptable share of the direction, by halvings that double and a bisection between
/// the last two: steps may be too long by hundreds of powers of ten. False: none is.
bool ModeNewton::search_line(const Vector& d, const Vector& lambda, bool& finite) {
  int refused = -1, halvings = 0;
  while (!try_share(d, lambda, halvings, finite)) {
    if (halvings >= most_halvings || (finite && d_trial_ == d && lambda_trial_ == lambda))
      return false;
    refused = halvings;
    halvings = halvings == 0 ? 1 : std::min(2 * halvings, most_halvings);
  }
  while (halvings - refused > 1) {
    const int middle = refused + (halvings - refused) / 2;
    (try_share(d, lambda, middle, finite) ? halvings : refused) = middle;
  }
  return share_ == halvings || try_share(d, lambda, halvings, finite);
}

NewtonEnd ModeNewton::run(Vector& d, Vector& lambda) {
  singular_ = false;
  gate_known_ = gate_known_ && asked_size_ == step_.size();  // of a step before: still a guess
  local_ = true;
  orientation_ = 0;
  step_.fix(lambda);
  residual_ = inf;
  if (!step_.linearise(d, lambda)) return NewtonEnd::domain;
  lambda_trial_ = lambda;
  return iterate(d, lambda);
}

NewtonEnd ModeNewton::run_near(Vector& d, Vector& lambda) {
  near_only_ = true;
  const NewtonEnd end = run(d, lambda);
  near_only_ = false;
  return end;
}

/// The residual in units of its error at the point where the step is linearised.
double ModeNewton::ask_gate(const Vector& d, const Vector& lambda) {
  residual_ = step_.bound(d, lambda);
  std::copy_n(step_.errors(), static_cast<std::size_t>(step_.size()), last_errors_.begin());
  gate_known_ = true;
  asked_size_ = step_.size();
  return residual_;
}

/// One more step from a point that has passed the gate, if it comes nearer.
void ModeNewton::polish(Vector& d, Vector& lambda) {
  const double passed = residual_;
  ++iterations_;
  if (direction()) {
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

NewtonEnd ModeNewton::iterate(Vector& d, Vector& lambda) {
  bool contracting = false, stagnating = false;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    if ((stagnating || is_promising()) && ask_gate(d, lambda) <= gate) {
      if (residual_ > 1) polish(d, lambda);
      local_ = iteration <= 1 || contracting;
      return NewtonEnd::converged;
    }
    if (near_only_ && iteration >= 2 && !contracting) break;
    if (step_.is_linear() && iteration >= most_refinements) break;
    if (iteration % between_milestones == 0 && !makes_progress() &&
        iteration >= 2 * between_milestones)
      break;
    ++iterations_;
    if (!direction()) return NewtonEnd::inconsistent;
    write_floor(d, lambda);
    write_sizes(direction_, sizes_);
    drop_cancelled();
    std::copy_n(step_.residual(), static_cast<std::size_t>(step_.size()), before_.begin());
    bool finite = false;
    if (!search_line(d, lambda, finite)) return refused(d, lambda, finite, contracting);
    stagnating = stagnates();
    if (iteration == 0) contracting = contracts(lambda);
    d.swap(d_trial_);
    lambda.swap(lambda_trial_);
  }
  ask_gate(d, lambda);
  return NewtonEnd::stalled;
}

/// No share of the direction leads nearer: rounding holds the point, or there is no solution here.
/// Rounding may also hold what falls at the end of the whole step, which the gate knows better.
NewtonEnd ModeNewton::refused(Vector& d, Vector& lambda, bool finite, bool contracts) {
  const bool contradicts = !regular_now_ && inconsistency_.largest > contradicting;
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

bool ModeNewton::factorise() { return lu_.factorise(step_.jacobian(), step_.size()); }

}  // namespace perp
