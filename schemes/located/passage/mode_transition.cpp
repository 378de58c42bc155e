// From the end of a mode to the start of the next one: called by the run at events.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/start_state.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/passage/mode_transition.hpp>
#include <perp/schemes/run/run_end.hpp>

namespace perp {
namespace {

/// The branch of a law over this w that is nearest to it; λ is the mode's business.
int nearest_branch(const Law& law, double w) {
  double nearest = inf;
  int best = 0;
  for (std::size_t k = 0; k < law.branches.size(); ++k) {
    const Range range = w_range(law.branches[k]);
    const double distance = std::max({range.lower - w, w - range.upper, 0.0});
    if (distance < nearest) nearest = distance, best = static_cast<int>(k);
  }
  return best;
}

/// How fast the arguments of laws move at the end of a mode; empty: no law ends it.
Vector rates_of(const Jet& before, const std::vector<int>& hit) {
  if (hit.empty() || before.w.cols() < 2) return {};
  Vector rates = Vector::Zero(before.w.rows());
  for (const int law : hit) rates[law] = std::abs(before.w(law, 1));
  return rates;
}

/// A short implicit Euler step of least norm from the event must choose the mode that the jets
/// chose.
std::string cross_check(const LocatedState& at, Counts& counts, const Step& before, const Mode& chosen,
                        bool alone) {
  const double h = 1e-7 * (at.span.end - at.span.start);
  const std::optional<Mode> mode = mode_of_step(at, before, h, Selector::minimal_norm);
  if (!mode) {
    ++counts["cross_check_failed"];
    return fmt::format("{}cross-check: the implicit step is not solved", alone ? "" : "; ");
  }
  const bool agrees = *mode == chosen;
  ++counts[agrees ? "cross_check_agrees" : "cross_check_differs"];
  return agrees ? ""
                : fmt::format("{}cross-check: the implicit step goes to [{}]", alone ? "" : "; ",
                              describe_briefly(at.system.laws, *mode));
}

}  // namespace

void ModeTransition::begin(const Vector& x0) {
  const int n = at_.system.n(), m = at_.system.m();
  at_.now = {at_.span.start, x0, Vector::Zero(m), Vector::Zero(m), Mode(static_cast<std::size_t>(m), 0)};
  run_.integrator.start_lengths(at_.span.end - at_.span.start);
  at_.moved_from = at_.now;
  at_.largest = x0.cwiseAbs();
  const Vector w = run_.jets.arguments_at(at_.span.start, x0.head(n));
  for (int i = 0; i < m; ++i) {
    if (!std::isfinite(w[i])) continue;
    const auto law = static_cast<std::size_t>(i);
    at_.now.w[i] = w[i];
    at_.now.lambda[i] = multiplier_over(at_.system.laws[law], w[i]);
    // One with memory leaves its first branch only where no continuation stays in it; w may be by guesses.
    if (!at_.system.laws[law].memory) at_.now.mode[law] = nearest_branch(at_.system.laws[law], w[i]);
  }
  run_.sides.jumped(run_.sides.errors_at_start());
  const Step start = at_.now;
  go_on(start, {at_.all_laws}, {}, JumpOfX::none);
}

/// Goes on from the present time in the mode of a continuation.
void ModeTransition::enter(const Continuation& continuation) {
  const Jet& jet = continuation.jet;
  run_.poles.forget();
  at_.now.mode = continuation.mode;
  at_.now.x = jet.x.col(0);
  at_.now.lambda = jet.lambda.col(0);
  at_.now.w = jet.w.col(0);
  run_.jets.set_rests(continuation.at_end);
  run_.integrator.enter(jet, record_.steps == 0);
  const int passed = run_.sides.settle();
  if (passed > 0 && record_.is_at_start()) record_.counts()["resets_passed_at_start"] += passed;
  run_.integrator.watch(jet);
  run_.locator.watch_mode();
}

void ModeTransition::at_corner(const Gap& fell, const Step& state) {
  Passage& passage = at_.passage;
  passage = {};
  run_.jets.hold_ends(fell.law >= 0 ? std::vector<int>{fell.law} : std::vector<int>{});
  passage.before = run_.jets.at_state(state);
  passage.gaps.push_back(fell);
  std::ranges::copy(gaps_of_moment(fell, state), std::back_inserter(passage.gaps));
  run_.sensitivity.at_corner(fell);
}

/// The gaps of other laws that are 0, or were within the moment: how small one is beside its unit tells nothing, a multiplier
/// that decays has long to go however small it is.
std::vector<Gap> ModeTransition::gaps_of_moment(const Gap& fell, const Step& state) const {
  const Passage& passage = at_.passage;
  std::vector<Gap> gaps;
  const double together = at_.same_moment(state);
  for (const Gap& gap : run_.locator.gaps()) {
    if (gap.law < 0 || gap.law == fell.law) continue;
    const double value = run_.locator.value(gap, state);
    const Matrix& series = gap.of_lambda ? passage.before.lambda : passage.before.w;
    const double speed = series.cols() > 1 ? std::abs(series(gap.law, 1)) : 0;
    if (std::abs(value) <= speed * together) gaps.push_back(gap);
  }
  return gaps;
}

void ModeTransition::at_fixed_time(const Step& state) {
  if (!run_.sensitivity.active()) return;
  at_.passage.before = run_.jets.at_state(state);
  run_.sensitivity.at_fixed_time();
}

void ModeTransition::watch_data(const Step& state, double t_after) {
  if (!run_.sensitivity.active()) return;
  std::vector<Gap> gaps = gaps_of_moment({}, state);
  for (const int reset : resets_met({}, state)) gaps.push_back({.reset = reset});
  run_.sensitivity.watch_data(gaps, t_after);
}

/// Of these laws those of touched parts, and all laws of the others, which go on.
ModeTransition::Asked ModeTransition::reached(const std::vector<int>& undecided, const std::vector<char>& touched) const {
  const auto is_touched = [&](int law) { return touched[at(run_.jets.all().parts()[at(at_.system.n() + law)])] != 0; };
  Asked result;
  std::ranges::copy_if(undecided, std::back_inserter(result.undecided), is_touched);
  std::ranges::copy_if(at_.all_laws, std::back_inserter(result.going_on), std::not_fn(is_touched));
  return result;
}

ModeTransition::Asked ModeTransition::asked(const std::vector<int>& hit, const std::vector<int>& undecided) const {
  const std::vector<int>& parts = run_.jets.all().parts();
  std::vector<char> touched(parts.size(), 0);
  for (const int law : hit) touched[at(parts[at(at_.system.n() + law)])] = 1;
  return reached(undecided, touched);
}

/// Those behind resets that made the present x of this one.
ModeTransition::Asked ModeTransition::asked_by_jump(const Vector& x_before) const {
  const std::vector<int>& parts = run_.jets.all().parts();
  std::vector<char> touched(parts.size(), 0);
  for (int j = 0; j < at_.system.n(); ++j)
    if (at_.now.x[j] != x_before[j]) touched[at(parts[at(j)])] = 1;
  if (at_.now.x == x_before) return {at_.all_laws};
  return reached(at_.all_laws, touched);
}

/// The modes in which a solution goes on: of the undecided laws, else of all; from an edge by rates.
Selection ModeTransition::selection_of(const Step& before, const Asked& asked, const std::vector<int>& hit) {
  SelectionOptions options{.is_given = record_.is_at_start() && before.x == at_.now.x,
                                 .ended = hit,
                                 .going_on = asked.going_on,
                                 .ended_rates = rates_of(at_.passage.before, hit),
                                 .rates = run_.integrator.rates(),
                                 .likely = [&] { return modes_of_steps(at_, before); },
                                 .asks_all = at_.options.watches_repulsion};
  const auto select_from = [&](const std::vector<int>& laws) {
    return select(run_.jets.all(), at_.now.t, at_.now.x, at_.now.lambda, at_.now.mode, laws, options);
  };
  Selection selection = select_from(asked.undecided);
  if (selection.admissible.empty() && static_cast<int>(asked.undecided.size()) < at_.system.m()) {
    options.going_on.clear();
    selection = select_from(at_.all_laws);
  }
  if (!selection.complete) ++record_.counts()["choices_not_complete"];
  // The sensitivities need the series.
  if (selection.admissible.empty() && is_at_edge_ && !run_.sensitivity.active())
    selection.admissible = run_.rough.continuations(asked.undecided);
  return selection;
}

void ModeTransition::go_on(const Step& before, const Asked& asked, std::vector<int> hit,
                           JumpOfX jump_of_x) {
  if (!hit.empty() && ends_with_mode()) return end_with_mode(hit);
  run_.jets.hold_ends(hit);
  Step from = before;  // for what goes on without the jets
  from.x = at_.now.x;
  const Selection selection = selection_of(before, asked, hit);
  if (close_at_corner(before, selection, hit)) return;
  if (run_.choice.is_least_open(selection, before)) return run_.rest.capture(from, "no series tells of the solution of least norm");
  if (!selection.admissible.empty())
    take(selection, before, hit, jump_of_x);
  else if (!goes_on_otherwise(before, from, selection))
    return;
  run_.jets.release_ends();
  if (record_.is_open()) begin_mode(!selection.admissible.empty());
}

/// Where no continuation keeps x: does a mode begin behind a jump, or the run end?
bool ModeTransition::goes_on_otherwise(const Step& before, const Step& from, const Selection& selection) {
  if (ends_otherwise(before, from) || !record_.is_open() || close_before_rest()) return false;
  if (jump(before, selection)) return record_.is_open();
  end_here(before, selection);
  return false;
}

/// The present state is a row, unless resets fire at once.
void ModeTransition::begin_mode(bool keeps_x) {
  if (keeps_x && fire_where_conditions_jump()) return;
  record_.row(at_.now, record_.is_asked(at_.now.t));
  close_accumulation();
}

/// Resets whose conditions jump to the other side with the multipliers and algebraic variables of a new mode fire at
/// once, from its state. Were there any?
bool ModeTransition::fire_where_conditions_jump() {
  ResetWatch& resets = run_.sides.watch();
  const ResetWatch::Errors errors = run_.sides.errors_at_event(at_.now);
  const std::vector<int>& fired = run_.sides.fired_here();
  std::vector<int> list;
  for (int k = 0; k < resets.count(); ++k)
    if (resets.fires(k, resets.sign(k, at_.now, errors)) && std::ranges::find(fired, k) == fired.end()) list.push_back(k);
  if (list.empty()) return false;
  const Step before = at_.now;
  at_.passage.before = run_.jets.at_state(before);
  pass_by_resets(list, before);
  return true;
}

void ModeTransition::go_on_from_edge(const Step& before) {
  is_at_edge_ = true;
  const std::vector<int> hit = at_.laws_hit();
  go_on(before, {at_.undecided_laws(before, hit)}, hit, JumpOfX::none);
  is_at_edge_ = false;
}

/// Enters one of the continuations.
void ModeTransition::take(const Selection& selection, const Step& before, const std::vector<int>& hit,
                          JumpOfX jump_of_x) {
  const bool first = record_.is_at_start(), x_jumped = jump_of_x != JumpOfX::none;
  const std::size_t chosen = run_.choice.choose(selection, before, hit);
  const Vector old_lambda = at_.now.lambda;
  enter(selection.admissible[chosen]);
  // What no derivative determines is that of the mode after a reset.
  if (jump_of_x == JumpOfX::by_reset) record_.events().back().x_after = at_.now.x;
  run_.sensitivity.leave(before, selection.admissible[chosen].jet, x_jumped, {});
  if (first) {
    if (selection.admissible.size() > 1) ++record_.counts()["choices_at_start"];  // no event tells of it
    return;
  }
  log_change(before, selection, chosen, jump_of_x);
  // The state before a discontinuity of this moment is a row of its own.
  if (!x_jumped && (at_.now.lambda - old_lambda).norm() > 0) record_.row(before, false);
}

/// No continuation keeps x: is that the end of the mode, of the smooth equations, or an impact?
bool ModeTransition::ends_otherwise(const Step& before, const Step& from) {
  if (ends_with_mode()) {
    end_with_mode({0});
    return true;
  }
  if (is_at_edge_) {
    run_.rest.capture(from, "the equations are not smooth at the end of the mode");
    return true;
  }
  return impact(before);
}

/// The end of the run where it is the end of a mode: the present state is the last one in it.
void ModeTransition::end_with_mode(const std::vector<int>& hit) {
  run_.sensitivity.watch_end_of_mode();
  for (const int law : hit) {
    Event event = event_at(EventKind::no_solution, at_.now.t, at_.now.x, "the mode ends");
    event.law = law;
    event.dt_dq = at_.passage.dt;
    event.condition = at_.passage.condition;
    if (run_.sensitivity.active()) event.pieces = {run_.sensitivity.maps().at_event()};
    record_.events().push_back(std::move(event));
  }
  record_.row(at_.now, record_.is_asked(at_.now.t));
  record_.finish(Status::no_solution, fmt::format("the mode ends at {}{}", record_.place(at_.now), run_.sensitivity.why_none()));
}

std::string ModeTransition::note_of(const Step& before, const Selection& selection, std::size_t chosen) {
  const Continuation& next = selection.admissible[chosen];
  std::string note = continuations_note(at_.system.laws, selection, chosen);
  if (!next.strict) note += note.empty() ? "grazing" : "; grazing";
  if (is_at_edge_ && next.jet.w.cols() == 2)  // from no series
    note += "by first derivatives: the equations have no others here, other modes are not decided";
  if (at_.options.cross_check) note += cross_check(at_, record_.counts(), before, next.mode, note.empty());
  return note;
}

/// The event of a law that changes its branch.
Event ModeTransition::change_of(int law, const Step& before, const Continuation& next,
                                JumpOfX jump_of_x) const {
  const auto i = static_cast<std::size_t>(law);
  Event event;
  event.kind = kind_of_change(at_.system.laws[i], before.mode[i], next.mode[i]);
  event.t = event.t_before = event.t_after = at_.now.t;
  event.law = law;
  event.from = before.mode[i];
  event.to = next.mode[i];
  event.x_before = jump_of_x == JumpOfX::none ? before.x : at_.now.x;  // the jump is an event
  event.x_after = at_.now.x;
  event.is_weak = !next.strict;
  event.condition = at_.passage.condition;
  event.dt_dq = at_.passage.dt;
  if (const auto rate = run_.sensitivity.rate_at_event(law)) {
    event.dt_dq = rate->time();
    event.condition = 1 / std::abs(rate->by_t);
  }
  event.pieces = at_.passage.pieces;
  return event;
}

void ModeTransition::log_change(const Step& before, const Selection& selection, std::size_t chosen,
                                JumpOfX jump_of_x) {
  const Continuation& next = selection.admissible[chosen];
  const std::string note = note_of(before, selection, chosen);
  int signature = 17;
  std::vector<int> changed;
  for (std::size_t i = 0; i < before.mode.size(); ++i) {
    signature = 31 * signature % 1'000'003 + next.mode[i];
    if (before.mode[i] == next.mode[i]) continue;
    changed.push_back(static_cast<int>(i));
    if (jump_of_x == JumpOfX::by_contacts && std::ranges::find(contacts_told_, static_cast<int>(i)) != contacts_told_.end()) continue;
    Event event = change_of(static_cast<int>(i), before, next, jump_of_x);
    event.note = note;
    event.continuations = static_cast<int>(selection.admissible.size());
    record_.events().push_back(std::move(event));
  }
  if (changed.empty()) return;
  ++record_.counts()["mode_changes"];
  accumulate(at_.now.t, signature, std::move(changed));
}

/// ‖∂F/∂ẋ (x⁺ − x⁻)‖ of a jump from there to the present state.
double ModeTransition::size_of_jump(const Vector& x_before) {
  DcsEvaluator& evaluator = run_.jets.evaluator();
  const int n = evaluator.n();
  Vector z(evaluator.inputs()), rows(n + evaluator.m()), derivatives(static_cast<Eigen::Index>(evaluator.entries().size()));
  z << at_.now.t, Vector::Zero(n), x_before, at_.now.lambda;
  evaluator.linearize(z.data(), rows.data(), derivatives.data());
  Vector motion = Vector::Zero(n);
  for (std::size_t k = 0; k < evaluator.entries().size(); ++k) {
    const auto [row, column] = evaluator.entries()[k];
    if (row < n && column >= 1 && column <= n)
      motion[row] += derivatives[static_cast<Eigen::Index>(k)] * (at_.now.x[column - 1] - x_before[column - 1]);
  }
  return motion.norm();
}

/// A jump of x from there to the present state, at the present event.
Event ModeTransition::event_here(EventKind kind, double t, const Vector& x_before) {
  Event event;
  event.kind = kind;
  event.t = event.t_before = event.t_after = t;
  event.x_before = x_before;
  event.x_after = at_.now.x;
  event.size = size_of_jump(x_before);
  event.dt_dq = at_.passage.dt;
  event.condition = at_.passage.condition;
  return event;
}

/// An event of these laws at the present state joins those that may accumulate.
void ModeTransition::accumulate(double t, int signature, std::vector<int> laws) {
  accumulation_.add(t, at_.now.x, signature, std::move(laws), run_.sensitivity.maps().at_event(),
                    run_.sensitivity.maps().event_time());
}

}  // namespace perp
