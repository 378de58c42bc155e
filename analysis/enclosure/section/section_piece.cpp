// Pieces of enclosures from section to section, each member in its own time; called by the union of
// pieces.
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/pieces/events_of.hpp>
#include <perp/analysis/enclosure/pieces/stops.hpp>
#include <perp/analysis/enclosure/section/clock.hpp>
#include <perp/analysis/enclosure/section/section_piece.hpp>

namespace perp::enclosure {
namespace {

void widen(Box& box, const Box& other) {
  for (std::size_t i = 0; i < box.size(); ++i) box[i] = hull(box[i], other[i]);
}

/// The part of both. False: there is none.
bool meet(Box& box, const Box& other) {
  for (std::size_t i = 0; i < box.size(); ++i) {
    const std::optional<Interval> both = intersection(box[i], other[i]);
    if (!both) return false;
    box[i] = *both;
  }
  return true;
}

/// The only mode that goes on, if it is proved and all others are refuted.
const Successor* only_successor(const std::vector<Successor>& list) {
  const Successor* only = nullptr;
  for (const Successor& next : list) {
    if (next.verdict == Verdict::refuted) continue;
    if (next.verdict == Verdict::open || only != nullptr) return nullptr;
    only = &next;
  }
  return only;
}

/// The smaller one of two numbers, or the larger one.
Interval end_of(const Interval& a, const Interval& b, bool is_least) {
  return is_least ? Interval(std::min(a.lo, b.lo), std::min(a.hi, b.hi))
                  : Interval(std::max(a.lo, b.lo), std::max(a.hi, b.hi));
}

}  // namespace

Box SectionTask::with_clock(const Box& start) const {
  Box box = start;
  box.insert(box.begin() + clock, Interval(task.span.start));
  return box;
}

void SectionTask::use_reach(const PieceTask& measured) {
  task.reach = measured.reach;
  task.widest = measured.widest;
  for (std::vector<double>& widths : task.reach) widths.insert(widths.begin() + clock, 0.0);
  if (!task.widest.empty()) task.widest.insert(task.widest.begin() + clock, 0.0);
}

std::optional<SectionTask> section_task(const PieceTask& task, Dcs& system, StateSpace& space) {
  if (task.options.tube || task.options.proof || !task.space.disturbances.empty())
    return std::nullopt;
  system = perp::enclosure::with_clock(task.system);
  space = state_space(system, task.space.values);
  space.names = task.space.names;
  const auto clock = task.space.variables.size();
  PieceTask clocked{.system = system,
                    .space = space,
                    .options = task.options,
                    .span = task.span,
                    .times = task.times,
                    .grid = task.grid,
                    .start = task.start,
                    .exact = task.exact,
                    .most_smooth_steps = task.most_smooth_steps};
  clocked.start.emplace_back(task.span.start);
  if (!clocked.exact.variables.empty()) clocked.exact.variables.emplace_back(task.span.start);
  return SectionTask{.task = clocked, .clock = static_cast<int>(clock)};
}

SectionPiece::SectionPiece(const SectionTask& task, const Box& start, Effort effort)
    : of_(task),
      task_(task.task),
      start_(task.with_clock(start)),
      effort_(effort),
      flows_(task_.system, task_.space, task_.options.step),
      widths_(task_.reach, task_.options.share),
      computed_(computed_variables(task_.space, task_.system.n())),
      t_(task_.span.start),
      set_(start_, task_.space.constant),
      entered_(task_.span.start),
      proof_(start_, false) {}

std::optional<PieceResult> SectionPiece::run() {
  if (!begin()) return std::nullopt;
  while (!is_over() && !is_given_up())
    if (!advance()) return std::nullopt;
  join_rows();
  for (auto& [number, row] : rows_) result_.enclosure.rows.push_back(std::move(row));
  result_.is_given_up = is_given_up();
  // The clock, a point at the start, is none of its states.
  if (result_.split > of_.clock) --result_.split;
  return std::move(result_);
}

bool SectionPiece::begin() {
  flows_.guess(task_.start);
  flows_.start_at(task_.exact_inputs(start_));
  Successors successors(flows_, Interval(t_), start_);
  const std::vector<Successor> list = successors.at_start(nullptr, {}, &task_.start);
  result_.enclosure.forbids_starts = forbids_starts(list);
  const Successor* next = only_successor(list);
  if (next == nullptr) return false;
  mode_ = next->mode;
  root_ = next->root;
  monitors_ = next->monitors;
  ModeFlow& flow = flows_.get(mode_, Interval(t_), start_, root_);
  set_ = Doubleton(flow.step.start(t_, start_), task_.space.constant);
  return !flow.has_implicit() && add_rows(flow, t_);
}

/// All rows are made, and no event can be before the last of them.
bool SectionPiece::is_over() const {
  const bool is_falling =
      std::any_of(monitors_.begin(), monitors_.end(),
                  [](const Monitor& monitor) { return monitor.trend == Trend::falling; });
  const double last = task_.times.back();
  return entered_.lo > last || (row_ == task_.times.size() && clock().lo > last && !is_falling);
}

bool SectionPiece::is_given_up() const {
  return effort_ == Effort::until_wide && result_.excess > task_.options.share &&
         can_bisect(start_, result_.split);
}

double SectionPiece::time_of_row(std::size_t row) const {
  const double ahead = task_.times[row] - set_.center()[static_cast<std::size_t>(of_.clock)];
  return t_ + task_.grid * std::round(ahead / task_.grid);
}

/// False: there is none, or no more steps are allowed.
bool SectionPiece::prepare_step(ModeFlow& flow) {
  const double length = task_.span.end - task_.span.start;
  return result_.enclosure.steps++ != task_.options.most_steps &&
         ++smooth_steps_ <= task_.most_smooth_steps &&
         flow.step.prepare(set_, t_, t_ + length, task_.grid);
}

bool SectionPiece::advance() {
  const Interval t(t_);
  ModeFlow& flow = flows_.get(mode_, t, set_.box(), root_);
  if (!prepare_step(flow)) return false;
  const Stop stop = next_stop(flow.step, set_, t_, task_.grid, monitors_, proof_);
  if (!(stop.t > t_) && stop.reached < 0) return false;
  if (short_steps_.are_in_vain(stop)) return false;
  if (!add_rows(flow, stop.t)) return false;
  if (stop.t > t_) flow.step.move(set_, stop.t);
  t_ = stop.t;
  return stop.reached < 0 || pass_event(flow, stop.reached);
}

/// Those that the centre reaches until then, of a step that is prepared.
bool SectionPiece::add_rows(ModeFlow& flow, double until) {
  for (; row_ < task_.times.size() && time_of_row(row_) <= until; ++row_) {
    Doubleton set = set_;
    const double t = std::max(time_of_row(row_), t_);  // before: from the last section back
    if (t > t_) flow.step.move(set, t);
    if (!add_row(flow, set, t, row_)) return false;
  }
  return true;
}

/// F + J (x − x̂) with J = Φ(τ) − f ∇cᵀ, τ = T − c, on { c = T }.
std::optional<Doubleton> SectionPiece::set_at(ModeFlow& flow, const Doubleton& set, double t,
                                              std::size_t row) const {
  const auto c = static_cast<std::size_t>(of_.clock);
  const Interval T(task_.times[row]), at(t);
  const Interval center_tau = T - Interval(set.center()[c]);
  const Interval tau = hull(T - set.box()[c], center_tau);
  TaylorStep& window = flow.window;
  if (!window.prepare_window(at, set.box(), at, points(set.center()), magnitude(tau)))
    return std::nullopt;
  Box F = window.centre_at(center_tau), states = window.box_at(tau), all = states;
  widen(all, F);
  if (!flow.expand(at + tau, all, 2, false)) return std::nullopt;
  IntervalMatrix J = window.flow_jacobian(tau);
  for (int i = 0; i < set.states(); ++i) J(i, of_.clock) -= flow.jet().coefficient(i, 1);
  F[c] = states[c] = T;
  for (int j = 0; j < set.states(); ++j) J(of_.clock, j) = Interval(0);
  window.complete(at, F, J, states);
  window.project(at, F, J, states);
  Doubleton there = set;
  there.move(F, J, states);
  return there;
}

bool SectionPiece::add_row(ModeFlow& flow, const Doubleton& set, double t, std::size_t row) {
  const std::optional<Doubleton> there = set_at(flow, set, t, row);
  if (!there) return false;
  widths_.note(*there, row, computed_widths(flow, computed_, Interval(task_.times[row]), *there));
  result_.excess = widths_.excess();
  if (result_.excess > task_.options.share)
    result_.split = widest_start(there->smear(widths_.wide(), task_.widest));
  return flow.observe(Interval(task_.times[row]), *there, TaylorStep::image_of(*there)) &&
         note_row(flow, there->box(), row);
}

bool SectionPiece::note_row(const ModeFlow& flow, const Box& states, std::size_t row) {
  const double time = task_.times[row];
  EnclosureRow made{.t = time};
  const int n = task_.system.n(), m = task_.system.m();
  made.box = flow.observed_variables(n, task_.space, states);
  made.box.pop_back();  // the clock
  for (int k = n; k < n + m; ++k) made.multipliers.push_back(flow.observed(k));
  made.modes = {mode_};
  made.root = root_;
  of_mode_[row] = made;
  return true;
}

/// No member is in this mode then.
bool SectionPiece::leave_out(std::size_t row) {
  of_mode_.erase(row);
  return true;
}

/// A state that grows or falls all the time is the smaller or the larger one of those at T and at the
/// event.
void SectionPiece::narrow_by_ways(const ModeFlow& flow, const Passing& passing, const Box& there,
                                  Box& states) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    const int way = certain_sign(flow.jet().coefficient(static_cast<int>(i), 1));
    if (way == 0) continue;
    const bool is_least = (way > 0) == passing.is_ahead;
    states[i] = common_part(states[i], end_of(there[i], passing.states[i], is_least));
  }
}

/// Members are in this mode at T, or have left it by then or not entered it yet: those are where
/// they leave or enter. With min for an event that is ahead, else max, the map
///     x → φ(min(T − c(x), δ(x)), x)
/// is a mean value form whose derivative lies between those of both (Lebourg).
bool SectionPiece::add_part_of_row(ModeFlow& flow, const Passing& passing, std::size_t row) {
  const auto c = static_cast<std::size_t>(of_.clock);
  const Interval T(task_.times[row]), at(t_), alone = T - set_.box()[c];
  const std::optional<Doubleton> there = set_at(flow, set_, t_, row);
  if (!there) return false;
  const Interval center_tau =
      end_of(T - Interval(set_.center()[c]), passing.center_delta, passing.is_ahead);
  const Interval tau = hull(end_of(alone, passing.delta, passing.is_ahead), center_tau);
  const Interval whole = hull(hull(alone, passing.delta), tau);
  TaylorStep& window = flow.window;
  if (!window.prepare_window(at, set_.box(), at, points(set_.center()), magnitude(whole)))
    return false;
  const Box F = window.centre_at(center_tau);
  Box all = window.box_at(whole);
  widen(all, F);
  if (!flow.expand(at + whole, all, 2, false)) return false;
  IntervalMatrix J = window.flow_jacobian(tau);
  for (int i = 0; i < set_.states(); ++i) {
    J(i, of_.clock) -= flow.jet().coefficient(i, 1);
    for (int j = 0; j < set_.states(); ++j) J(i, j) = hull(J(i, j), passing.jacobian(i, j));
  }
  Box states = common(window.box_at(tau), set_.image_box(F, J));
  narrow_by_ways(flow, passing, there->box(), states);
  // those in the mode at T are where all would be
  return meet(states, there->box()) ? note_part(flow, *there, states, row) : leave_out(row);
}

/// Of the members of a set that are in these states.
bool SectionPiece::note_part(ModeFlow& flow, const Doubleton& set, const Box& states,
                             std::size_t row) {
  return flow.observe(Interval(task_.times[row]), set, TaylorStep::image_of(set), &states) &&
         note_row(flow, states, row);
}

/// What rows hold of members in the mode that is left now.
void SectionPiece::join_rows() {
  for (auto& [row, made] : of_mode_) {
    const auto [place, is_new] = rows_.try_emplace(row, made);
    if (is_new) continue;
    widen(place->second.box, made.box);
    widen(place->second.multipliers, made.multipliers);
    place->second.modes.push_back(mode_);
  }
  of_mode_.clear();
}

bool SectionPiece::pass_event(ModeFlow& flow, int reached) {
  smooth_steps_ = 0;
  if (++events_ > task_.options.most_events) return false;
  EventWindow window(flows_, t_, set_, flow, monitors_, reached, task_.grid);
  if (!window.locate()) return false;
  const std::vector<Successor> list = window.successors();
  const Successor* next = only_successor(list);
  if (next == nullptr || is_funnel(list)) return false;
  const Interval times = window.states()[static_cast<std::size_t>(of_.clock)];
  ModeFlow& to = flows_.get(next->mode, window.time(), window.states(), next->root);
  const std::optional<Doubleton> after = to.has_implicit() ? std::nullopt : window.on_surface(to);
  if (!after) return false;
  if (!leave(
          flow,
          {window.delta(), window.center_delta(), window.surface_jacobian(), window.states(), true},
          times))
    return false;
  note_event(flow, to, monitors_[static_cast<std::size_t>(reached)], window);
  set_ = *after;
  mode_ = next->mode;
  root_ = next->root;
  monitors_ = next->monitors;
  return enter(to);
}

/// Rows of times at which members have the event, before they have it.
bool SectionPiece::leave(ModeFlow& flow, const Passing& passing, const Interval& times) {
  for (; row_ < task_.times.size() && task_.times[row_] < times.lo; ++row_)
    if (!add_row(flow, set_, t_, row_)) return false;
  entered_ = times;
  const auto first = std::lower_bound(task_.times.begin(), task_.times.end(), times.lo);
  row_ = static_cast<std::size_t>(first - task_.times.begin());
  for (std::size_t row = row_; row < task_.times.size() && task_.times[row] <= times.hi; ++row)
    if (!add_part_of_row(flow, passing, row)) return false;
  join_rows();
  return true;
}

/// The same of members that have had it.
bool SectionPiece::enter(ModeFlow& flow) {
  const IntervalMatrix same{Matrix(Matrix::Identity(set_.states(), set_.states()))};
  const Passing passing{.jacobian = same, .states = set_.box()};
  for (; row_ < task_.times.size() && task_.times[row_] <= entered_.hi; ++row_) {
    const bool is_entered = task_.times[row_] >= set_.center()[static_cast<std::size_t>(of_.clock)];
    if (is_entered && !add_row(flow, set_, t_, row_)) return false;  // which measures its width
    if (!add_part_of_row(flow, passing, row_)) return false;
  }
  return true;
}

void SectionPiece::note_event(const ModeFlow& from, const ModeFlow& to, const Monitor& reached,
                              const EventWindow& window) {
  if (entered_.lo > task_.times.back()) return;
  const Gap& gap = from.system.gaps[static_cast<std::size_t>(reached.gap)];
  for (EnclosureEvent event : events_of(window, gap, task_.system.laws, from.system, to.system)) {
    event.t = entered_;
    result_.enclosure.events.push_back(event);
  }
}

}  // namespace perp::enclosure
