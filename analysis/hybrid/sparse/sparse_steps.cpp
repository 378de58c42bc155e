// Event capturing with many binaries: solve, call, choose, solve again.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include <perp/analysis/hybrid/sparse/sparse_steps.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {
namespace {

constexpr double unit_of_rounding = std::numeric_limits<double>::epsilon();
constexpr double surely_below = 1 - 4 * unit_of_rounding;  ///< of a bound: quotients below, for rounding
constexpr double near_zero =
    1e-8;  ///< corrections, of the unknowns, behind which the rows are looked at
constexpr double slow_contraction = 0.1;  ///< contraction below which a factorization is renewed
constexpr int most_corrections = 40;
constexpr int most_with_all = 3;  ///< corrections of all unknowns together, before rows are solved alone as well
constexpr int most_rounds = 30;  ///< of paths through a step
constexpr double settled_share =
    0x1p-20;  ///< of a step: to within it the moments of its changes are found
constexpr std::size_t most_factors = 8;  ///< step lengths

using Values = Eigen::Map<const Eigen::ArrayXd>;

/// Are all of these that are no larger together than numbers may be? False where there are none.
bool are_finite(const Values& values, const Values& errors) {
  return values.size() > 0 && std::isfinite((values.abs() + errors).sum());
}

/// Of each constraint: does it hold rates or algebraic variables?
std::vector<char> constraints_of_more(const HybridModel& model, const HybridStructure& structure) {
  std::vector<char> of_more;
  for (std::size_t row = model.f.size(); row < structure.unknowns_of_row.size(); ++row) {
    const std::vector<int>& unknowns = structure.unknowns_of_row[row];
    of_more.push_back(!unknowns.empty() && unknowns.front() < model.n() ? 1 : 0);
  }
  return of_more;
}

}  // namespace

SparseSteps::SparseSteps(const HybridModel& model, const HybridStructure& structure,
                         const Dcs& system)
    : model_(model),
      structure_(structure),
      all_rows_(system, model.q()),
      n_(model.n()),
      g_count_(static_cast<Eigen::Index>(model.g.size())),
      needs_more_(constraints_of_more(model, structure)),
      old_(needs_more_.size()),
      moved_(at(n_)),
      path_(model, structure, all_rows_.single_rows(), needs_more_),
      changed_(at(all_rows_.inputs())),
      inputs_(at(all_rows_.inputs()), 0),
      input_errors_(inputs_.size(), 0),
      rows_(at(all_rows_.count()), 0),
      errors_(rows_.size(), 0) {
  all_rows_.find_matrix(path_.rates(), system);
  if (!all_rows_.is_affine()) return;
  path_.rates().use_slopes();
  // Repetitions of a step in few rows: with one matrix for all z.
  local_.emplace(n_, structure_, all_rows_.places());
  if (!local_->serves()) local_.reset();
}

void SparseSteps::put(double t, double h) {
  inputs_[0] = t;
  std::copy(z_end_.begin(), z_end_.end(), inputs_.begin() + 1 + 2 * n_);
  put_states(h);
}

void SparseSteps::put_states(double h) {
  knows_changed_ = false;
  Eigen::Map<Vector>(inputs_.data() + 1, n_) = (x_end_ - begin_) / h;
  Eigen::Map<Vector>(inputs_.data() + 1 + n_, n_) = x_end_;
}

bool SparseSteps::is_strict_at(double t, const Vector& x, const std::vector<int>& z) {
  x_end_ = begin_ = x;
  z_end_ = z;
  put(t, 1);  // rates are 0
  std::fill(input_errors_.begin(), input_errors_.end(), 0.0);
  all_rows_.evaluate_bounded(inputs_.data(), input_errors_.data(), rows_.data(), errors_.data());
  for (int l = 0; l < g_count_; ++l)
    if (needs_more_[at(l)] != 0 || !(rows_[at(n_ + l)] < -errors_[at(n_ + l)]))
      return false;
  return std::all_of(structure_.is_state.begin(), structure_.is_state.end(),
                     [](char s) { return s != 0; });
}

void SparseSteps::from(double t, const Vector& x, const std::vector<int>& z,
                       const Vector& constraints) {
  t_ = t;
  x_ = x_end_ = x;
  z_ = z_end_ = z;
  g_start_ = constraints;
}

void SparseSteps::accept() {
  t_ = t_end_;
  x_.swap(x_end_);  // the next attempt begins with another end
  z_ = z_end_;
  g_start_ = constraints();
}

bool SparseSteps::renew(double h) {
  all_rows_.equations(inputs_.data(), rows_.data());
  all_rows_.matrix(inputs_.data(), h, values_);
  if (!std::all_of(values_.begin(), values_.end(), [](double v) { return std::isfinite(v); }))
    return false;
  auto place = factors_.find(h);
  if (place == factors_.end()) {
    if (factors_.size() == most_factors) factors_.clear();
    place = factors_.emplace(h, Factor{linear::SparseLu(n_, all_rows_.places())}).first;
  }
  place->second.values = values_;
  place->second.is_fresh = place->second.lu.factorise(values_);
  return place->second.is_fresh;
}

/// The equations at x_end_, with a factorization for this h.
bool SparseSteps::prepare(double t, double h) {
  put(t, h);
  if (!factors_.contains(h)) return renew(h);
  all_rows_.equations(inputs_.data(), rows_.data());
  return true;
}

/// Newton's correction in right_; its size as a share of the unknowns, infinite where it is no number.
double SparseSteps::correction(const Factor& factor) {
  right_ = Eigen::Map<const Vector>(rows_.data(), n_);
  factor.lu.solve(right_);
  if (!right_.allFinite()) return std::numeric_limits<double>::infinity();
  if (all_rows_.is_affine()) return 0;  // nobody asks how near it is
  double share = 0;
  for (int j = 0; j < n_; ++j) {
    const double size = std::max({std::abs(x_end_[j]), std::abs(x_[j]), std::abs(right_[j])});
    if (right_[j] != 0) share = std::max(share, std::abs(right_[j]) / size);
  }
  return share;
}

/// The rows at the present state, the constraints alone where the equations are not looked at; do they serve?
bool SparseSteps::arrives(double h, Until until) {
  put_states(h);
  if (until == Until::zero) {
    look_at_rows(h);
    return is_zero_at_end();
  }
  all_rows_.constraints(inputs_.data(), rows_.data() + n_);
  return true;
}

/// Is the contraction slow, with a factorization that is not of this point?
bool SparseSteps::wants_renewal(const Factor& factor, double share, double before) const {
  const bool is_slow = share > slow_contraction * before && share > 64 * unit_of_rounding;
  return is_slow && !all_rows_.is_affine() && !factor.is_fresh;
}

/// Is a correction, with the one before, so small that the rows are to be looked at? Affine ones are in any case.
bool SparseSteps::is_near(double share, double before) const {
  return all_rows_.is_affine() || share <= near_zero || (before < 1 && share * share <= near_zero * before);
}

/// Do the rows serve behind a correction: where it was small all of them, at last with some solved alone?
bool SparseSteps::ends(double h, Until until, bool is_small, int corrections) {
  return (is_small && arrives(h, until)) || (corrections >= most_with_all && arrives_by_rows(h));
}

/// Modified Newton's method from x_end_, until every row is 0 within its gate, or without looking
/// at that.
bool SparseSteps::solve(double t, double h, Until until) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double before = infinite;
  if (const auto known = factors_.find(h); known != factors_.end()) known->second.is_fresh = false;
  for (int iteration = 0; iteration < most_corrections; ++iteration) {
    ++iterations_;
    if (!prepare(t, h)) return false;
    const Factor& factor = factors_.at(h);
    const double share = correction(factor);
    if (share == infinite) return false;
    if (wants_renewal(factor, share, before)) {
      if (!renew(h)) return false;  // and this correction is not made
      before = infinite;
      continue;
    }
    x_end_ -= right_;
    const bool is_small = is_near(share, before);
    before = share;
    if (ends(h, until, is_small, iteration)) return true;
  }
  return false;
}

/// Rows and bounds of their errors at the present state, which the inputs are those of.
void SparseSteps::look_at_rows(double h) {
  Eigen::Map<Vector> errors(input_errors_.data() + 1 + n_, n_);
  errors = unit_of_rounding / 2 * x_end_.cwiseAbs();
  Eigen::Map<Vector>(input_errors_.data() + 1, n_) = 2 * errors / h;
  all_rows_.evaluate_bounded(inputs_.data(), input_errors_.data(), rows_.data(), errors_.data());
}

/// Is every equation clearly within its gate, each with a bound that is not 0? Seen at once, with the residual.
bool SparseSteps::is_clearly_zero() {
  const Values F(rows_.data(), n_), e(errors_.data(), n_);
  if (!are_finite(F, e) || !(e.minCoeff() > 0)) return false;
  residual_ = (F.abs() / e).maxCoeff();
  return residual_ < surely_below * most_rounding;
}

/// Is every equation 0 within its gate?
bool SparseSteps::is_zero_at_end() {
  if (is_clearly_zero()) return true;
  residual_ = 0;
  for (int i = 0; i < n_; ++i) {
    const double size = std::abs(rows_[at(i)]), error = errors_[at(i)];
    if (!(size <= most_rounding * error) || !std::isfinite(error)) return size == 0;
    // Most quotients are smaller than one before, which is seen without them.
    if (size > residual_ * error * surely_below && size > 0) residual_ = std::max(residual_, size / error);
  }
  return true;
}

/// Constraints that are positive by more than their rounding. False: one is no number.
bool SparseSteps::find_violated() {
  const Values g(rows_.data() + n_, g_count_), error(errors_.data() + n_, g_count_);
  is_violated_ = (g > error).any();
  return g.size() == 0 || are_finite(g, error) || (g.isFinite() && error.isFinite()).all();
}

PiecewisePath::End SparseSteps::end_of_path() {
  return {inputs_, rows_.data() + n_, errors_.data() + n_, knows_changed_ ? &changed_ : nullptr};
}

bool SparseSteps::follow_path() {
  renew_constraints();
  const bool is_decided = path_.follow(end_of_path());
  changed_.clear();
  knows_changed_ = true;
  return is_decided;
}

/// Of the changes of the last path: their moments and the steps from the starts that they shift, one after the
/// other, until the next ones will stay where they are. The path that follows looks at everything again. False: a
/// step was not solved.
bool SparseSteps::repeat_path(double t, double h) {
  double before = 1;
  for (int round = 0; round < most_rounds; ++round) {
    const std::optional<double> moved = path_.retime(end_of_path());
    changed_.clear();
    knows_changed_ = true;
    if (!moved) return true;
    if (!follow_shift(t, h)) return false;
    if (round > 0 && before > 0) contraction_ = *moved / before;
    if (*moved * contraction_ <= settled_share) return true;
    before = *moved;
  }
  return true;
}

/// The step from the start that the path shifts, and where that is done in few rows the moments of its changes.
bool SparseSteps::repeat(double t, double h) { return follow_shift(t, h) && (!local_ || repeat_path(t, h)); }

/// Ways through the step and steps from the starts that they shift, one after the other, until the
/// moments of the changes stay and nothing is violated at the end.
bool SparseSteps::settle(double t, double h) {
  for (int round = 0; round < most_rounds; ++round) {
    check_interruption();
    if (!follow_path()) return false;
    if (round > 0 && path_.is_settled(settled_share)) {
      if (!confirm(t, h)) return false;
      if (!is_violated_) return true;
    }
    if (!repeat(t, h)) return false;
  }
  return false;
}

/// The step in the last values of the path, from the start that the path shifts.
bool SparseSteps::follow_shift(double t, double h) {
  find_differences();
  if (local_ && solve_locally(h)) return true;
  path_.guess(x_end_);
  return solve(t, h, Until::near);
}

void SparseSteps::renew_constraints() {
  for (const int l : old_.numbers()) rows_[at(n_ + l)] = path_.rates().row(n_ + l, inputs_);
  old_.clear();
  moved_.clear();
}

/// The gate of the step, and what is violated at its end.
bool SparseSteps::confirm(double t, double h) {
  look_at_rows(h);
  return (is_zero_at_end() || solve(t, h, Until::zero)) && find_violated();
}

bool SparseSteps::attempt(double t_next, double h) {
  t_end_ = t_next;
  x_end_ = begin_ = x_;
  z_end_ = z_;
  moved_by_either_.begin();
  flipped_by_either_.begin();
  path_.begin(t_, h, x_, z_, g_start_);
  check_interruption();
  if (!solve(t_next, h, Until::near)) return false;
  // By the errors of the step before; those of this one decide where nothing is violated.
  is_violated_ = false;
  for (std::size_t row = at(n_); row < rows_.size() && !is_violated_; ++row)
    is_violated_ = rows_[row] > errors_[row];
  if ((!is_violated_ || !has_errors_) && !confirm(t_next, h)) return false;
  has_errors_ = true;
  return !is_violated_ || settle(t_next, h);
}

void SparseSteps::transfer(Archive& archive) {
  archive(t_, x_, z_, g_start_, t_end_, residual_, errors_, has_errors_, contraction_, iterations_);
  std::vector<double> lengths;
  for (const auto& [h, factor] : factors_) lengths.push_back(h);
  archive(lengths);
  if (archive.is_reading()) {
    local_h_ = 0;
    factors_.clear();
    for (const double h : lengths) factors_.emplace(h, Factor{linear::SparseLu(n_, all_rows_.places())});
  }
  for (auto& [h, factor] : factors_) archive(factor.lu, factor.is_fresh, factor.values);
  archive(path_);
}

long SparseSteps::factorisations() const {
  long count = 0;
  for (const auto& [h, factor] : factors_) count += factor.lu.factorisations();
  return count;
}

}  // namespace perp
