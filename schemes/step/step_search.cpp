#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <perp/core/branches.hpp>
#include <perp/schemes/step/step_search.hpp>

namespace perp {
namespace {

constexpr long most_branches = 81;  ///< modes of violated laws that are all tried
constexpr int most_exchanges = 100;
constexpr int most_listed = 256;  ///< modes whose violations are listed
constexpr int scan_bisections = 12;

int changes(const Mode& a, const Mode& b) {
  int sum = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) sum += a[i] != b[i];
  return sum;
}

bool is_outside(const Range& range, double value) {
  return value < range.lower || value > range.upper;
}

}  // namespace

/// Are two computed points one, as far as their errors let see?
bool same_point(const Vector& a, const Vector& b, const Vector& a_error, const Vector& b_error) {
  for (Eigen::Index j = 0; j < a.size(); ++j)
    if (!(std::abs(a[j] - b[j]) <= gate * (a_error[j] + b_error[j]))) return false;
  return true;
}

StepSearch::StepSearch(ImplicitStep& step, ModeNewton& newton) : step_(step), newton_(newton) {
  allow({});
  d_ = Vector::Zero(step.n());
  lambda_ = w_ = Vector::Zero(step.m());
}

void StepSearch::allow(std::vector<std::vector<int>> branches) {
  allowed_ = std::move(branches);
  if (allowed_.empty())
    for (const Law& law : step_.laws()) {
      std::vector<int> all(law.branches.size());
      std::iota(all.begin(), all.end(), 0);
      allowed_.push_back(std::move(all));
    }
  modes_ = 1;
  for (const std::vector<int>& list : allowed_)
    modes_ = std::min(modes_ * static_cast<long>(list.size()), most_modes + 1);
}

/// All allowed modes, the last law changing fastest, or those with the fewest changes first.
std::vector<Mode> StepSearch::modes_from(const Mode& present) const {
  std::vector<Mode> list{Mode()};
  for (const std::vector<int>& branches : allowed_) {
    std::vector<Mode> longer;
    for (const Mode& mode : list)
      for (const int branch : branches) {
        longer.push_back(mode);
        longer.back().push_back(branch);
      }
    list = std::move(longer);
  }
  if (!present.empty())
    std::stable_sort(list.begin(), list.end(), [&](const Mode& a, const Mode& b) {
      return changes(a, present) < changes(b, present);
    });
  return list;
}

void StepSearch::write_errors(ModeSolution& solution) {
  solution.d_error.resize(step_.n());
  solution.lambda_error.resize(step_.m());
  if (newton_.factorise()) {
    newton_.errors(solution.d_error, solution.lambda_error);
  } else {
    solution.lambda_determined = false;
    solution.simple = newton_.determines_state();
    solution.isolated = !newton_.is_open();
    for (int j = 0; j < step_.n(); ++j) solution.d_error[j] = step_.variable_error(j);
    for (int i = 0; i < step_.m(); ++i) solution.lambda_error[i] = half_ulp(solution.lambda[i]);
  }
  solution.norm_error = step_.norm_error(solution.d_error);
}

/// Keeps the solution at the last point of Newton's method, unless it is known.
void StepSearch::add(const Mode& mode, bool weak, FoundSolutions& found) {
  ModeSolution solution;
  solution.mode = mode;
  solution.d = d_;
  solution.lambda = lambda_;
  solution.w = w_;
  solution.norm = step_.norm(d_);
  solution.residual = newton_.residual();
  solution.weak = weak;
  solution.local = newton_.is_local();
  solution.orientation = newton_.orientation();
  write_errors(solution);
  for (ModeSolution& known : found.list) {
    const bool same =
        same_point(known.d, d_, known.d_error, solution.d_error) &&
        (same_point(known.lambda, lambda_, known.lambda_error, solution.lambda_error) ||
         (known.mode == mode && !known.lambda_determined));
    if (!same) continue;
    if (known.mode != mode &&
        std::find(known.also.begin(), known.also.end(), mode) == known.also.end())
      known.also.push_back(mode);
    return;
  }
  found.list.push_back(std::move(solution));
}

/// Newton's method from (d_, lambda_) in the mode, and what it finds.
NewtonEnd StepSearch::try_from(const Mode& mode, FoundSolutions& found, bool& inside) {
  inside = false;
  const NewtonEnd end = newton_.run(d_, lambda_);
  converged_ = end == NewtonEnd::converged;
  if (!converged_) return end;
  const Admission admission = newton_.admit(d_, lambda_, w_);
  inside = admission != Admission::outside;
  if (inside) add(mode, admission == Admission::weak, found);
  return end;
}

/// That the linearised equations contradict each other is a matter of the point, unless they are
/// linear.
bool StepSearch::leads_far(bool decided, NewtonEnd end) const {
  return is_far_ && (!decided || (end == NewtonEnd::inconsistent && !step_.is_linear()));
}

/// Does what came of this start, the first or a later one, hold for the starts behind it too?
bool StepSearch::tells_all(NewtonEnd end, bool inside, bool is_first) const {
  // Where λ enters linearly another start finds the same point, unless λ is not determined.
  if (end == NewtonEnd::converged && !step_.is_nonlinear_in_lambda() &&
      (inside || !newton_.met_singular()))
    return true;
  if (end != NewtonEnd::converged && step_.is_linear()) return true;  // as from everywhere
  // Without a free λ the starts differ by d alone.
  return !is_first && step_.free_laws().empty();
}

/// Newton's method in the mode that is set from near d and these λ, one after the other: how the last one
/// ended. `decided`: one of them found a point, or that there is none.
NewtonEnd StepSearch::try_starts(const Mode& mode, const Vector& d, const std::vector<Vector>& points,
                                 FoundSolutions& found, bool& decided) {
  bool inside = false;
  NewtonEnd end = NewtonEnd::stalled;
  for (std::size_t k = 0; k < points.size(); ++k) {
    d_ = d;
    if (k > 0) d_.setZero();
    lambda_ = points[k];
    end = try_from(mode, found, inside);
    decided = decided || end == NewtonEnd::converged || end == NewtonEnd::inconsistent;
    if (tells_all(end, inside, k == 0)) break;
  }
  return end;
}

/// From near d with the multipliers that the branches have over their arguments there: those of a steep law change so much in
/// a short step that, where a large argument cancels, an equation they enter leads anywhere from the given ones.
void StepSearch::try_on_branches(const Mode& mode, const Vector& d, const Vector& lambda, FoundSolutions& found) {
  d_ = d;
  lambda_ = lambda;
  newton_.put_on_branches(d_, lambda_);
  bool inside = false;
  if (lambda_ != lambda) try_from(mode, found, inside);
}

void StepSearch::search_mode(const Mode& mode, const Vector& d, const Vector& lambda,
                             FoundSolutions& found) {
  step_.set_mode(mode);
  bool decided = false;
  const std::vector<Vector> points = starts(lambda);
  const NewtonEnd end = try_starts(mode, d, points, found, decided);
  if (is_at_start_ && step_.is_nonlinear_in_lambda()) try_on_branches(mode, d, lambda, found);
  if (thorough_ && step_.is_nonlinear_in_lambda()) scan(mode, found);
  if (!decided && end == NewtonEnd::domain) decided = search_inside(mode, points.front(), found);
  if (leads_far(decided, end)) decided = search_far(mode, points.front(), found) || decided;
  if (!decided) found.why = describe(end);
}

/// Moves d_ to where 0 = F holds for these λ. False: Newton's method finds no such point.
bool StepSearch::follow(const Mode& mode, const Vector& lambda) {
  step_.hold_lambda(mode);
  lambda_ = lambda;
  return newton_.run(d_, lambda_) == NewtonEnd::converged;
}

/// Between two λ at whose points 0 = F holds and between which the residual of this law changes its sign:
/// leaves in d_ and lambda_ what bisection comes to. `residual`: that of `low`, from whose d_ it goes on.
void StepSearch::bisect_law(const Mode& mode, int law, double residual, Vector low, Vector high) {
  Vector middle = high;
  for (int k = 0; k < scan_bisections; ++k) {
    middle = (low + high) / 2;
    if (!follow(mode, middle)) break;
    const bool same = residual * step_.law_residual(law, middle[law]) > 0;
    (same ? low : high) = middle;
  }
  lambda_ = middle;
}

/// Starts Newton's method from points where 0 = F holds, all over the branches; with one free λ
/// also from where its law changes its sign between two of them.
void StepSearch::scan(const Mode& mode, FoundSolutions& found) {
  step_.set_mode(mode);
  const std::vector<int> free = step_.free_laws();
  bool inside = false, followed = false;
  double residual = 0;
  Vector last_d, last_lambda;
  d_.setZero();
  for (const Vector& start : grid(lambda_)) {
    const bool had = followed;
    const double before = residual;
    const Vector d_before = last_d, lambda_before = last_lambda;
    followed = follow(mode, start);
    if (!followed) d_.setZero();
    last_d = d_;
    last_lambda = start;
    if (followed) residual = step_.law_residual(free[0], start[free[0]]);
    if (free.size() == 1 && had && followed && before * residual < 0) {
      d_ = d_before;
      bisect_law(mode, free[0], before, lambda_before, start);
    }
    step_.set_mode(mode);
    try_from(mode, found, inside);
    d_ = last_d;
  }
}

/// Laws whose w or λ is outside of the branch that is set, at the last point.
std::vector<int> StepSearch::violated_laws() const {
  std::vector<int> list;
  for (int i = 0; i < step_.m(); ++i) {
    const Branch& branch = step_.branch(i);
    if (is_outside(branch.w, w_[i]) || is_outside(branch.lambda, lambda_[i])) list.push_back(i);
  }
  return list;
}

/// All branches of these laws, the others as they are.
void StepSearch::search_branches(const Mode& present, const std::vector<int>& laws, const Vector& d,
                                 const Vector& lambda, FoundSolutions& found) {
  long count = 1;
  for (const int law : laws)
    count = std::min(
        count * static_cast<long>(step_.laws()[static_cast<std::size_t>(law)].branches.size()),
        most_branches + 1);
  if (count > most_branches) return;
  Mode mode = present;
  for (const int law : laws) mode[static_cast<std::size_t>(law)] = 0;
  for (bool more = true; more;) {
    if (is_next(mode)) search_mode(mode, d, lambda, found);
    more = false;
    for (const int law : laws) {
      const auto i = static_cast<std::size_t>(law);
      more = ++mode[i] < static_cast<int>(step_.laws()[i].branches.size());
      if (more) break;
      mode[i] = 0;
    }
  }
}

/// Every violated law goes to its nearest other branch, as long as no mode repeats.
void StepSearch::follow_violations(Mode mode, const Vector& d, const Vector& lambda,
                                   FoundSolutions& found) {
  for (int count = 0; count < most_exchanges; ++count) {
    if (count > 0) {
      if (!is_next(mode)) return;
      search_mode(mode, d, lambda, found);
      if (!found.list.empty()) return;
    }
    if (!converged_) return;
    for (const int law : violated_laws()) {
      const auto i = static_cast<std::size_t>(law);
      mode[i] = nearest_branch(step_.laws()[i], w_[law], lambda_[law], mode[i]);
    }
  }
}

/// One law after the other leaves its branch, then any two, ... as long as the modes are few.
void StepSearch::search_by_changes(const Mode& present, const Vector& d, const Vector& lambda,
                                   FoundSolutions& found) {
  if (modes_ > most_modes) {
    found.all_modes = false;
    search_single_changes(present, d, lambda, found);
    return;
  }
  int level = 0;
  for (const Mode& mode : modes_from(present)) {
    const int count = changes(mode, present);
    if (count > level && !found.list.empty()) return;
    level = count;
    if (is_next(mode)) search_mode(mode, d, lambda, found);
  }
}

/// One law after the other leaves its branch, until there is a solution.
void StepSearch::search_single_changes(const Mode& present, const Vector& d, const Vector& lambda,
                                       FoundSolutions& found) {
  Mode mode = present;
  for (std::size_t i = 0; i < present.size(); ++i) {
    for (int k = 0; k < static_cast<int>(step_.laws()[i].branches.size()); ++k) {
      mode[i] = k;
      if (k != present[i] && is_next(mode)) search_mode(mode, d, lambda, found);
      if (!found.list.empty()) return;
    }
    mode[i] = present[i];
  }
}

FoundSolutions StepSearch::nearest(const Mode& present, const Vector& d, const Vector& lambda, const PresentEnd* end) {
  thorough_ = false;
  find_leaving(present, d, lambda);
  FoundSolutions found;
  const Mode from = present.empty() ? Mode(step_.laws().size(), 0) : present;
  searched_ = {from};
  found.all_modes = false;
  if (end == nullptr)
    search_mode(from, d, lambda, found);
  else
    converged_ = true, lambda_ = end->lambda, w_ = end->w;
  if (!found.list.empty()) return found;
  // The last point in that mode tells which laws it violates.
  const std::vector<int> violated = converged_ ? violated_laws() : std::vector<int>{};
  const Vector w = w_, multipliers = lambda_;
  for (kept_ = present; found.list.empty(); kept_.clear()) {
    search_branches(from, violated, d, lambda, found);
    if (!found.list.empty()) break;
    converged_ = !violated.empty();
    w_ = w;
    lambda_ = multipliers;
    step_.set_mode(from);
    follow_violations(from, d, lambda, found);
    if (found.list.empty()) search_by_changes(from, d, lambda, found);
    if (kept_.empty() || leaving_.empty()) break;
  }
  drop_unfounded(present, found);
  return found;
}

FoundSolutions StepSearch::all(const Mode& present, const Vector& d, const Vector& lambda,
                               bool thorough) {
  if (modes_ > most_modes) {
    FoundSolutions found = nearest(present, d, lambda);
    found.all_modes = false;
    return found;
  }
  thorough_ = thorough;
  find_leaving(present, d, lambda);
  FoundSolutions found;
  for (const Mode& mode : modes_from(present)) {
    search_mode(mode, d, lambda, found);
    if (newton_.left() == 0) break;  // the others would end at once
  }
  if (newton_.left() == 0) found.all_modes = false, found.why = describe(NewtonEnd::exhausted);
  drop_unfounded(present, found);
  return found;
}

std::vector<std::pair<Mode, double>> StepSearch::violations(const Vector& d, const Vector& lambda) {
  std::vector<std::pair<Mode, double>> list;
  if (modes_ > most_listed || step_.m() == 0) return list;
  for (const Mode& mode : modes_from({})) {
    step_.set_mode(mode);
    double least = inf;
    for (const Vector& start : starts(lambda)) {
      d_ = d;
      lambda_ = start;
      const NewtonEnd end = newton_.run(d_, lambda_);
      if (end != NewtonEnd::converged) continue;
      step_.w(w_);
      least = std::min(least, newton_.violation(lambda_, w_));
      if (!step_.is_nonlinear_in_lambda()) break;
    }
    list.emplace_back(mode, least);
  }
  return list;
}

}  // namespace perp
