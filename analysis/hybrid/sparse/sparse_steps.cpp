// Event capturing with many binaries: solve, call, choose, solve again.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/analysis/hybrid/sparse/sparse_steps.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {
namespace {

constexpr double unit_of_rounding = std::numeric_limits<double>::epsilon();
constexpr double near_zero = 1e-8;           ///< corrections, of the unknowns, behind which the rows are looked at
constexpr double slow_contraction = 0.1;            ///< contraction below which a factorization is renewed
constexpr int most_corrections = 40;
constexpr int most_rounds = 60;         ///< of changes in a step
constexpr std::size_t most_together = 20;  ///< binaries of a sub-problem whose values are tried
constexpr double equal_rates = 1e-11;   ///< share of a norm of rates
constexpr std::size_t most_factors = 8; ///< step lengths

}  // namespace

SparseSteps::SparseSteps(const HybridModel& model, const HybridStructure& structure, const Dcs& system)
    : model_(model),
      structure_(structure),
      evaluator_(system),
      n_(model.n()),
      q_(model.q()),
      g_count_(static_cast<Eigen::Index>(model.g.size())),
      inputs_(at(evaluator_.inputs()), 0),
      input_errors_(inputs_.size(), 0),
      rows_(at(evaluator_.n() + evaluator_.m()), 0),
      errors_(rows_.size(), 0),
      derivatives_(evaluator_.entries().size(), 0),
      changed_(at(model.q()), 0) {
  find_terms();
}

/// ∂F/∂ẋ / h + ∂F/∂x, on one pattern.
void SparseSteps::find_terms() {
  std::map<std::pair<int, int>, std::size_t> place_of;
  std::vector<char> moves(evaluator_.entries().size(), 0);
  for (const DcsEvaluator::Variable& variable : evaluator_.variable_entries()) moves[variable.entry] = 1;
  needs_more_.assign(at(g_count_), 0);
  for (std::size_t k = 0; k < evaluator_.entries().size(); ++k) {
    const auto [row, column] = evaluator_.entries()[k];
    const bool by_rate = column < 1 + n_;
    const int j = column - 1 - (by_rate ? 0 : n_);
    if (j < 0 || j >= n_) continue;  // t, binaries
    if (row < n_) {
      const auto [place, is_new] = place_of.try_emplace({row, j}, places_.size());
      if (is_new) places_.push_back({row, j});
      terms_.push_back({k, place->second, by_rate});
      is_affine_ = is_affine_ && moves[k] == 0;
    } else if (row >= n_ + q_ && (by_rate || structure_.is_state[at(j)] == 0)) {
      needs_more_[at(row - n_ - q_)] = 1;
    }
  }
  values_.assign(places_.size(), 0);
}

void SparseSteps::put(double t) {
  inputs_[0] = t;
  for (int j = 0; j < n_; ++j) inputs_[at(1 + n_ + j)] = x_end_[j];
  for (int i = 0; i < q_; ++i) inputs_[at(1 + 2 * n_ + i)] = z_end_[at(i)];
}

bool SparseSteps::is_strict_at(double t, const Vector& x, const std::vector<int>& z) {
  x_end_ = x;
  z_end_ = z;
  put(t);
  std::fill(inputs_.begin() + 1, inputs_.begin() + 1 + n_, 0.0);
  std::fill(input_errors_.begin(), input_errors_.end(), 0.0);
  evaluator_.evaluate_bounded(inputs_.data(), input_errors_.data(), rows_.data(), errors_.data());
  for (int l = 0; l < g_count_; ++l)
    if (needs_more_[at(l)] != 0 || !(rows_[at(n_ + q_ + l)] < -errors_[at(n_ + q_ + l)])) return false;
  return std::all_of(structure_.is_state.begin(), structure_.is_state.end(), [](char s) { return s != 0; });
}

void SparseSteps::from(double t, const Vector& x, const std::vector<int>& z) {
  t_ = t;
  x_ = x_end_ = x;
  z_ = z_end_ = z;
  has_start_ = false;
}

void SparseSteps::accept() {
  t_ = t_end_;
  x_ = x_end_;
  z_ = z_end_;
  g_start_ = constraints();
  has_start_ = true;
}

bool SparseSteps::renew(double h) {
  evaluator_.linearize(inputs_.data(), rows_.data(), derivatives_.data());
  std::fill(values_.begin(), values_.end(), 0.0);
  for (const Term& term : terms_)
    values_[term.place] += term.by_rate ? derivatives_[term.entry] / h : derivatives_[term.entry];
  if (!std::all_of(values_.begin(), values_.end(), [](double v) { return std::isfinite(v); })) return false;
  auto place = factors_.find(h);
  if (place == factors_.end()) {
    if (factors_.size() == most_factors) factors_.clear();
    place = factors_.emplace(h, Factor{linear::SparseLu(n_, places_), false}).first;
  }
  place->second.is_fresh = place->second.lu.factorise(values_);
  return place->second.is_fresh;
}

/// The residual at x_end_, with a factorization for this h.
bool SparseSteps::prepare(double t, double h) {
  put(t);
  for (int j = 0; j < n_; ++j) inputs_[at(1 + j)] = (x_end_[j] - x_[j]) / h;
  if (!factors_.contains(h)) return renew(h);
  evaluator_.evaluate(inputs_.data(), rows_.data());
  return true;
}

/// Newton's correction in right_; its size as a share of the unknowns.
double SparseSteps::correction(const Factor& factor) {
  right_ = Eigen::Map<const Vector>(rows_.data(), n_);
  factor.lu.solve(right_);
  double share = 0;
  for (int j = 0; j < n_; ++j) {
    const double size = std::max({std::abs(x_end_[j]), std::abs(x_[j]), std::abs(right_[j])});
    if (right_[j] != 0) share = std::max(share, std::abs(right_[j]) / size);
  }
  return right_.allFinite() ? share : std::numeric_limits<double>::infinity();
}

/// Modified Newton's method from x_end_, until every row is 0 within its gate.
bool SparseSteps::solve(double t, double h) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double before = infinite;
  if (const auto known = factors_.find(h); known != factors_.end()) known->second.is_fresh = false;
  for (int iteration = 0; iteration < most_corrections; ++iteration) {
    ++iterations_;
    if (!prepare(t, h)) return false;
    const Factor& factor = factors_.at(h);
    const double share = correction(factor);
    if (share == infinite) return false;
    const bool is_slow = share > slow_contraction * before && share > 64 * unit_of_rounding;
    if (is_slow && !is_affine_ && !factor.is_fresh) {
      if (!renew(h)) return false;  // and this correction is not made
      before = infinite;
      continue;
    }
    x_end_ -= right_;
    const bool is_near = share <= near_zero || (before < 1 && share * share <= near_zero * before);
    before = share;
    if ((is_affine_ || is_near) && look_at_rows(t, h)) return true;
  }
  return false;
}

/// Rows and bounds of their errors at the present state; are the equations 0?
bool SparseSteps::look_at_rows(double t, double h) {
  put(t);
  for (int j = 0; j < n_; ++j) {
    inputs_[at(1 + j)] = (x_end_[j] - x_[j]) / h;
    const double error = unit_of_rounding / 2 * std::abs(x_end_[j]);
    input_errors_[at(1 + n_ + j)] = error;
    input_errors_[at(1 + j)] = 2 * error / h;
  }
  evaluator_.evaluate_bounded(inputs_.data(), input_errors_.data(), rows_.data(), errors_.data());
  residual_ = 0;
  for (int i = 0; i < n_; ++i) {
    const double size = std::abs(rows_[at(i)]);
    if (!(size <= most_rounding * errors_[at(i)]) || !std::isfinite(errors_[at(i)])) return size == 0;
    if (size > 0) residual_ = std::max(residual_, size / errors_[at(i)]);
  }
  return true;
}

double SparseSteps::rate_norm(double h) const {
  double sum = 0;
  for (int j = 0; j < n_; ++j) {
    if (structure_.is_state[at(j)] == 0) continue;
    const double rate = (x_end_[j] - x_[j]) / h / model_.head.variables[at(j)].nominal;
    sum += rate * rate;
  }
  return sum;
}

void SparseSteps::flip(int i) {
  z_end_[at(i)] = 1 - z_end_[at(i)];
  rows_at_end_->set(model_.binary_input(i), z_end_[at(i)]);
}

/// The sets of binaries, as small as any, with whose other values the constraints of a sub-problem are allowed at
/// the end of the step. All of one size before the next one; those of the binaries declared first come first.
std::vector<std::vector<int>> SparseSteps::nearest_allowed(const SubProblem& sub,
                                                           const std::vector<int>& own) {
  if (!rows_at_end_) {
    const Tape tape = model_.closed(row_lines_);
    rows_at_end_ = std::make_unique<IncrementalTape>(tape, row_lines_);
  }
  if (!has_rows_at_end_) rows_at_end_->evaluate(inputs_);
  has_rows_at_end_ = true;
  std::vector<std::vector<int>> allowed;
  for (std::size_t distance = 1; distance <= own.size() && allowed.empty(); ++distance) {
    std::vector<char> taken(own.size(), 0);
    std::fill(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(distance), 1);
    do {
      check_interruption();
      std::vector<int> set;
      for (std::size_t k = 0; k < own.size(); ++k)
        if (taken[k] != 0) set.push_back(own[k]);
      for (const int i : set) flip(i);
      const bool is_allowed = std::all_of(sub.rows.begin(), sub.rows.end(), [&](int row) {
        return rows_at_end_->value(row_lines_[at(row)]) <= errors_[at(q_ + row)];
      });
      for (const int i : set) flip(i);
      if (is_allowed) allowed.push_back(std::move(set));
    } while (std::prev_permutation(taken.begin(), taken.end()));
  }
  return allowed;
}

/// Of sets that are equally near the one whose step has the smallest rate norm, the first of equal ones.
SparseSteps::Choice SparseSteps::by_rates(const std::vector<std::vector<int>>& sets, double t, double h,
                                          Change& change) {
  const Vector x_before = x_end_;
  const std::vector<double> rows = rows_, errors = errors_, inputs = inputs_;
  double least = std::numeric_limits<double>::infinity();
  change.decided_by = "smallest rate norm";
  for (const std::vector<int>& set : sets) {
    for (const int i : set) z_end_[at(i)] = 1 - z_end_[at(i)];
    const bool is_solved = solve(t, h);
    const double norm = is_solved ? rate_norm(h) : std::numeric_limits<double>::infinity();
    for (const int i : set) z_end_[at(i)] = 1 - z_end_[at(i)];
    x_end_ = x_before;
    if (!std::isfinite(norm)) return Choice::open;
    const bool is_equal = std::isfinite(least) && std::abs(norm - least) <= equal_rates * std::max(norm, least);
    if (is_equal) change.decided_by = "first declared binary changes";
    if (is_equal || norm >= least) continue;
    least = norm;
    change.binaries = set;
    change.decided_by = "smallest rate norm";
  }
  rows_ = rows;
  errors_ = errors;
  inputs_ = inputs;
  return Choice::made;
}

/// The binaries of a sub-problem that change: of its values that its constraints allow at the end of the
/// step the nearest, of several the one whose step has the smallest rate norm.
SparseSteps::Choice SparseSteps::choose(int block, double t, double h, Change& change) {
  const SubProblem& sub = structure_.blocks[at(block)];
  std::vector<int> own;
  for (const int unknown : sub.unknowns)
    if (unknown >= n_) own.push_back(unknown - n_);
  const bool has_changed = std::any_of(own.begin(), own.end(), [&](int i) { return changed_[at(i)] != 0; });
  if (has_changed || own.empty() || own.size() > most_together) return Choice::open;
  change.decided_by = "fewest changes outside the called sub-problems";
  change.binaries = own;
  if (own.size() == 1) return Choice::made;
  const int equations = static_cast<int>(model_.f.size());
  if (std::any_of(sub.rows.begin(), sub.rows.end(), [&](int row) { return row < equations; }))
    return Choice::open;
  const std::vector<std::vector<int>> sets = nearest_allowed(sub, own);
  if (sets.empty()) return Choice::open;
  if (sets.size() > 1) return by_rates(sets, t, h, change);
  change.binaries = sets.front();
  change.decided_by = "fewest changes inside";
  return Choice::made;
}

/// The sub-problems of violated rows; false: one is left open.
bool SparseSteps::change_called(double t, double h) {
  has_rows_at_end_ = false;
  const int equations = static_cast<int>(model_.f.size());
  std::vector<Change> made;
  std::vector<int> blocks;
  for (const int l : violated_) {
    const int block = structure_.block_of_row[at(equations + l)];
    if (std::find(blocks.begin(), blocks.end(), block) != blocks.end()) continue;
    blocks.push_back(block);
    Change change;
    change.constraint = l;
    if (choose(block, t, h, change) == Choice::open) return false;
    const double end = rows_[at(n_ + q_ + l)];
    const double begin = has_start_ ? std::min(g_start_[l], 0.0) : 0;
    change.share = begin < 0 ? begin / (begin - end) : 0;
    made.push_back(std::move(change));
  }
  for (Change& change : made) {
    for (const int i : change.binaries) {
      z_end_[at(i)] = 1 - z_end_[at(i)];
      changed_[at(i)] = 1;
    }
    changes_.push_back(std::move(change));
  }
  return true;
}

/// Constraints that are positive by more than their rounding. False: one is no number.
bool SparseSteps::find_violated() {
  violated_.clear();
  for (int l = 0; l < g_count_; ++l) {
    const double g = rows_[at(n_ + q_ + l)], error = errors_[at(n_ + q_ + l)];
    if (!std::isfinite(g) || !std::isfinite(error)) return false;
    if (g > error) violated_.push_back(l);
  }
  return true;
}

bool SparseSteps::attempt(double t_next, double h) {
  t_end_ = t_next;
  x_end_ = x_;
  z_end_ = z_;
  for (const Change& change : changes_)
    for (const int i : change.binaries) changed_[at(i)] = 0;
  changes_.clear();
  for (int round = 0; round < most_rounds; ++round) {
    check_interruption();
    if (!solve(t_next, h) || !find_violated()) return false;
    if (violated_.empty()) return true;
    if (!change_called(t_next, h)) return false;
  }
  return false;
}

long SparseSteps::factorisations() const {
  long count = 0;
  for (const auto& [h, factor] : factors_) count += factor.lu.factorisations();
  return count;
}

}  // namespace perp
