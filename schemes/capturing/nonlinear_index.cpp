// Which steps of NonlinearCapturing are those of the θ-method and which those of backward Euler, by the index
// of their modes: called by its attempts.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/base/set_during.hpp>
#include <perp/core/pencil/pencil.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>

namespace perp {
namespace {

constexpr long most_iterations = 250'000;  ///< of Newton's method on the way of half a step
constexpr long last_iterations = most_iterations / 16;  ///< of them: changes that follow each other without end are not followed

}  // namespace

/// On every half of a step Newton's method may work anew.
void NonlinearCapturing::allow_work() {
  if (t() < allowed_until_) return;
  newton_.allow(most_iterations);
  allowed_until_ = t() + options_.h / 2;
  leaps_ = 0;
}

bool NonlinearCapturing::is_short_of_work() const { return newton_.left() < last_iterations; }

/// The step that the θ-method does not make in its mode, by backward Euler; the next one too where it leads into another.
Attempt NonlinearCapturing::step_into_mode(double t_next, double h) {
  is_first_order_ = true;
  const Attempt found = step_to(t_next, h);
  trial().begins = found.status == Status::solved && !found.kept_mode;
  return found;
}

Attempt NonlinearCapturing::attempt(double t_next, double h) {
  if (!step_.has_units()) step_.choose_units(current().x, t(), h);  // a state was given without a start
  allow_work();
  is_first_order_ = theta_ == 1 || start_pending_ || current().begins;
  if (const std::optional<Attempt> known = known_attempt(t_next, h)) return *known;
  Attempt found = step_to(t_next, h);
  if (!is_first_order_ && !(found.status == Status::solved && found.kept_mode)) found = step_into_mode(t_next, h);
  if (found.status == Status::solved) found = judged(found);
  remember(found);
  return found;
}

Attempt NonlinearCapturing::attempt_end(double t_next, double h) {
  const SetDuring looking(looks_for_end_);
  return attempt(t_next, h);
}

/// What is known of a step that is solved at its end alone.
Attempt NonlinearCapturing::judged(Attempt found) {
  if (returns_to_left_branch()) {
    message_ = "a law that a reset put on another branch is back within the step";
    found.status = Status::not_solved;
  } else {
    judge_index();
  }
  return found;
}

/// Is a law, which a reset just before the step put beyond the end of its branch, on that branch again where the step
/// ends? The step says nothing of the way between, a shorter one does.
bool NonlinearCapturing::returns_to_left_branch() const {
  if (!settled_ || settled_->t != t() || settled_->mode == mode() || settled_->mode.size() != mode().size()) return false;
  const Mode &on = mode(), &left_for = settled_->mode, &after = *trial().mode;
  for (std::size_t i = 0; i < on.size(); ++i)
    if (left_for[i] != on[i] && after[i] == on[i]) return true;
  return false;
}

/// A step of first order says at its end whether those from there may be of second: not in a mode whose index
/// is too high there, nor before it is known; nor behind one so short that of algebraic variables of index 2 it knows the
/// rounding over its length.
void NonlinearCapturing::judge_index() {
  if (theta_ == 1 || !is_first_order_ || start_pending_) return;
  if (of_high_index_.contains(*trial().mode) || begins_by_index()) trial().begins = true;
}

/// Must the step from the end of the attempted one be of first order, by the index of its mode there? One that is too high
/// is kept in mind.
bool NonlinearCapturing::begins_by_index() {
  const State& next = trial();
  const std::optional<ModeDae> dae = linearized_mode();
  if (!dae) return true;
  const std::optional<int> index = index_of(dae->E, dae->A);
  if (!index || *index <= most_theta_index) return index == most_theta_index && next.h < options_.h / 2;
  of_high_index_.emplace(*next.mode, *index);
  return true;
}

/// The equations of the mode at the end of the attempted step, with the unknowns x and λ:
/// E = ∂(F, a ∘ G)/∂ẋ,  A = −∂(F, a ∘ G + b ∘ λ)/∂(x, λ). Empty where a derivative is not finite.
std::optional<ModeDae> NonlinearCapturing::linearized_mode() {
  const State& next = trial();
  DcsEvaluator& evaluator = step_.evaluator();
  const int n = step_.n(), m = step_.m();
  Vector z(evaluator.inputs()), rows(n + m);
  z << next.t, next.d / next.h, next.x, next.lambda;
  std::vector<double> derivatives(evaluator.entries().size());
  evaluator.linearize(z.data(), rows.data(), derivatives.data());
  ModeDae dae{Matrix::Zero(n + m, n + m), Matrix::Zero(n + m, n + m)};
  const auto branch = [&](int law) -> const Branch& {
    return step_.laws()[at(law)].branches[at((*next.mode)[at(law)])];
  };
  for (std::size_t k = 0; k < derivatives.size(); ++k) {
    const auto [row, column] = evaluator.entries()[k];
    const double slope = row < n ? derivatives[k] : branch(row - n).a * derivatives[k];
    if (!std::isfinite(slope)) return std::nullopt;
    if (column > n)
      dae.A(row, column - 1 - n) -= slope;
    else if (column > 0)
      dae.E(row, column - 1) += slope;
  }
  for (int law = 0; law < m; ++law) dae.A(n + law, n + law) -= branch(law).b;
  return dae;
}

/// Since the state before the first accepted step within such a mode: one into it is of first order in any case.
void NonlinearCapturing::tell_first_order() {
  if (!std::isnan(first_order_.since) || trial().mode != current().mode) return;
  const auto found = of_high_index_.find(*trial().mode);
  if (found != of_high_index_.end())
    first_order_ = first_order_since(t(), step_.laws(), found->first, found->second);
}

}  // namespace perp
