// Steps of Capturing of problems from grids, which have one solution.
#include <algorithm>
#include <utility>

#include <perp/schemes/capturing/capturing.hpp>

namespace perp {

/// Are steps of the user's length those of a grid, and certified? Then shorter ones are, too: with E - h A a matrix
/// (1 - s) E + s (E - h A) is an M-matrix.
bool Capturing::make_grid(StepEquations& equations, Once& own) {
  if (&equations != &equations_ || !is_large()) return false;
  std::unique_ptr<GridStep> grid = GridStep::of(equations);
  if (!grid || !grid->is_certified(options_.h)) return false;
  own.grid = std::move(grid);
  own.longest_monotone = options_.h;
  is_continuous_ = own.grid->is_continuous();
  return true;
}

std::optional<Attempt> Capturing::attempt_on_grid(double h) {
  if (const Answer* known = known_answer(h)) return take(*known);
  GridStep& grid = *once().grid;
  if (!begin_search() || !grid.set(h, trial().parameter.data())) return std::nullopt;
  const GridStep::Outcome outcome = grid.solve(search_);
  if (outcome == GridStep::Outcome::unknown)
    return attempt_beside_grid(h, "the equations of the step on its grid are not solved to the rounding of their rows");
  const bool rests = outcome == GridStep::Outcome::rests;
  is_refuted_ = !rests && !start_pending_;
  grid.write_ends(trial().ends);
  if (!rests && !is_end_enough(true) && !grid.find(search_))
    return attempt_beside_grid(h, "the active sets of the step on its grid come to no end");
  return take_from_grid(h, rests && !start_pending_);
}

/// By factors, whose errors are bounded otherwise; where these would not fit into memory, or do not solve it either, the step
/// has no solution that is known, and `why` tells.
std::optional<Attempt> Capturing::attempt_beside_grid(double h, const char* why) {
  ++beside_grid_;
  if (point_step(*active_).is_usable())
    if (std::optional<Attempt> attempt = solve_once(h, true, true)) return attempt;
  return unsolved(Status::not_solved, why);
}

/// In the mode `search_`.
Attempt Capturing::take_from_grid(double h, bool is_kept) {
  State& next = trial();
  const Mode& present = mode();
  once().grid->write(next.x, next.lambda, next.w, next.rounding);
  be_point(search_, is_kept);
  const bool is_kept_first = is_kept && options_.selector == Selector::keep_mode;
  const Attempt attempt{Status::solved, is_kept, is_kept_first ? 0 : 1, 0};
  if (is_asked_again(is_kept, true)) remember(h, present, attempt);
  return attempt;
}

/// Where many laws of a string are to change, the ends of its contacts would move by a node from one mode to the next: a mode
/// near that of the one solution comes from coarser strings. Its verdict, or that of the mode before, which is outside.
PointStep::Verdict Capturing::begin_near(PointStep& step, Mode& mode) {
  constexpr long few = 16;
  const auto beyond = std::ranges::count_if(step.margins(), [](const PointStep::Margin& margin) { return margin.is_beyond; });
  if (active_ != &equations_ || !is_large() || beyond <= few || !has_one_solution(step.length())) return PointStep::Verdict::outside;
  std::optional<std::unique_ptr<GridStep>>& line = once().line;
  if (!line) line = GridStep::of(equations_, 1);
  if (!*line || !(*line)->set(step.length(), trial().parameter.data())) return PointStep::Verdict::outside;
  from_ = mode;
  (*line)->find_near(mode);
  const PointStep::Verdict verdict = step.solve(mode);
  if (verdict == PointStep::Verdict::inside || verdict == PointStep::Verdict::outside) return verdict;
  mode = from_;
  return step.solve(mode);
}

bool Capturing::end_surely_on_grid(const Mode& mode, double t_next, double h) {
  double* parameter = trial().parameter.data();
  equations_.parameter(x(), current().t, t_next, parameter);
  GridStep& grid = *once().grid;
  return has_one_solution(h) && grid.set(h, parameter) && grid.solve(mode) == GridStep::Outcome::rests && !grid.is_at_end();
}

}  // namespace perp
