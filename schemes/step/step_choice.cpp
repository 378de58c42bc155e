#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/lcp/memory.hpp>
#include <perp/schemes/step/step_search.hpp>

namespace perp {
namespace {

constexpr char first_leaving = 2;  ///< of a law whose argument leaves its branch before others

/// How many distinct x⁺ there are, -1: a continuum.
int distinct_states(const std::vector<ModeSolution>& list) {
  if (std::ranges::any_of(list, [](const ModeSolution& solution) { return !solution.isolated; })) return -1;
  int count = 0;
  for (auto solution = list.begin(); solution != list.end(); ++solution) {
    const bool repeated = std::any_of(list.begin(), solution, [&](const ModeSolution& other) {
      return same_point(other.d, solution->d, other.d_error, solution->d_error);
    });
    count += !repeated;
  }
  return count;
}

}  // namespace

/// Leaves the end of the step in a mode, ranges left out, in d_, lambda_ and w_. False: from there Newton's method finds none.
bool StepSearch::ends_in(const Mode& mode, const Vector& d, const Vector& lambda) {
  step_.set_mode(mode);
  d_ = d;
  lambda_ = lambda;
  if (newton_.run(d_, lambda_) != NewtonEnd::converged) return false;
  step_.w(w_);
  return true;
}

/// The laws with memory whose argument is outside of their branch at the end of the step in the
/// present mode; all of them where that has no end.
void StepSearch::find_leaving(const Mode& present, const Vector& d, const Vector& lambda) {
  leaving_.clear();
  knows_leaving_ = true;
  const Laws& laws = step_.laws();
  if (present.size() != laws.size() ||
      std::none_of(laws.begin(), laws.end(), [](const Law& law) { return law.memory; }))
    return;
  leaving_.assign(laws.size(), 1);
  knows_leaving_ = ends_in(present, d, lambda);
  if (!knows_leaving_) return;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const Range range = w_range(laws[i].branches[static_cast<std::size_t>(present[i])]);
    const double w = w_[static_cast<Eigen::Index>(i)];
    leaving_[i] = w < range.lower || w > range.upper ? 1 : 0;
  }
  if (before_.w.size() > 0) find_first_leaving(present);
}

/// Of the laws with memory that leave, by their arguments before and behind the step in the present mode.
void StepSearch::find_first_leaving(const Mode& present) {
  std::vector<Departing> departing;
  for (int i = 0; i < step_.m(); ++i) {
    const Law& law = step_.laws()[static_cast<std::size_t>(i)];
    if (!law.memory || leaving_[static_cast<std::size_t>(i)] == 0) continue;
    const Range range = w_range(law.branches[static_cast<std::size_t>(present[static_cast<std::size_t>(i)])]);
    const auto inside = [&](double w) { return w_[i] < range.lower ? w - range.lower : range.upper - w; };
    departing.push_back({i, inside(before_.w[i]), inside(w_[i]), before_.rounding[i]});
  }
  for (const int law : first_to_leave(departing)) leaving_[static_cast<std::size_t>(law)] = first_leaving;
}

/// Is a law that has one branch outside of it, by the last end that was made?
bool StepSearch::violates_constraint() const {
  const Laws& laws = step_.laws();
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (laws[i].branches.size() > 1) continue;
    const Range range = w_range(laws[i].branches.front());
    const double w = w_[static_cast<Eigen::Index>(i)];
    if (w < range.lower || w > range.upper) return true;
  }
  return false;
}

/// Does the law leave its branch of `present` by its own argument, in a solution that has changed it? It does where the
/// argument is outside at the end, of this step, of that in the present mode, or of one in which it alone stays. A
/// constraint that is violated where it alone stays makes it leave its branch, too.
bool StepSearch::is_founded(std::size_t law, const ModeSolution& solution, const Mode& mode, const Mode& present) {
  const Range range = w_range(step_.laws()[law].branches[static_cast<std::size_t>(present[law])]);
  const auto is_outside = [&](const Vector& w) {
    const double argument = w[static_cast<Eigen::Index>(law)];
    return !(argument > range.lower && argument < range.upper);
  };
  if (is_outside(solution.w) || (knows_leaving_ && leaving_[law] != 0)) return true;
  Mode others = mode;
  others[law] = present[law];
  return ends_in(others, solution.d, solution.lambda) && (is_outside(w_) || violates_constraint());
}

/// Leaves out solutions in which a law with memory has left a branch that holds its argument: that no other solution was
/// found may be due to another part of the system.
void StepSearch::drop_unfounded(const Mode& present, FoundSolutions& found) {
  if (leaving_.empty()) return;
  std::erase_if(found.list, [&](const ModeSolution& solution) {
    const auto is_unfounded = [&](const Mode& mode) {
      for (std::size_t i = 0; i < mode.size(); ++i)
        if (step_.laws()[i].memory && mode[i] != present[i] && !is_founded(i, solution, mode, present)) return true;
      return false;
    };
    return is_unfounded(solution.mode) && std::ranges::all_of(solution.also, is_unfounded);
  });
}

/// Has the mode not been searched yet, and may it be: does it leave the laws with memory where they
/// stay?
bool StepSearch::is_next(const Mode& mode) {
  for (std::size_t i = 0; i < kept_.size() && i < leaving_.size(); ++i)
    if (step_.laws()[i].memory && leaving_[i] == 0 && mode[i] != kept_[i]) return false;
  return searched_.insert(mode).second;
}

/// How many laws with memory a mode changes; one whose own argument does not leave its branch, and one that stays though its
/// argument leaves it first, count more than all of the others.
int StepSearch::memory_changes(const Mode& mode, const Mode& present) const {
  const Laws& laws = step_.laws();
  int sum = 0;
  for (std::size_t i = 0; i < mode.size() && i < present.size(); ++i) {
    const char leaves = i < leaving_.size() ? leaving_[i] : 1;
    if (laws[i].memory && (mode[i] == present[i]) == (leaves == first_leaving))
      sum += leaves == 1 ? 1 : static_cast<int>(laws.size()) + 1;
  }
  return sum;
}

/// The fewest of the modes of a solution.
int StepSearch::memory_changes(const ModeSolution& solution, const Mode& present) const {
  if (present.empty()) return 0;
  int fewest = memory_changes(solution.mode, present);
  for (const Mode& mode : solution.also) fewest = std::min(fewest, memory_changes(mode, present));
  return fewest;
}

std::size_t StepSearch::choose(const FoundSolutions& found, const Mode& present, int& solutions,
                               int& ties) const {
  const std::vector<ModeSolution>& list = found.list;
  solutions = distinct_states(list);
  int fewest = memory_changes(list.front(), present);
  for (const ModeSolution& solution : list) fewest = std::min(fewest, memory_changes(solution, present));
  std::size_t best = list.size();
  ties = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (memory_changes(list[i], present) > fewest) continue;
    if (best == list.size()) {
      best = i;
      continue;
    }
    const double difference = list[i].norm - list[best].norm;
    if (std::abs(difference) <= list[i].norm_error + list[best].norm_error) {
      if (!same_point(list[i].d, list[best].d, list[i].d_error, list[best].d_error)) ++ties;
    } else if (difference < 0) {
      best = i;
      ties = 0;
    }
  }
  return best;
}

}  // namespace perp
