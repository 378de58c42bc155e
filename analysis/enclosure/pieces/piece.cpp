// One piece of an enclosure followed through its modes; called by `enclose`.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/pieces/events_of.hpp>
#include <perp/analysis/enclosure/pieces/piece.hpp>

namespace perp::enclosure {
namespace {

bool is_falling(const Monitor& monitor) { return monitor.trend == Trend::falling; }

/// Of a start that is in no mode, the reason of one of them; a violated equation tells most.
std::optional<Successor> elsewhere(const std::vector<Successor>& list) {
  if (list.empty()) return Successor{.reason = "no branch of a law holds its argument"};
  for (const Successor& next : list)
    if (next.verdict != Verdict::refuted || !next.is_elsewhere) return std::nullopt;
  const auto found = std::find_if(list.begin(), list.end(),
                                  [](const Successor& next) { return next.equation >= 0; });
  return found != list.end() ? *found : list.front();
}

}  // namespace

ExactNumbersOrNone PieceTask::exact_inputs(const Box& part) const {
  Box variables(static_cast<std::size_t>(system.n()), Interval::none()), parameters = space.values;
  std::size_t state = 0;
  for (const int j : space.variables) variables[static_cast<std::size_t>(j)] = part[state++];
  for (const int k : space.parameters) parameters[static_cast<std::size_t>(k)] = part[state++];
  return enclosure::exact_inputs(system, span.start, exact, variables, parameters);
}

Piece::Piece(const PieceTask& task, const Box& start, Effort effort)
    : task_(task),
      start_(task.dependent.completed(start)),
      effort_(effort),
      flows_(task.system, task.space, task.options.step),
      open_flows_(flows_),
      widths_(task.reach, task.options.share),
      computed_(computed_variables(task.space, task.system.n())),
      proof_(start_, task.options.proof) {}

PieceResult Piece::run() {
  start();
  while (!open_.empty() && !result_.enclosure.lost && !is_given_up()) {
    Branch branch = std::move(open_.back());
    open_.pop_back();
    follow(branch);
  }
  for (const Branch& branch : open_) note_unfinished(branch);
  result_.enclosure.proof = proof_.take();
  result_.is_given_up = is_given_up();
  std::stable_sort(result_.enclosure.rows.begin(), result_.enclosure.rows.end(),
                   [](const EnclosureRow& a, const EnclosureRow& b) { return a.t < b.t; });
  std::stable_sort(
      result_.enclosure.events.begin(), result_.enclosure.events.end(),
      [](const EnclosureEvent& a, const EnclosureEvent& b) { return a.t.lo < b.t.lo; });
  return std::move(result_);
}

Piece::Outcome Piece::lose(const Branch& branch, const std::string& reason, const Interval& t,
                           int gap) {
  Lost lost{t, reason, "", -1, -1, branch.mode};
  if (gap >= 0) {
    const ModeFlow& flow = flows_.get(branch.mode, t, branch.set.box(), branch.root);
    lost.law = flow.system.gaps[static_cast<std::size_t>(gap)].law;
    lost.reset = flow.system.gaps[static_cast<std::size_t>(gap)].reset;
  }
  result_.enclosure.lost = lost;
  note_split(branch, gap < 0 ? std::vector<bool>(branch.set.box().size(), true)
                             : undecided_states(branch, t, gap));
  return Outcome::lost;
}

/// Goes on in the modes that were proved. False: it is not known which they are. `reached`: the
/// states that act on the event.
bool Piece::settle(Branch branch, const std::vector<Successor>& list,
                   const std::vector<bool>& reached, bool& is_many) {
  const auto count = [&](Verdict verdict) {
    return std::count_if(list.begin(), list.end(),
                         [&](const Successor& next) { return next.verdict == verdict; });
  };
  const auto proved = count(Verdict::proved);
  if (count(Verdict::open) > 0 || proved == 0) {
    std::string reason = proved == 0 && count(Verdict::open) == 0 ? "no continuous continuation"
                                                                  : "the next mode is not known";
    for (const Successor& next : list)
      if (next.verdict != Verdict::proved)
        reason += fmt::format("; {}: {}", describe(task_.system.laws, next.mode), next.reason);
    lose(branch, reason, Interval(branch.t), -1);
    note_split(branch, deciding_states(list, reached));
    return false;
  }
  is_many = proved > 1;
  if (!is_funnel(list)) return true;
  lose(branch, "the surface repels: solutions may leave it at any time", Interval(branch.t), -1);
  return false;
}

Doubleton Piece::set_of(const Box& start) const {
  return task_.dependent.bound(Doubleton(start, task_.space.constant));
}

void Piece::start() {
  Branch branch{.t = task_.span.start, .set = set_of(start_)};
  branch.tube_from = branch.t;
  flows_.guess(task_.start);
  flows_.start_at(task_.exact_inputs(start_));
  Successors successors(flows_, Interval(branch.t), start_);
  const std::vector<Successor> list = successors.at_start(nullptr, {}, &task_.start);
  result_.elsewhere = elsewhere(list);
  result_.enclosure.forbids_starts = forbids_starts(list);
  if (result_.elsewhere) return;
  if (is_disturbed()) return start_disturbed(branch, list);
  bool is_many = false;
  if (!settle(branch, list, std::vector<bool>(start_.size()), is_many)) {
    open_at_start(branch, list);
    return;
  }
  if (is_many) branch.flag = Flag::all;
  for (const Successor& next : list)
    if (next.verdict == Verdict::proved) begin(branch, next);
}

/// A branch that starts in this mode, with its rows at the start.
void Piece::begin(Branch one, const Successor& next) {
  one.take_mode(next);
  one.number = numbers_++;
  ModeFlow& flow = flows_.get(one.mode, Interval(one.t), start_, one.root);
  flow.use(one.implicit);
  one.set = set_of(flow.step.start(one.t, start_));
  for (; one.row < task_.times.size() && task_.times[one.row] == one.t; ++one.row) {
    EnclosureRow row;
    row.branch = one.number;
    row.flag = one.flag;
    if (make_row(flow, Interval(one.t), start_, row)) result_.enclosure.rows.push_back(row);
  }
  open_.push_back(std::move(one));
}

/// Is more asked of the branch, or waits something of it for the end of an event?
bool Piece::goes_on(const Branch& branch) const {
  const bool wanted = task_.options.tube || branch.row < task_.times.size();
  return (branch.t < task_.span.end && wanted) || !branch.waiting.empty() ||
         !branch.waiting_tube.empty();
}

void Piece::follow(Branch& branch) {
  branch.certain.reset();
  while (goes_on(branch) && !is_given_up())
    if (advance(branch) == Outcome::lost && !open_after_loss(branch))
      return note_unfinished(branch);
}

/// Beyond the end only to learn whether an event was before it.
double Piece::end_of_steps(const Branch& branch) const {
  const double end =
      branch.t < task_.span.end ? task_.span.end : 2 * task_.span.end - task_.span.start;
  if (!branch.notes_settled || branch.t >= branch.settled) return end;
  return std::min(end,
                  branch.t + task_.grid * std::ceil((branch.settled - branch.t) / task_.grid));
}

/// One step as far as all gaps are certain, at most to an event of the centre.
Piece::Outcome Piece::advance(Branch& branch) {
  ModeFlow& flow = flows_.get(branch.mode, Interval(branch.t), branch.set.box(), branch.root);
  if (result_.enclosure.steps == task_.options.most_steps ||
      ++branch.steps > task_.most_smooth_steps)
    return lose(branch, "the number of steps has reached its limit", Interval(branch.t), -1);
  if (!prepare_step(branch, flow, end_of_steps(branch))) return lose_step(branch, flow);
  ++result_.enclosure.steps;
  note_certain(branch, flow);
  proof_.begin();
  const Stop stop = next_stop(flow.step, branch.set, branch.t, task_.grid, branch.monitors, proof_);
  if (!(stop.t > branch.t) && stop.reached < 0) return lose_undecided(branch, flow, stop.undecided);
  if (branch.short_steps.are_in_vain(stop)) return lose_undecided(branch, flow, stop.shortened_by);
  return step_to(branch, flow, stop.t, stop.reached);
}

/// Rows up to `end`, and the set there. `reached`: the monitor of an event there; -1: none.
Piece::Outcome Piece::step_to(Branch& branch, ModeFlow& flow, double end, int reached) {
  const bool may_switch = std::any_of(branch.monitors.begin(), branch.monitors.end(), is_falling);
  if (!may_switch) flush(branch);
  if (end > branch.t) {
    const std::size_t first_row = branch.row;
    for (; branch.row < task_.times.size() && task_.times[branch.row] <= end; ++branch.row)
      if (!add_row(branch, flow, task_.times[branch.row]))
        return lose(branch, "an algebraic variable has no value everywhere in the set",
                    Interval(task_.times[branch.row]), -1);
    if (!add_tube(branch, flow, end, may_switch))
      return lose(branch, "an algebraic variable has no value everywhere in the set",
                  Interval(std::max(branch.t, branch.tube_from), end), -1);
    proof_.note_move(flow, branch.set, branch.t, end);
    flow.step.move(branch.set, end);
    proof_.note_moved(branch.set);
    branch.t = end;
    if (branch.row > first_row) note_width(branch, flow);
  }
  return reached < 0 ? Outcome::moved : pass_event(branch, flow, reached);
}

/// One row of a step that is prepared. False: an algebraic variable has no value.
bool Piece::add_row(Branch& branch, ModeFlow& flow, double time) {
  EnclosureRow row{.branch = branch.number, .flag = branch.flag, .how = branch.how};
  const TaylorStep::Image image = flow.step.image_at(branch.set, time);
  proof_.note_row(time, image.states);
  const auto end = branch.monitors.end();
  const auto falling = std::find_if(branch.monitors.begin(), end, is_falling);
  Box part;
  if (falling != end)
    part = on_side(flow, *falling, Interval(time), branch.set, image, image.states);
  if (!make_row(flow, Interval(time), branch.set, image, row, falling != end ? &part : nullptr))
    return false;
  const Interval tau = Interval(time) - Interval(branch.t);
  const bool is_certain = std::all_of(falling, end, [&](const Monitor& monitor) {
    return !is_falling(monitor) ||
           certain_sign(gap_range(flow.step, monitor, 0, tau, branch.set)) > 0;
  });
  (is_certain && branch.waiting.empty() ? result_.enclosure.rows : branch.waiting).push_back(row);
  return true;
}

void Piece::flush(Branch& branch) {
  auto& rows = result_.enclosure.rows;
  rows.insert(rows.end(), branch.waiting.begin(), branch.waiting.end());
  branch.waiting.clear();
  auto& tube = result_.enclosure.tube;
  tube.insert(tube.end(), branch.waiting_tube.begin(), branch.waiting_tube.end());
  branch.waiting_tube.clear();
}

Piece::Outcome Piece::pass_event(Branch& branch, ModeFlow& flow, int reached) {
  branch.steps = 0;
  if (++branch.events > task_.options.most_events)
    return lose(branch, "events accumulate, or there are more of them than the limit",
                Interval(branch.t), -1);
  if (!prepare(branch, flow)) return lose_step(branch, flow);
  const Monitor monitor = branch.monitors[static_cast<std::size_t>(reached)];
  EventWindow window(flows_, branch.t, branch.set, flow, branch.monitors, reached, task_.grid);
  if (!window.locate()) {
    const bool is_kink = window.other() >= 0 && ends_continuously(flow, window.other());
    return lose(branch, window.reason(), Interval(branch.t),
                is_kink ? window.other() : monitor.gap);
  }
  const std::vector<Successor> list = window.successors();
  bool is_many = false;
  if (!settle(branch, list, acting_states(branch, Interval(branch.t), monitor.gap), is_many)) {
    result_.enclosure.lost->t = window.time();
    result_.enclosure.lost->law = flow.system.gaps[static_cast<std::size_t>(monitor.gap)].law;
    result_.enclosure.lost->reset = flow.system.gaps[static_cast<std::size_t>(monitor.gap)].reset;
    return Outcome::lost;
  }
  if (is_many) branch.flag = Flag::all;
  return enter(branch, flow, window, monitor, list) ? Outcome::moved : Outcome::lost;
}

/// The first one keeps its number. False: there are more branches than the limit.
bool Piece::take_number(Branch& one, bool is_first) {
  if (is_first) return true;
  if (numbers_ >= task_.options.branches) return false;
  one.number = numbers_++;
  return true;
}

/// Into every mode that was proved: the first one goes on as this branch, the others are open.
bool Piece::enter(Branch& branch, ModeFlow& from, EventWindow& window, const Monitor& reached,
                  const std::vector<Successor>& list) {
  constexpr const char* no_value = "an algebraic variable has no value everywhere in the set";
  const Branch before = branch;
  Branch at_event = before;
  from.use(before.implicit);
  if (!note_early_states(at_event, from, reached, window.time())) {
    lose(before, no_value, window.time(), -1);
    return false;
  }
  bool is_first = true;
  for (const Successor& next : list) {
    if (next.verdict != Verdict::proved) continue;
    ModeFlow& to = flows_.get(next.mode, window.time(), window.states(), next.root);
    to.use(next.implicit);
    const std::optional<Doubleton> set = window.pass(to, next);
    if (!set) {
      lose(before, window.reason(), window.time(), reached.gap);
      return false;
    }
    Branch one = at_event;
    one.set = *set;
    one.take_mode(next);
    if (!take_number(one, is_first)) {
      lose(before, "there are more branches than the limit", window.time(), reached.gap);
      return false;
    }
    one.settled = window.time().hi;
    note_event(one, reached, from, to, window);
    if (!join_passing(one, to, window.time())) {
      lose(before, no_value, window.time(), -1);
      return false;
    }
    flush(one);
    if (is_first)
      branch = one;
    else
      open_.push_back(one);
    is_first = false;
  }
  return true;
}

void Piece::note_event(const Branch& branch, const Monitor& reached, const ModeFlow& from,
                       const ModeFlow& to, const EventWindow& window) {
  if (window.time().lo > task_.span.end) return;
  const Gap& gap = from.system.gaps[static_cast<std::size_t>(reached.gap)];
  for (EnclosureEvent event : events_of(window, gap, task_.system.laws, from.system, to.system)) {
    event.t = window.time();
    event.branch = branch.number;
    event.unique = branch.flag == Flag::unique;
    result_.enclosure.events.push_back(event);
  }
}

bool Piece::make_row(ModeFlow& flow, const Interval& t, const Box& states, EnclosureRow& row) {
  if (!flow.observe(t, states)) return false;
  fill_row(flow, t, states, row);
  return true;
}

bool Piece::make_row(ModeFlow& flow, const Interval& t, const Doubleton& set,
                     const TaylorStep::Image& image, EnclosureRow& row, const Box* part) {
  if (!flow.observe(t, set, image, part)) return false;
  fill_row(flow, t, part != nullptr ? *part : image.states, row);
  return true;
}

void Piece::fill_row(const ModeFlow& flow, const Interval& t, const Box& states,
                     EnclosureRow& row) {
  const int n = task_.system.n(), m = task_.system.m();
  row.box = flow.observed_variables(n, task_.space, states);
  for (int k = n; k < n + m; ++k) row.multipliers.push_back(flow.observed(k));
  row.t = t.lo;
  row.modes = {flow.system.mode};
  row.root = flow.system.root;
}

}  // namespace perp::enclosure
