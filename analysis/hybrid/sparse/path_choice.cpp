#include <algorithm>
#include <cmath>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/analysis/hybrid/nearest_mode.hpp>
#include <perp/analysis/hybrid/sparse/piecewise_path.hpp>
#include <perp/analysis/hybrid/sparse/path_choice.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>

namespace perp {
namespace {

constexpr std::size_t most_together = 20;  ///< binaries of a sub-problem whose values are tried
constexpr std::size_t most_counted = 6;    ///< whose values are counted

/// Those of a list that are taken, in its order.
std::vector<int> taken_of(const std::vector<int>& own, const std::vector<char>& is_taken) {
  std::vector<int> set;
  for (std::size_t k = 0; k < own.size(); ++k)
    if (is_taken[k] != 0) set.push_back(own[k]);
  return set;
}

}  // namespace

PathChoice::PathChoice(const HybridModel& model, const HybridStructure& structure, LocalRates& rates)
    : model_(model),
      structure_(structure),
      rates_(rates),
      n_(model.n()),
      equations_(static_cast<int>(model.f.size())) {}

bool PathChoice::choose(const SubProblem& sub, const Set& own, const Place& place, PiecewisePath& path,
                       PathChange& change) {
  change.binaries = own;
  change.decided_by = "fewest changes outside the called sub-problems";
  change.continuations = 1;
  if (own.size() == 1) return true;
  const bool holds_equations =
      std::any_of(sub.rows.begin(), sub.rows.end(), [&](int row) { return row < equations_; });
  std::vector<Set> sets;
  if (holds_equations || own.size() > most_together || !nearest(sub, own, place, path, sets))
    return false;
  change.continuations = count_allowed(sub, own, place, path);
  if (sets.size() > 1) return by_rates(sets, place, path, change);
  change.binaries = sets.front();
  change.decided_by = "fewest changes inside";
  return true;
}

/// All sets of one size before the next one; those of the binaries declared first come first.
bool PathChoice::nearest(const SubProblem& sub, const Set& own, const Place& place, PiecewisePath& path,
                        std::vector<Set>& sets) {
  for (std::size_t distance = 1; distance <= own.size(); ++distance) {
    std::vector<char> taken(own.size(), 0);
    std::fill(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(distance), 1);
    bool is_by_others = false;
    do {
      check_interruption();
      Set set = taken_of(own, taken);
      const Verdict verdict = judge(sub, set, place, path);
      if (verdict == Verdict::open) return false;
      is_by_others = is_by_others || verdict == Verdict::excluded_by_others;
      if (verdict == Verdict::allowed) sets.push_back(std::move(set));
    } while (std::prev_permutation(taken.begin(), taken.end()));
    // What others exclude may be nearest together with changes of these.
    if (!sets.empty() || is_by_others) return !sets.empty();
  }
  return false;
}

/// Of all values of the sub-problem's binaries, of which the present ones do not go on; 0 where one is left open.
int PathChoice::count_allowed(const SubProblem& sub, const Set& own, const Place& place, PiecewisePath& path) {
  if (own.size() > most_counted) return 0;
  int count = 0;
  for (unsigned values = 1; values < 1U << own.size(); ++values) {
    Set set;
    for (std::size_t k = 0; k < own.size(); ++k)
      if ((values >> k & 1U) != 0) set.push_back(own[k]);
    const Verdict verdict = judge(sub, set, place, path);
    if (verdict == Verdict::open) return 0;
    if (verdict == Verdict::allowed) ++count;
  }
  return count;
}

/// The constraints that hold these binaries, by their values at the place; those that are 0 by what
/// follows.
PathChoice::Verdict PathChoice::judge(const SubProblem& sub, const Set& set, const Place& place,
                                    PiecewisePath& path) {
  const auto is_line = [&](int row) { return path.is_line(row - equations_); };
  if (!std::all_of(sub.rows.begin(), sub.rows.end(), is_line)) return Verdict::open;
  flip(set, path.point());
  int highest = -1;
  bool is_on_surface = false;
  for (const int row : sub.rows) {
    const int sign = path.sign(row - equations_, path.constraint(row - equations_, place.s));
    highest = std::max(highest, sign);
    is_on_surface = is_on_surface || sign == 0;
  }
  const bool is_by_others = highest <= 0 && others_exclude(sub, set, place, path);
  flip(set, path.point());
  if (highest > 0) return Verdict::excluded;
  if (is_by_others) return Verdict::excluded_by_others;
  return is_on_surface ? look_ahead(sub, set, place, path) : Verdict::allowed;
}

/// Constraints of other sub-problems that hold one of the binaries.
bool PathChoice::others_exclude(const SubProblem& sub, const Set& set, const Place& place,
                               PiecewisePath& path) const {
  const auto excludes = [&](int l) {
    if (std::find(sub.rows.begin(), sub.rows.end(), equations_ + l) != sub.rows.end()) return false;
    return !path.is_line(l) || path.sign(l, path.constraint(l, place.s)) > 0;
  };
  return std::any_of(set.begin(), set.end(), [&](int i) {
    const std::span<const int> list = rates_.constraints_of_binary(i);
    return std::any_of(list.begin(), list.end(), excludes);
  });
}

/// With the rates of the new values, at the end of the step.
PathChoice::Verdict PathChoice::look_ahead(const SubProblem& sub, const Set& set, const Place& place,
                                         PiecewisePath& path) {
  std::vector<std::pair<int, double>> states;
  for (const int row : sub.rows)
    for (const int state : structure_.states_of_row[at(row)])
      states.emplace_back(state, path.position(state, place.s));
  const bool is_solved = put(set, path.end());
  std::vector<double>& point = path.point();
  for (const auto& [state, x] : states)
    point[at(model_.variable_input(state))] =
        x + place.rest * path.end()[at(HybridModel::derivative_input(state))];
  take_back(set, path.end());
  if (!is_solved) return Verdict::open;
  point[0] = place.t + place.s + place.rest;
  flip(set, point);
  const bool is_allowed = std::all_of(sub.rows.begin(), sub.rows.end(), [&](int row) {
    return rates_.row(row, point) <= path.error(row - equations_);
  });
  flip(set, point);
  return is_allowed ? Verdict::allowed : Verdict::excluded;
}

/// Where the constraint becomes positive, with bounds of all errors, as everywhere: sets come in the
/// order of their first binaries, so that the first of those that are not told apart is the rule's.
bool PathChoice::by_rates(const std::vector<Set>& sets, const Place& place, const PiecewisePath& path,
                         PathChange& change) {
  Set all;
  for (const Set& set : sets) all.insert(all.end(), set.begin(), set.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (!rates_.follow(all, blocks_) || !begin_series()) return false;
  const std::vector<RunningError> norms = norms_of(sets, place, path);
  if (norms.size() < sets.size()) return false;
  const std::vector<std::size_t> least = least_rate_norms(norms);
  change.binaries = sets[least.front()];
  change.decided_by = least.size() == 1 ? "smallest rate norm" : "first declared binary changes";
  return true;
}

/// One of each set; fewer where one has no bound.
std::vector<RunningError> PathChoice::norms_of(const std::vector<Set>& sets, const Place& place,
                                              const PiecewisePath& path) {
  Vector x(n_);
  for (int j = 0; j < n_; ++j)
    x[j] = structure_.is_state[at(j)] != 0 ? path.position(j, place.s)
                                           : path.end()[at(model_.variable_input(j))];
  std::vector<RunningError> norms;
  for (const Set& set : sets) {
    std::vector<int> z = path.z();
    for (const int i : set) z[at(i)] = 1 - z[at(i)];
    if (!series_->begin(place.t + place.s, x, z, 0) || !series_->passes_gate()) break;
    const RunningError norm = norm_of_followers();
    if (!std::isfinite(norm.error)) break;
    norms.push_back(norm);
  }
  return norms;
}

void PathChoice::transfer(Archive& archive) {
  bool has_series = series_ != nullptr;
  archive(has_series);
  if (!has_series) return;
  begin_series();
  archive(*series_);
}

/// Series give the rates with bounds of their errors. False: the model has none.
bool PathChoice::begin_series() {
  if (!series_) {
    series_ = std::make_unique<ModeSeries>(model_);
    Vector sizes = Vector::Zero(n_);
    for (int j = 0; j < n_; ++j)
      if (model_.head.variables[at(j)].has_nominal) sizes[j] = model_.head.variables[at(j)].nominal;
    series_->set_known(share_of_computed, sizes);
  }
  return series_->obstacle().empty();
}

/// Σ (ẋ_j / nominal_j)² over what follows from any of the sets: all others have the same rates.
RunningError PathChoice::norm_of_followers() {
  RunningError sum;
  for (const int block : blocks_)
    for (const int unknown : structure_.blocks[at(block)].unknowns) {
      if (structure_.is_state[at(unknown)] == 0) continue;
      const RunningError rate = RunningError(series_->rate(unknown), series_->rate_error(unknown)) /
                                RunningError(model_.head.variables[at(unknown)].nominal);
      sum = sum + rate * rate;
    }
  return sum;
}

void PathChoice::flip(const Set& set, std::vector<double>& point) const {
  for (const int i : set) {
    double& z = point[at(model_.binary_input(i))];
    z = 1 - z;
  }
}

/// The point with other values of these binaries and what follows from them.
bool PathChoice::put(const Set& set, std::vector<double>& point) {
  flip(set, point);
  kept_.clear();
  if (!rates_.follow(set, blocks_)) {
    blocks_.clear();
    return false;
  }
  for (const int block : blocks_)
    for (const int unknown : structure_.blocks[at(block)].unknowns)
      kept_.push_back(point[rates_.input_of(unknown)]);
  return rates_.solve(blocks_, point);
}

void PathChoice::take_back(const Set& set, std::vector<double>& point) {
  flip(set, point);
  std::size_t k = 0;
  for (const int block : blocks_)
    for (const int unknown : structure_.blocks[at(block)].unknowns)
      point[rates_.input_of(unknown)] = kept_[k++];
}

}  // namespace perp
