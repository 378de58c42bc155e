#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {
namespace {

constexpr int most_halvings = 1074;     ///< of a step: the range of doubles
constexpr double cancelled = 0x1p-48;   ///< share of a difference's terms that is their rounding
constexpr double noise = 0x1p-26;       ///< share of the unknowns that no branch is apart by

/// Does a row need this entry of a direction? Where it is nothing beside another term, or the row
/// is 0 to rounding already, the entry may as well be 0; units that are far off do not matter to
/// that.
bool is_needed(const ImplicitStep& step, const std::vector<double>& direction, std::size_t entry,
               const double* errors) {
  bool needed = false;
  step.for_each_in_column(entry, [&](std::size_t i, double slope) {
    const double term = std::abs(slope * direction[entry]);
    if (needed || term == 0 || std::abs(step.residual()[i]) <= (errors == nullptr ? 0 : errors[i])) return;
    double largest = 0;
    step.for_each_in_row(i, [&](std::size_t k, double other) { largest = std::max(largest, std::abs(other * direction[k])); });
    needed = term > cancelled * largest;
  });
  return needed;
}

/// Makes 0 of what elimination leaves of a zero, in a direction of this size in scaled unknowns.
void drop_rests(const ImplicitStep& step, const StepFactor& lu, double size, const double* errors,
                std::vector<double>& direction) {
  for (std::size_t j = 0; j < static_cast<std::size_t>(step.size()); ++j) {
    double& entry = direction[j];
    const double rest = cancelled * size * lu.column_scale(static_cast<int>(j));
    if (entry != 0 && std::abs(entry) <= rest && !is_needed(step, direction, j, errors)) entry = 0;
  }
}

}  // namespace

const char* describe(NewtonEnd end) {
  switch (end) {
    case NewtonEnd::converged: return "converged";
    case NewtonEnd::inconsistent: return "the equations contradict each other";
    case NewtonEnd::domain: return "Newton's method left the domain of the equations";
    case NewtonEnd::indefinite:
      return "the equations hold to rounding far around every point found: their solution is at "
             "infinity, or there is none";
    case NewtonEnd::stalled: return "Newton's method did not converge";
    case NewtonEnd::exhausted:
      return "the iterations of Newton's method that one step may take have run out";
  }
  return "";
}

ModeNewton::ModeNewton(ImplicitStep& step) : step_(step), lu_(step) {
  const auto all = static_cast<std::size_t>(step.n() + step.m());
  for (std::vector<double>* list :
       {&direction_, &work_, &way_out_, &before_, &milestone_, &last_errors_, &floor_})
    list->resize(all);
  asked_.reserve(static_cast<std::size_t>(step.m()));
  d_trial_ = Vector::Zero(step.n());
  lambda_trial_ = Vector::Zero(step.m());
  d_error_ = d_trial_;
  w_ = given_ = lambda_from_ = lambda_error_ = lambda_trial_;
}

/// Does a solution of J y = F hold in every row, beside the terms of that row or its rounding? Elimination in scaled unknowns may lose
/// those that are small beside others.
bool ModeNewton::holds_in_rows(const std::vector<double>& solution) const {
  const auto size = static_cast<std::size_t>(step_.size());
  for (std::size_t i = 0; i < size; ++i) {
    double rest = step_.residual()[i], terms = std::abs(rest);
    step_.for_each_in_row(i, [&](std::size_t j, double entry) {
      const double term = entry * solution[j];
      rest -= term;
      terms += std::abs(term);
    });
    if (!(std::abs(rest) <= std::max(noise * terms, gate_known_ ? last_errors_[i] : 0))) return false;
  }
  return true;
}

/// J⁻¹ F in place of the direction's F, of a small step by the blocks of J where one row asks for it.
void ModeNewton::solve_direction(bool by_blocks) {
  lu_.solve(direction_.data());
  if (step_.is_large()) {
    if (!holds_in_rows(direction_)) refine_once();
  } else if (by_blocks || !holds_in_rows(direction_)) {
    by_blocks_ = blocks_.factorise(step_.jacobian(), step_.size(), step_.units());
    std::copy_n(step_.residual(), static_cast<std::size_t>(step_.size()), direction_.begin());
    solve(direction_);
  }
}

/// The Newton step at the last point. False: the equations contradict each other.
bool ModeNewton::direction(bool by_blocks) {
  const auto size = static_cast<std::size_t>(step_.size());
  std::copy_n(step_.residual(), size, direction_.begin());
  regular_now_ = factorise();
  if (regular_now_) {
    solve_direction(by_blocks);
    orientation_ = lu_.determinant_sign();
  } else {
    singular_ = true;
    remainder_ = lu_.solve_least_squares(work_.data());
    std::copy_n(work_.begin(), size, direction_.begin());
  }
  for (double& value : direction_) value = -value;
  const bool moves = std::any_of(direction_.begin(), direction_.begin() + step_.size(),
                                 [](double d) { return d != 0; });
  return regular_now_ || (remainder_.share < 1 - 1e-6 && (moves || !remainder_.contradicts));
}

/// The direction of a large step, whose factors are by blocks: once more what it leaves of the rows.
void ModeNewton::refine_once() {
  const auto size = static_cast<std::size_t>(step_.size());
  rest_.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    rest_[i] = step_.residual()[i];
    step_.for_each_in_row(i, [&](std::size_t j, double entry) { rest_[i] -= entry * direction_[j]; });
  }
  lu_.solve(rest_.data());
  for (std::size_t j = 0; j < size; ++j) direction_[j] += rest_[j];
}

/// Makes 0 of what elimination leaves of a zero in the direction; by blocks it leaves nothing.
void ModeNewton::drop_small_rests() {
  size_ = scaled_size(direction_);
  if (!by_blocks_)
    drop_rests(step_, lu_, size_, gate_known_ ? last_errors_.data() : nullptr, direction_);
}

/// Size of the next correction with the present matrix, in scaled unknowns.
double ModeNewton::correction() {
  std::copy_n(step_.residual(), static_cast<std::size_t>(step_.size()), work_.begin());
  solve(work_);
  return scaled_size(work_);
}

/// J⁻¹ of a vector, by the blocks of J where the last direction was.
void ModeNewton::solve(std::vector<double>& right) const {
  if (by_blocks_)
    blocks_.solve(right.data());
  else
    lu_.solve(right.data());
}

/// Largest entry in scaled unknowns.
double ModeNewton::scaled_size(const std::vector<double>& step) const {
  double largest = 0;
  for (int j = 0; j < step_.size(); ++j)
    largest = std::max(largest, std::abs(step[static_cast<std::size_t>(j)]) / lu_.column_scale(j));
  return largest;
}

/// Is every entry of the next correction smaller than that of the step, or rounding of its unknown?
/// The largest one may be rounding while others still fall.
bool ModeNewton::corrections_fell() const {
  for (std::size_t j = 0; j < static_cast<std::size_t>(step_.size()); ++j)
    if (!(std::abs(work_[j]) <= std::max(std::abs(direction_[j]) / 2, floor_[j]))) return false;
  return true;
}

/// The rounding of the unknowns at the last point: a variable near 0 has that of its step d.
void ModeNewton::write_floor(const Vector& d, const Vector& lambda) {
  for (int j = 0; j < step_.n(); ++j)
    floor_[static_cast<std::size_t>(j)] =
        2 * half_ulp(std::max(std::abs(step_.variable(j)), std::abs(d[j])));
  for (std::size_t k = 0; k < step_.free_laws().size(); ++k)
    floor_[static_cast<std::size_t>(step_.n()) + k] = 2 * half_ulp(lambda[step_.free_laws()[k]]);
}

/// Is the step no more than noise beside the unknowns themselves? Then it leads to no other branch.
bool ModeNewton::is_rounding(const Vector& lambda) {
  for (int j = 0; j < step_.n(); ++j) work_[static_cast<std::size_t>(j)] = step_.variable(j);
  for (std::size_t k = 0; k < step_.free_laws().size(); ++k)
    work_[static_cast<std::size_t>(step_.n()) + k] = lambda[step_.free_laws()[k]];
  return size_ <= noise * scaled_size(work_);
}

/// Has every row fallen to this share of what it was before the step, or to its rounding? A share
/// of 1, as 1 - 2^-54 is in doubles, is no fall.
bool ModeNewton::rows_fell(double share) const {
  for (std::size_t i = 0; i < static_cast<std::size_t>(step_.size()); ++i) {
    const double now = std::abs(step_.residual()[i]), before = std::abs(before_[i]);
    const bool fell = now == 0 || (now <= share * before && now < before);
    if (!fell && !(gate_known_ && now <= gate * last_errors_[i])) return false;
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

/// Is the step by 2^-halvings of the direction acceptable? The step stands linearised there.
bool ModeNewton::try_share(const Vector& d, const Vector& lambda, int halvings, bool& finite) {
  const double share = std::ldexp(1.0, -halvings);
  share_ = halvings;
  step_.move(d, lambda, share, direction_.data(), d_trial_, lambda_trial_);
  if (halvings == 0) step_.snap(direction_.data(), cancelled, d_trial_, lambda_trial_);
  if (!step_.linearise(d_trial_, lambda_trial_)) {
    left_domain_ = true;
    return false;
  }
  finite = true;
  next_size_ = regular_now_ ? correction() : inf;
  return next_size_ <= (1 - share / 4) * size_ || (regular_now_ && corrections_fell()) ||
         rows_fell(regular_now_ ? 0.5 : 1 - share / 4);
}

/// Did the step tried last move nothing?
bool ModeNewton::stays_at(const Vector& d, const Vector& lambda) const {
  return d_trial_ == d && lambda_trial_ == lambda;
}

/// The longest acceptable share of the direction, by halvings that double and a bisection between
/// the last two: steps may be too long by hundreds of powers of ten. False: none is.
bool ModeNewton::search_line(const Vector& d, const Vector& lambda, bool& finite) {
  int refused = -1, halvings = 0;
  while (!try_share(d, lambda, halvings, finite)) {
    if (halvings >= most_halvings || (finite && stays_at(d, lambda))) return false;
    refused = halvings;
    halvings = std::clamp(2 * halvings, 1, most_halvings);
  }
  while (halvings - refused > 1) {
    const int middle = refused + (halvings - refused) / 2;
    (try_share(d, lambda, middle, finite) ? halvings : refused) = middle;
  }
  return share_ == halvings || try_share(d, lambda, halvings, finite);
}

/// The residual in units of its error at the point where the step is linearised.
double ModeNewton::ask_gate(const Vector& d, const Vector& lambda) {
  residual_ = step_.bound(d, lambda);
  std::copy_n(step_.errors(), static_cast<std::size_t>(step_.size()), last_errors_.begin());
  gate_known_ = true;
  asked_.clear();
  for (const int law : step_.free_laws()) asked_.push_back({law, &step_.branch(law)});
  return residual_;
}

void ModeNewton::transfer(Archive& archive) {
  std::vector<std::pair<int, int>> asked;  // law and branch
  const Laws& laws = step_.laws();
  for (const auto& [law, branch] : asked_)
    asked.emplace_back(law, static_cast<int>(branch - laws[static_cast<std::size_t>(law)].branches.data()));
  archive(asked, last_errors_, gate_known_, near_only_, refined_signs_, iterations_, allowed_);
  lu_.transfer(archive);
  if (!archive.is_reading()) return;
  asked_.clear();
  for (const auto& [law, branch] : asked)
    asked_.push_back(
        {law, &laws[static_cast<std::size_t>(law)].branches[static_cast<std::size_t>(branch)]});
}

/// Are the rows those of which the gate knows errors?
bool ModeNewton::has_asked_rows() const {
  const std::vector<int>& laws = step_.free_laws();
  return std::equal(laws.begin(), laws.end(), asked_.begin(), asked_.end(),
                    [&](int law, const Asked& asked) { return law == asked.law && &step_.branch(law) == asked.branch; });
}

bool ModeNewton::factorise() {
  by_blocks_ = false;
  return lu_.factorise();
}

}  // namespace perp
