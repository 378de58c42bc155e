// Is what Newton's method converged to in the ranges of its branches, as far as its errors let see?
// Called by the search over the modes of a step.
#include <algorithm>
#include <cmath>

#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {
namespace {

constexpr int most_projections = 60;  ///< onto the ranges of undetermined multipliers

/// How far a value lies outside of a range; 0 inside.
double outside(const Range& range, double value) {
  return std::max({range.lower - value, value - range.upper, 0.0});
}

/// The bound that a value outside of the range has passed.
double passed_bound(const Range& range, double value) {
  return value < range.lower ? range.lower : range.upper;
}

/// The verdict of what else is weak.
Admission weakened(Admission verdict, bool weak) {
  return weak && verdict == Admission::inside ? Admission::weak : verdict;
}

}  // namespace

/// Σ |(derivatives · J⁻¹)_i| (|F_i| + e_i).
double ModeNewton::error_through(double* derivatives) {
  lu_.solve_transposed(derivatives);
  double sum = 0;
  for (int i = 0; i < step_.size(); ++i)
    sum += std::abs(derivatives[i]) * (std::abs(step_.residual()[i]) + step_.errors()[i]);
  return sum;
}

/// |J⁻¹| (|F| + e) of a large step by its factors alone, where J⁻¹ (|F| + e) is about as large; else -1.
void ModeNewton::bound_errors() {
  constexpr double most_share = 4;
  distances_.clear();
  if (!lu_.is_sparse()) return;
  const auto size = static_cast<std::size_t>(step_.size());
  distances_.resize(size);
  for (std::size_t i = 0; i < size; ++i) distances_[i] = std::abs(step_.residual()[i]) + step_.errors()[i];
  std::ranges::copy(distances_, work_.begin());
  lu_.solve(work_.data());
  lu_.bound(distances_.data());
  for (std::size_t j = 0; j < size; ++j)
    if (!(distances_[j] <= most_share * std::abs(work_[j]))) distances_[j] = -1;
}

void ModeNewton::errors(Vector& d_error, Vector& lambda_error) {
  bound_errors();
  const auto error_of_unknown = [&](int k) {
    if (!distances_.empty() && distances_[static_cast<std::size_t>(k)] >= 0) return distances_[static_cast<std::size_t>(k)];
    std::fill(work_.begin(), work_.end(), 0.0);
    work_[static_cast<std::size_t>(k)] = 1;
    return error_through(work_.data());
  };
  lambda_error.setZero();
  for (int j = 0; j < step_.n(); ++j) d_error[j] = error_of_unknown(j);
  for (std::size_t k = 0; k < step_.free_laws().size(); ++k)
    lambda_error[step_.free_laws()[k]] = error_of_unknown(step_.n() + static_cast<int>(k));
}

double ModeNewton::w_error(int law, bool regular) {
  double error = step_.bounded_w(law).error;
  if (!regular) return error;
  step_.w_derivatives(law, work_.data());
  return error + error_through(work_.data());
}

double ModeNewton::lambda_error(int law, bool regular) {
  const std::vector<int>& free = step_.free_laws();
  const auto place = std::find(free.begin(), free.end(), law);
  if (!regular || place == free.end()) return 0;  // not determined, or fixed by its branch
  std::fill(work_.begin(), work_.end(), 0.0);
  work_[static_cast<std::size_t>(step_.n() + (place - free.begin()))] = 1;
  return error_through(work_.data());
}

/// Puts every λ that is outside of its range on its bound. False: none was.
bool ModeNewton::put_into_ranges(Vector& lambda) const {
  bool moved = false;
  for (const int law : step_.free_laws()) {
    const Range& range = step_.branch(law).lambda;
    if (outside(range, lambda[law]) == 0) continue;
    lambda[law] = passed_bound(range, lambda[law]);
    moved = true;
  }
  return moved;
}

/// Is a λ outside? Of one that is not determined nothing can be said. `open` where neither doubles
/// nor 113 bits decide.
bool ModeNewton::lambda_is_outside(const Vector& d, const Vector& lambda, bool regular, bool& open) {
  for (const int law : step_.free_laws()) {
    const Range& range = step_.branch(law).lambda;
    const double by = outside(range, lambda[law]);
    if (by == 0) continue;
    if (!regular) {
      open = true;
      continue;
    }
    if (by > lambda_error(law, regular)) return true;
    const Side side = refined_side_of_lambda(d, lambda, law);
    if (side == Side::outside) return true;
    open = open || side == Side::open;
  }
  return false;
}

/// On which side of the end of its range is w? `open` where neither doubles nor 113 bits decide.
ModeNewton::Side ModeNewton::judge_argument(const Vector& d, const Vector& lambda, int law, double w, bool regular) {
  const Branch& branch = step_.branch(law);
  const double by = branch.b == 0 ? 0 : outside(branch.w, w);
  if (by == 0) return Side::inside;
  if (!(by <= (regular ? 1 : gate) * w_error(law, regular))) return Side::outside;
  return regular ? refined_side_of_w(d, lambda, law, w) : Side::open;
}

Admission ModeNewton::judge_w(const Vector& d, const Vector& lambda, const Vector& w, bool regular) {
  bool weak = false;
  for (int i = 0; i < step_.m(); ++i) {
    const Side side = judge_argument(d, lambda, i, w[i], regular);
    if (side == Side::outside) return Admission::outside;
    weak = weak || side == Side::open;
  }
  return weak ? Admission::weak : Admission::inside;
}

/// Do the rows hold with λ on its bound, or at a solution near? What the run has shown of its branch is kept.
bool ModeNewton::solves_again(Vector& d, Vector& lambda) {
  if (!step_.linearise(d, lambda)) return false;
  if (ask_gate(d, lambda) <= gate) return true;
  const bool local = local_;
  const int orientation = orientation_;
  const NewtonEnd end = iterate(d, lambda);
  local_ = local;
  orientation_ = orientation;
  return end == NewtonEnd::converged;
}

Admission ModeNewton::admit(Vector& d, Vector& lambda, Vector& w) {
  bool weak = false;
  has_moved_ = false;
  for (int projection = 0; projection < most_projections; ++projection) {
    step_.w(w);
    if (is_inside(lambda, w)) return weakened(Admission::inside, weak);
    const bool regular = factorise();
    begin_refinement();
    if (lambda_is_outside(d, lambda, regular, weak)) return Admission::outside;
    if (!put_into_ranges(lambda)) return weakened(judge_w(d, lambda, w, regular), weak);
    if (regular && has_moved_) break;  // its rows do not hold with λ in its range
    has_moved_ = true;
    if (!solves_again(d, lambda)) break;
  }
  return Admission::outside;
}

bool ModeNewton::is_inside(const Vector& lambda, const Vector& w) const {
  for (int i = 0; i < step_.m(); ++i) {
    const Branch& branch = step_.branch(i);
    if (branch.b != 0 && outside(branch.w, w[i]) > 0) return false;
    if (branch.a != 0 && outside(branch.lambda, lambda[i]) > 0) return false;
  }
  return true;
}

double ModeNewton::violation(const Vector& lambda, const Vector& w) const {
  double worst = 0;
  const auto compare = [&](const Range& range, double value) {
    const double by = outside(range, value);
    if (by > 0)
      worst = std::max(worst, by / (std::abs(value) + std::abs(passed_bound(range, value))));
  };
  for (int i = 0; i < step_.m(); ++i) {
    const Branch& branch = step_.branch(i);
    if (branch.b != 0) compare(branch.w, w[i]);
    if (branch.a != 0) compare(branch.lambda, lambda[i]);
  }
  return worst;
}

}  // namespace perp
