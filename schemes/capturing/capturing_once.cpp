// Steps of Capturing that are asked for once: by a solution at one point, without maps.
#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/branches.hpp>
#include <perp/lcp/enumeration/active_set.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>

namespace perp {
namespace {

/// Of steps at points in one mode: rows of (n + m)² numbers cost about as much. Each step goes through its factors.
long steps_for_rows(const PointStep& step) {
  const long size = step.size();
  return std::max(8L, size * size / step.width());
}

constexpr std::size_t kept_of_large = 2;  ///< answers, each of which has a state
constexpr int most_full_step = 2048;  ///< unknowns of a step with full matrices

/// Has the mode a point, inside or outside of its branches?
bool is_solved(PointStep::Verdict verdict) {
  return verdict == PointStep::Verdict::inside || verdict == PointStep::Verdict::outside;
}

/// Of the last solution, in increasing order.
void list_violated_laws(const PointStep& step, std::vector<int>& violated) {
  violated.clear();
  for (const PointStep::Margin& margin : step.margins())
    if (margin.is_beyond) violated.push_back(margin.end.law);
  std::sort(violated.begin(), violated.end());  // those of free multipliers come last
  violated.erase(std::unique(violated.begin(), violated.end()), violated.end());
}

}  // namespace

Capturing::Once& Capturing::once(StepEquations& equations) {
  Once& own = once_[&equations == &equations_ ? 0 : 1];
  if (!own.step && !own.grid && !make_grid(equations, own)) {
    own.step = std::make_unique<PointStep>(equations, options_.h);
    if (!monotone_) monotone_.emplace(equations_);
    own.longest_monotone = monotone_->longest(equations.theta());
  }
  return own;
}

/// That of these equations, by factors, which a grid may stand beside.
PointStep& Capturing::point_step(StepEquations& equations) {
  std::unique_ptr<PointStep>& step = once(equations).step;
  if (!step) step = std::make_unique<PointStep>(equations, options_.h);
  return *step;
}

/// Whichever of the two methods makes the step.
bool Capturing::moves_with_length(double h) {
  const auto is_certified = [&](StepEquations& equations) {
    if (!(h <= once(equations).longest_monotone)) return false;
    if (!is_continuous_) is_continuous_ = monotone_->is_continuous();
    return *is_continuous_;
  };
  return !start_pending_ && is_certified(equations_) && (!first_ || is_certified(*first_));
}

/// Are there no maps for steps of this length, and not worth it?
bool Capturing::is_asked_once(double h) {
  if (h != options_.h || is_large()) return true;
  if (!has_many_modes_ || start_pending_) return false;
  return ++met_[mode()] < steps_for_rows(*once().step);
}

/// Of the user's length: has the present mode been met so often at points that its map pays at once?
bool Capturing::was_met_often(double h) const {
  return has_many_modes_ && h == options_.h && !start_pending_ && met_.contains(mode());
}

Attempt Capturing::attempt_by(StepEquations& equations, double t_next, double h) {
  active_ = &equations;
  State& next = trial();
  equations.parameter(current().x, current().t, t_next, next.parameter.data());
  next.t = t_next;
  next.is_point = is_refuted_ = false;
  const bool asks_once = is_asked_once(h);
  if (asks_once)
    if (const std::optional<Attempt> attempt = attempt_once(h)) return if_finite(*attempt);
  possible_.reset();
  if (may_ask_all(h))
    if (const std::optional<Attempt> attempt = attempt_of_all(h)) return if_finite(*attempt);
  if (is_too_large())
    if (const std::optional<Attempt> attempt = attempt_one_found(h)) return if_finite(*attempt);
  if (equations_.n() + equations_.m() > most_full_step) return unsolved(Status::not_solved, why_no_method());
  return attempt_by_maps(h, asks_once);
}

/// Where several solutions are possible the present mode decides, or nothing does.
bool Capturing::may_ask_once(bool is_one) const {
  return is_one || (!start_pending_ && options_.selector == Selector::keep_mode);
}

/// Nothing where bounds do not decide, or where one of several solutions is to be chosen.
std::optional<Attempt> Capturing::attempt_once(double h) {
  const bool is_one = has_one_solution(h);
  const bool is_nearest = options_.selector == Selector::keep_mode || options_.selector == Selector::minimal_norm;
  // What newton_min finds first is the one solution that there is: by the factors or the grid of the step, as always.
  const bool is_first = options_.selector == Selector::first && is_one && solver_ == "newton_min";
  if (!is_nearest && !is_first) return std::nullopt;
  if (once().grid) return attempt_on_grid(h);
  if (!may_ask_once(is_one) || !once().is_usable()) return std::nullopt;
  if (const Answer* known = known_answer(h)) return take(*known);
  return solve_once(h, is_one, is_one);
}

/// Of many unknowns one solution is looked for, from the present mode on; others are not.
std::optional<Attempt> Capturing::attempt_one_found(double h) {
  if (options_.selector != Selector::keep_mode && options_.selector != Selector::minimal_norm)
    return std::nullopt;
  if (once().grid || !once().is_usable()) return std::nullopt;
  const std::optional<Attempt> found = solve_once(h, false, true);
  if (found) ++not_enumerated_;
  return found;
}

/// To the step of length h that is tried; null: it was not asked for of late.
const Capturing::Answer* Capturing::known_answer(double h) {
  const Mode& present = mode();
  for (const Answer& known : answers_)
    if (known.equations == active_ && known.h == h && known.present == &present &&
        known.state.parameter == trial().parameter)
      return &known;
  return nullptr;
}

/// The mode that is solved first; false: none is present.
bool Capturing::begin_search() {
  const std::size_t laws = equations_.laws().size();
  search_ = mode();
  if (start_pending_) search_.assign(laws, 0);
  return search_.size() == laws;
}

/// Does nothing but the end of the present mode count? Starts, and first steps that are kept for later, need a solution.
bool Capturing::is_end_enough(bool is_one) const {
  return looks_for_end_ && is_one && !start_pending_ && !current().is_fresh && !trial().is_fresh;
}

/// Of a mode that ends it is enough to know that some solution is in another one. Where steps have no more than one, which
/// is not in this mode, not even that: steps from its end on are solved for themselves.
bool Capturing::finds_other(PointStep& step, PointStep::Verdict verdict, bool is_one, bool takes_any) {
  return is_end_enough(is_one) || ((takes_any || looks_for_end_) && find_mode(step, search_, verdict));
}

/// A step that leaves its mode is asked for more than once, and one that keeps it while its end is looked for.
bool Capturing::is_asked_again(bool is_kept, bool is_one) const {
  return is_kept ? looks_for_end_ : is_one && !is_end_enough(is_one);
}

/// `is_one`: there is no more than one solution; `takes_any`: that of another mode serves.
std::optional<Attempt> Capturing::solve_once(double h, bool is_one, bool takes_any) {
  PointStep& step = *once().step;
  State& next = trial();
  const Mode& present = mode();
  if (!begin_search()) return std::nullopt;
  step.set(h, next.parameter.data());
  const PointStep::Verdict verdict = step.solve(search_);
  if (!is_solved(verdict)) return std::nullopt;
  const bool is_kept = verdict == PointStep::Verdict::inside && !start_pending_;
  step.give_margins(next.ends, is_kept);  // else the search reads them, too
  is_refuted_ = verdict == PointStep::Verdict::outside && !start_pending_;
  if (!is_kept && !finds_other(step, verdict, is_one, takes_any)) return std::nullopt;
  take(step, search_, is_kept);
  const bool is_kept_first = is_kept && options_.selector == Selector::keep_mode;
  const Attempt attempt{Status::solved, is_kept, is_kept_first ? 0 : is_one, 0};
  if (is_asked_again(is_kept, is_one)) remember(h, present, attempt);
  return attempt;
}

void Capturing::remember(double h, const Mode& present, const Attempt& attempt) {
  Answer& oldest = answers_[next_answer_];
  next_answer_ = (next_answer_ + 1) % (is_too_large() ? kept_of_large : answers_.size());
  oldest.equations = active_;
  oldest.h = h;
  oldest.present = &present;
  oldest.attempt = attempt;
  oldest.state = trial();
}

Attempt Capturing::take(const Answer& known) {
  State& next = trial();
  const double t = next.t;
  const bool is_fresh = next.is_fresh;
  next = known.state;
  next.t = t;
  next.is_fresh = is_fresh;
  return known.attempt;
}

/// The active set method from a mode with this verdict to one with a solution, by no more modes than a multiple of the laws. Where
/// laws moved one by one and several modes have the solution, the order of the laws alone would say which: false then, too.
bool Capturing::find_mode(PointStep& step, Mode& mode, PointStep::Verdict verdict) {
  long left = 10 * static_cast<long>(mode.size()) + 20;
  BlockPivots pivots;
  bool is_ordered = false;
  if (verdict == PointStep::Verdict::outside) verdict = begin_near(step, mode);
  while (left-- > 0 && verdict == PointStep::Verdict::outside) {
    check_interruption();
    list_violated_laws(step, violated_);
    from_ = mode;
    list_other_branches(step, mode);
    const std::size_t moved = pivots.takes_all(violated_.size()) ? violated_.size() : 1;
    is_ordered = is_ordered || moved < violated_.size();
    move_violated(moved, mode);
    verdict = step.solve(mode);
    if (is_solved(verdict)) continue;
    is_ordered = true;
    verdict = pass_singular(step, moved, mode, left);
  }
  return verdict == PointStep::Verdict::inside && !(is_ordered && step.is_at_end());
}

/// From `from_` to the mode in which the first ones of the violated laws are on their other branches.
void Capturing::move_violated(std::size_t count, Mode& mode) const {
  mode = from_;
  for (std::size_t k = 0; k < count; ++k) mode[at(violated_[k])] = other_[at(violated_[k])];
}

/// The branch of each law that is nearest to the point of the step, but for that of the mode.
void Capturing::list_other_branches(const PointStep& step, const Mode& mode) {
  const Laws& laws = equations_.laws();
  other_.resize(mode.size());
  for (std::size_t i = 0; i < mode.size(); ++i) {
    const auto law = static_cast<int>(i);
    other_[i] = nearest_branch(laws[i], step.w()[law], step.lambda()[law], mode[i], step.w_unit(law),
                               step.lambda_unit(law));
  }
}

/// Where the mode of a step of the first `moved` violated laws is singular, as with diodes around a loop: fewer of them move, half
/// of them each time, as long as it is; then one alone, or with one other law, as in a pivot of two rows and columns. The first
/// such mode with a solution, else the first that is regular. Each mode that is solved leaves one less to solve.
PointStep::Verdict Capturing::pass_singular(PointStep& step, std::size_t moved, Mode& mode, long& left) {
  for (moved /= 2; moved > 0 && left > 0; moved /= 2) {
    check_interruption();
    move_violated(moved, mode);
    --left;
    if (const PointStep::Verdict verdict = step.solve(mode); is_solved(verdict)) return verdict;
  }
  return pass_singular_by_pairs(step, mode, left);
}

PointStep::Verdict Capturing::pass_singular_by_pairs(PointStep& step, Mode& mode, long& left) {
  constexpr int most_tries = 32;
  std::optional<Mode> regular;
  int tries = 0;
  const auto is_inside = [&](int i, int j) {
    check_interruption();
    mode = from_;
    for (const int law : {i, j}) mode[at(law)] = other_[at(law)];
    --left;
    const PointStep::Verdict verdict = step.solve(mode);
    if (verdict == PointStep::Verdict::outside && !regular) regular = mode;
    return verdict == PointStep::Verdict::inside;
  };
  for (const int i : violated_)
    for (int j = 0; j < static_cast<int>(from_.size()) && tries < most_tries && left > 0; ++j, ++tries)
      if (is_inside(i, j)) return PointStep::Verdict::inside;
  if (!regular) return PointStep::Verdict::undecided;
  mode = *regular;
  return step.solve(mode);
}

void Capturing::take(const PointStep& step, const Mode& mode, bool is_kept) {
  State& next = trial();
  next.x = step.x();
  next.lambda = step.lambda();
  next.w = step.w();
  next.rounding = step.rounding();
  be_point(mode, is_kept);
}

/// The attempted state has the numbers of a point in this mode.
void Capturing::be_point(const Mode& mode, bool is_kept) {
  State& next = trial();
  next.x_known = next.outputs_known = next.is_point = true;
  next.cache = nullptr;
  next.map = -1;
  next.mode = is_kept ? current().mode : &*modes_.insert(mode).first;
}

}  // namespace perp
