#include <algorithm>
#include <cmath>

#include <perp/schemes/mode_newton.hpp>

namespace perp {
namespace {

constexpr int most_iterations = 60;
constexpr double rounding = 1e-15;       ///< relative residual below which nothing can improve
constexpr double near_rounding = 1e-11;  ///< from here on a residual that stays is rounding
constexpr double shortest = 1e-8;        ///< share of a step
constexpr double contradicting = 0.1;    ///< share of the residual a singular matrix leaves

/// How far a value lies outside of a range; 0 inside.
double outside(const Range& range, double value) {
  return std::max({range.lower - value, value - range.upper, 0.0});
}

/// The bound that a value outside of the range has passed.
double passed_bound(const Range& range, double value) {
  return value < range.lower ? range.lower : range.upper;
}

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

ModeNewton::ModeNewton(ImplicitStep& step, double tol)
    : step_(step), tol_(tol), lu_(step.n() + step.m()) {
  const auto all = static_cast<std::size_t>(step.n() + step.m());
  direction_.resize(all);
  work_.resize(all);
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
  } else {
    singular_ = true;
    inconsistency_ = lu_.solve_least_squares(step_.jacobian(), step_.residual(), work_.data());
    std::copy_n(work_.begin(), size, direction_.begin());
  }
  for (double& value : direction_) value = -value;
  return regular_now_ || inconsistency_ < 1 - 1e-6;
}

/// Size of the next correction with the present matrix, in scaled unknowns.
double ModeNewton::correction() {
  std::copy_n(step_.residual(), static_cast<std::size_t>(step_.size()), work_.begin());
  lu_.solve(work_.data());
  return scaled_size(work_);
}

/// Largest entry in scaled unknowns.
double ModeNewton::scaled_size(const std::vector<double>& step) const {
  double largest = 0;
  for (int j = 0; j < step_.size(); ++j)
    largest = std::max(largest, std::abs(step[static_cast<std::size_t>(j)]) / lu_.column_scale(j));
  return largest;
}

NewtonEnd ModeNewton::run(Vector& d, Vector& lambda) {
  singular_ = false;
  step_.fix(lambda);
  if (!step_.linearise(d, lambda)) return NewtonEnd::domain;
  residual_ = step_.relative_residual();
  lambda_trial_ = lambda;
  int polished = 0;  // iterations since only rounding is left
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    if (residual_ <= rounding) return NewtonEnd::converged;
    if (step_.lenient_residual() <= rounding && ++polished > 2) return settle();
    ++iterations_;
    if (!direction()) return NewtonEnd::inconsistent;
    const double size = scaled_size(direction_);
    double share = 1;
    bool finite_once = false, accepted = false;
    for (; share > shortest && !accepted; share /= 2) {
      step_.move(d, lambda, share, direction_.data(), d_trial_, lambda_trial_);
      if (!step_.linearise(d_trial_, lambda_trial_)) continue;
      finite_once = true;
      const double residual = step_.relative_residual();
      if (residual_ <= near_rounding && residual >= residual_ / 4) {
        // Rounding holds the residual where it is; the smaller one counts.
        if (residual > residual_)
          step_.linearise(d, lambda);
        else
          d = d_trial_, lambda = lambda_trial_, residual_ = residual;
        return residual_ <= tol_ ? NewtonEnd::converged : NewtonEnd::stalled;
      }
      accepted = residual <= residual_ / 2 || residual <= near_rounding ||
                 (regular_now_ ? correction() <= (1 - share / 4) * size
                               : residual <= (1 - share / 4) * residual_);
      if (accepted) residual_ = residual;
    }
    if (!accepted) {
      const bool contradicts = !regular_now_ && inconsistency_ > contradicting;
      if (!step_.linearise(d, lambda)) return NewtonEnd::domain;
      if (step_.lenient_residual() <= near_rounding) return settle();
      return !finite_once ? NewtonEnd::domain
                          : (contradicts ? NewtonEnd::inconsistent : NewtonEnd::stalled);
    }
    d.swap(d_trial_);
    lambda.swap(lambda_trial_);
  }
  return residual_ <= tol_ ? NewtonEnd::converged : NewtonEnd::stalled;
}

/// Solved up to what rounding in other rows leaves in this one.
NewtonEnd ModeNewton::settle() {
  residual_ = step_.lenient_residual();
  return NewtonEnd::converged;
}

bool ModeNewton::factorise() { return lu_.factorise(step_.jacobian(), step_.size()); }

/// Σ |(derivatives · J⁻¹)_i| · (size of the terms of equation i).
double ModeNewton::size_of(double* derivatives) {
  lu_.solve_transposed(derivatives);
  double sum = 0;
  for (int i = 0; i < step_.size(); ++i) sum += std::abs(derivatives[i]) * step_.terms()[i];
  return sum;
}

void ModeNewton::sizes(Vector& d_size, Vector& lambda_size) {
  const auto size_of_unknown = [&](int k) {
    std::fill(work_.begin(), work_.end(), 0.0);
    work_[static_cast<std::size_t>(k)] = 1;
    return size_of(work_.data());
  };
  lambda_size.setZero();
  for (int j = 0; j < step_.n(); ++j) d_size[j] = size_of_unknown(j);
  for (std::size_t k = 0; k < step_.free_laws().size(); ++k)
    lambda_size[step_.free_laws()[k]] = size_of_unknown(step_.n() + static_cast<int>(k));
}

double ModeNewton::w_size(int law, bool regular) {
  const double terms = step_.w_derivatives(law, work_.data());
  return terms + (regular ? size_of(work_.data()) : 0);
}

double ModeNewton::lambda_size(int law, bool regular) {
  const std::vector<int>& free = step_.free_laws();
  const auto place = std::find(free.begin(), free.end(), law);
  if (!regular || place == free.end()) return 0;  // a branch that fixes λ
  std::fill(work_.begin(), work_.end(), 0.0);
  work_[static_cast<std::size_t>(step_.n() + (place - free.begin()))] = 1;
  return size_of(work_.data());
}

double ModeNewton::violation(const Vector& lambda, const Vector& w, double tol) {
  bool inside = true;
  for (int i = 0; i < step_.m() && inside; ++i) {
    const Branch& branch = step_.branch(i);
    inside = (branch.b == 0 || outside(branch.w, w[i]) == 0) &&
             (branch.a == 0 || outside(branch.lambda, lambda[i]) == 0);
  }
  if (inside) return 0;
  const bool regular = factorise();
  double worst = 0;
  const auto judge = [&](const Range& range, double value, double size) {
    const double by = outside(range, value);
    if (by == 0) return;
    size = std::max(size, std::abs(value) + std::abs(passed_bound(range, value)));
    const double relative = by / size;
    if (relative > std::max(tol, 8 * residual_)) worst = std::max(worst, relative);
  };
  for (int i = 0; i < step_.m(); ++i) {
    const Branch& branch = step_.branch(i);
    if (branch.b != 0) judge(branch.w, w[i], w_size(i, regular));
    if (branch.a != 0) judge(branch.lambda, lambda[i], lambda_size(i, regular));
  }
  return worst;
}

}  // namespace perp
