// Pieces whose next mode is not known: back to the last certain time, and on by what may follow.
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/pieces/piece.hpp>

namespace perp::enclosure {
namespace {

constexpr int approaches = 6;  ///< steps to the place from which nothing is certain

/// The row holds these values of variables and multipliers too, in these modes.
void join(EnclosureRow& row, const Box& values, const std::vector<Mode>& modes) {
  const std::size_t n = row.box.size();
  for (std::size_t k = 0; k < values.size(); ++k) {
    Interval& value = k < n ? row.box[k] : row.multipliers[k - n];
    value = hull(value, values[k]);
  }
  if (!row.modes.empty()) row.modes.insert(row.modes.end(), modes.begin(), modes.end());
}

How how_of(const Inclusion& phase) {
  return phase.is_contracting() ? How::contraction : How::inclusion;
}

bool are_positive(const std::vector<Monitor>& monitors) {
  return std::all_of(monitors.begin(), monitors.end(),
                     [](const Monitor& monitor) { return monitor.trend == Trend::positive; });
}

/// Was it lost for the branch of a law alone?
bool is_of_law(const std::optional<Lost>& lost) {
  return lost && lost->law >= 0 && lost->reset < 0;
}

/// The laws in which candidates differ from the first of them, whose mode it finds; empty: there is
/// none.
std::vector<int> differing_laws(const std::vector<Successor>& list, Mode& mode) {
  std::vector<int> laws;
  for (const Successor& next : list) {
    if (next.verdict == Verdict::refuted || next.mode.empty()) continue;
    if (mode.empty()) mode = next.mode;
    for (int j = 0; j < static_cast<int>(next.mode.size()); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const bool is_known = std::find(laws.begin(), laws.end(), j) != laws.end();
      if (next.mode[at] != mode[at] && !is_known) laws.push_back(j);
    }
  }
  return laws;
}

constexpr const char* no_open_value = "an algebraic variable has no value everywhere in the set";

}  // namespace

bool Piece::prepare(Branch& branch, ModeFlow& flow) {
  if (!flow.has_implicit()) return true;
  flow.use(branch.implicit);
  if (!flow.follow(Interval(branch.t), branch.set.box())) return false;
  branch.implicit = flow.root();
  return true;
}

bool Piece::prepare_step(Branch& branch, ModeFlow& flow, double end) {
  return branch.t < end && prepare(branch, flow) &&
         flow.step.prepare(branch.set, branch.t, end, task_.grid);
}

Piece::Outcome Piece::lose_step(const Branch& branch, const ModeFlow& flow) {
  constexpr const char* no_implicit_step =
      "no step however short could be proved: implicit equations have a fold near the set, where "
      "two "
      "roots meet, or the set is too wide";
  return lose(branch, flow.has_implicit() ? no_implicit_step : flow.step.reason(),
              Interval(branch.t), -1);
}

Piece::Outcome Piece::lose_undecided(const Branch& branch, const ModeFlow& flow, int monitor) {
  if (monitor < 0 && flow.has_implicit()) return lose_step(branch, flow);
  const int gap = monitor < 0 ? -1 : branch.monitors[static_cast<std::size_t>(monitor)].gap;
  return lose(branch,
              monitor < 0
                  ? "steps become as short as the rounding of time: solutions may end here"
                  : "the end of a branch may be touched, or two ends met at nearly one time",
              Interval(branch.t), gap);
}

/// As far as all gaps are positive, to the grid.
void Piece::approach(Branch& branch) {
  ModeFlow& flow = flows_.get(branch.mode, Interval(branch.t), branch.set.box(), branch.root);
  for (int round = 0; round < approaches; ++round) {
    const double t = branch.t;
    if (!prepare_step(branch, flow, task_.span.end)) return;
    double at = t, until = flow.step.end();
    proof_.begin();
    for (double next = until; next > at;
         next = at + task_.grid * std::floor((until - at) / (2 * task_.grid))) {
      std::vector<Monitor> monitors = branch.monitors;
      const bool is_certain =
          watch(flow.step, branch.set, Interval(at, next) - Interval(t), monitors) < 0 &&
          are_positive(monitors);
      if (is_certain)
        proof_.note_slice(Interval(at, next) - Interval(t), branch.monitors, monitors);
      (is_certain ? at : until) = next;
    }
    ++result_.enclosure.steps;
    if (!(at > t) || step_to(branch, flow, at, -1) == Outcome::lost) return;
  }
}

/// Rows of a time hold all members only where every branch has its own.
void Piece::note_unfinished(const Branch& branch) {
  double& rows = result_.rows_until;
  if (branch.row < task_.times.size()) rows = std::min(rows, task_.times[branch.row]);
  for (const EnclosureRow& row : branch.waiting) rows = std::min(rows, row.t);
  double& tube = result_.tube_until;
  tube = std::min(tube, branch.tube_from);
  for (const TubeRow& row : branch.waiting_tube) tube = std::min(tube, row.from);
}

/// Is it too wide, and will be bisected?
bool Piece::is_given_up() const {
  return effort_ == Effort::until_wide && result_.excess > task_.options.share &&
         can_bisect(start_, result_.split);
}

/// Why it was lost at first, unless what may follow has been followed further than that.
void Piece::keep_reason(const Lost& first, int split) {
  const std::optional<Lost>& last = result_.enclosure.lost;
  if (last && effort_ == Effort::last && last->t.lo > first.t.hi) return;
  result_.enclosure.lost = first;
  result_.split = split;
}

bool Piece::open_after_loss(Branch& branch) {
  const std::optional<Lost> lost = result_.enclosure.lost;
  const int split = result_.split;
  if (!is_of_law(lost) || !branch.certain) return false;
  if (++branch.events > task_.options.most_events) return false;
  const bool is_again = goes_again(branch);
  if (!take_back(branch)) return false;
  result_.enclosure.lost.reset();
  branch.notes_settled = is_again;
  if (is_again) return true;
  approach(branch);
  if (!result_.enclosure.lost && follow_open(branch, {lost->law})) return true;
  keep_reason(*lost, split);
  return false;
}

bool Piece::ends_continuously(const ModeFlow& flow, int gap) const {
  const Gap& end = flow.system.gaps[static_cast<std::size_t>(gap)];
  if (end.reset >= 0 || end.of_multiplier) return false;
  const Interval beside(directed::next_down(end.end), directed::next_up(end.end));
  return graph_over(task_.system.laws[static_cast<std::size_t>(end.law)], beside).is_function;
}

/// The laws of which the candidates differ are open from the start on.
void Piece::open_at_start(const Branch& start, const std::vector<Successor>& list) {
  Branch branch = start;
  const std::vector<int> laws = differing_laws(list, branch.mode);
  if (branch.mode.empty() || laws.empty()) return note_unfinished(start);
  const std::optional<Lost> lost = result_.enclosure.lost;
  const int split = result_.split;
  result_.enclosure.lost.reset();
  branch.number = numbers_++;
  if (follow_open(branch, laws)) {
    open_.push_back(std::move(branch));
    return;
  }
  note_unfinished(branch);
  keep_reason(*lost, split);
}

/// Under disturbances laws are opened and closed on the way, to the end. The first mode is known
/// where all is certain without second derivatives, which solutions do not have.
void Piece::start_disturbed(Branch branch, std::vector<Successor> list) {
  const auto is_certain = [](const Successor& next) {
    return next.verdict == Verdict::proved ? are_positive(next.monitors)
                                           : next.verdict == Verdict::refuted;
  };
  for (Successor& next : list) {
    const bool bends =
        std::any_of(next.monitors.begin(), next.monitors.end(),
                    [](const Monitor& monitor) { return monitor.trend == Trend::bending; });
    if (bends) next.verdict = Verdict::open;
  }
  const auto first = std::find_if(list.begin(), list.end(), [](const Successor& next) {
    return next.verdict == Verdict::proved;
  });
  if (first == list.end() || !std::all_of(list.begin(), list.end(), is_certain)) {
    lose(branch, "the first mode is not known", Interval(branch.t), -1);
    return open_at_start(branch, list);
  }
  branch.mode = first->mode;
  branch.number = numbers_++;
  if (follow_open(branch, {}))
    open_.push_back(std::move(branch));
  else
    note_unfinished(branch);
}

/// A gap of the law in the mode, which tells the states that act on it; −1: none is known.
int Piece::gap_of(const Branch& branch, int law) {
  const ModeFlow& flow = flows_.get(branch.mode, Interval(branch.t), branch.set.box(), branch.root);
  if (law < 0 || flow.system.outcome != ModeSystem::Outcome::made) return -1;
  for (std::size_t k = 0; k < flow.system.gaps.size(); ++k)
    if (flow.system.gaps[k].law == law) return static_cast<int>(k);
  return -1;
}

/// Is nothing asked of the branch after the phase has come so far?
bool Piece::is_over(const Branch& branch, const Inclusion& phase) const {
  const bool is_wanted = branch.row < task_.times.size() || task_.options.tube;
  return !is_wanted || phase.t() >= task_.span.end || is_given_up();
}

/// Where the phase is now.
void Piece::lose_open(Branch& branch, const Inclusion& phase, const std::string& reason, int law) {
  branch.t = phase.t();
  branch.set = phase.set();
  lose(branch, reason, Interval(branch.t), gap_of(branch, law));
  result_.enclosure.lost->law = law;
}

/// From now on. False: it is lost, since one has no bounds, say.
bool Piece::open_all(Branch& branch, Inclusion& phase, const std::vector<int>& laws) {
  for (const int law : laws) {
    if (phase.open(law)) continue;
    lose_open(branch, phase, phase.reason(), law);
    return false;
  }
  return true;
}

/// One step of the phase, at most to the next row, or one event or law more that is open (`blocked`).
Inclusion::Step Piece::step_open(Branch& branch, Inclusion& phase) {
  using Step = Inclusion::Step;
  const bool has_rows = branch.row < task_.times.size();
  const double from = phase.t();
  if (result_.enclosure.steps++ >= task_.options.most_steps) {
    lose_open(branch, phase, "the number of steps has reached its limit", -1);
    return Step::failed;
  }
  const Step step = phase.step(has_rows ? task_.times[branch.row] : task_.span.end);
  if (step == Step::made) return note_open_step(branch, phase, from);
  if (step == Step::blocked) {
    if (pass_open_event(branch, phase) || phase.open(phase.needed())) return Step::blocked;
    lose_open(branch, phase, phase.reason(), phase.needed());
  } else {
    lose_open(branch, phase, phase.reason(), phase.laws().empty() ? -1 : phase.laws().front().law);
  }
  return Step::failed;
}

/// Of a step that was made: what is claimed of its solutions, and its rows.
Inclusion::Step Piece::note_open_step(Branch& branch, Inclusion& phase, double from) {
  if (!phase.is_unique() && effort_ != Effort::last && !is_disturbed()) {
    lose_open(branch, phase, "the next mode is not known", phase.laws().front().law);
    return Inclusion::Step::failed;
  }
  if (!phase.is_unique()) branch.flag = Flag::all;
  branch.how = std::max(branch.how, how_of(phase));
  if (!add_open_rows(branch, phase, from)) {
    lose_open(branch, phase, no_open_value, -1);
    return Inclusion::Step::failed;
  }
  branch.open_length = phase.length();
  return Inclusion::Step::made;
}

/// Until the mode is known again, or the end. False: lost, or the solutions are not unique and the
/// piece may be bisected still.
bool Piece::follow_open(Branch& branch, const std::vector<int>& laws) {
  const bool goes_on = branch.t - branch.open_until <= branch.open_length;
  Inclusion phase(open_flows_, branch.t, branch.set, branch.mode, task_.grid,
                  goes_on ? branch.open_length : 0);
  if (!open_all(branch, phase, laws)) return false;
  branch.how = std::max(branch.how, How::inclusion);
  if (!add_open_rows(branch, phase, phase.t())) {
    lose_open(branch, phase, no_open_value, -1);
    return false;
  }
  while (!is_over(branch, phase)) {
    const Inclusion::Step step = step_open(branch, phase);
    if (step == Inclusion::Step::failed) return false;
    if (step == Inclusion::Step::made && leave_open(branch, phase)) return true;
  }
  note_open_events(branch, phase.laws(), task_.span.end);
  branch.t = task_.span.end;
  return true;
}

/// Is the mode known of all members? Then the branch goes on in it.
bool Piece::leave_open(Branch& branch, Inclusion& phase) {
  if (!phase.is_settled()) return false;
  branch.ahead.reset();
  Inclusion closing = phase;
  closing.close();
  if (!closing.laws().empty() || is_disturbed()) {
    if (!closing.closed().empty()) {
      note_open_events(branch, closing.closed(), closing.t());
      phase = closing;
    }
    return false;
  }
  const Interval t(closing.t());
  Successors successors(flows_, t, closing.set().box());
  const Successor next = successors.in_mode(closing.mode());
  if (next.verdict != Verdict::proved) return false;
  if (!are_positive(next.monitors)) return false;
  note_open_events(branch, closing.closed(), closing.t());
  branch.t = branch.open_until = closing.t();
  branch.set = closing.set();
  branch.take_mode(next);
  branch.settled = branch.t;
  // states that others give on a surface that holds all members
  ModeFlow& flow = flows_.get(branch.mode, t, branch.set.box(), branch.root);
  const int n = branch.set.states();
  Box F = points(branch.set.center());
  IntervalMatrix J{Matrix(Matrix::Identity(n, n))};
  flow.window.complete(t, F, J, branch.set.box());
  branch.set.move(F, J, branch.set.box());
  return true;
}

/// Rows and tube of the last step; its end is at most at the next row. False: a variable has no
/// value.
bool Piece::add_open_rows(Branch& branch, Inclusion& phase, double from) {
  for (; branch.row < task_.times.size() && task_.times[branch.row] == phase.t(); ++branch.row)
    if (!add_open_row(branch, phase)) return false;
  return add_open_tube(branch, phase, from);
}

bool Piece::add_open_row(const Branch& branch, Inclusion& phase) {
  Box values;
  if (!phase.observe(values)) return false;
  const int n = task_.system.n();
  EnclosureRow row{.t = phase.t(), .branch = branch.number, .flag = branch.flag};
  row.how = branch.how;
  row.box.assign(values.begin(), values.begin() + n);
  row.multipliers.assign(values.begin() + n, values.end());
  row.modes = phase.modes();
  if (branch.ahead && branch.ahead->rows.contains(row.t))
    join(row, branch.ahead->rows.at(row.t), branch.ahead->modes);
  result_.enclosure.rows.push_back(row);
  note_open_width(phase, branch.row);
  return true;
}

bool Piece::add_open_tube(Branch& branch, Inclusion& phase, double from) {
  Box values;
  if (!task_.options.tube || !(from < phase.t())) return true;
  if (!phase.observe_tube(values)) return false;
  values.resize(static_cast<std::size_t>(task_.system.n()));
  if (branch.ahead && from < branch.ahead->until)
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = hull(values[k], branch.ahead->tube[k]);
  result_.enclosure.tube.push_back({from, phase.t(), branch.number, branch.flag, values});
  branch.tube_from = phase.t();
  return true;
}

}  // namespace perp::enclosure
