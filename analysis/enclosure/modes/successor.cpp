// The next mode of an enclosure, proved over a set; called at starts and events.
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/successor.hpp>
#include <perp/core/branches.hpp>

namespace perp::enclosure {
namespace {

constexpr std::size_t most_candidates = 256;

bool is_exactly(const Interval& value, double number) {
  return value.is_point() && value.lo == number;
}

/// Is the gap 0 at the corner?
bool is_at(const Corner& corner, const Gap& gap) {
  return is_exactly(gap.of_multiplier ? corner.lambda : corner.w, gap.end);
}

void refute(Successor& successor, const std::string& reason) {
  if (successor.verdict == Verdict::refuted) return;
  successor.verdict = Verdict::refuted;
  successor.reason = reason;
}

void leave_open(Successor& successor, const std::string& reason) {
  if (successor.verdict != Verdict::proved) return;
  successor.verdict = Verdict::open;
  successor.reason = reason;
}

/// A gap whose sign is not known, where only gaps leave the mode open.
void note_open(Successor& successor, int gap, int sign) {
  if (sign == 0 && (successor.verdict == Verdict::proved || !successor.open_gaps.empty()))
    successor.open_gaps.push_back(gap);
}

/// By the sign of a gap, or of its first derivative that is not 0 for a reason.
void decide(Successor& successor, int sign, bool of_value) {
  if (sign < 0)
    refute(successor,
           of_value ? "it would begin outside of its own range" : "it would be left at once");
  else if (sign == 0)
    leave_open(successor, of_value ? "it is not known on which side of the end of a branch it is"
                                   : "it is not known whether it is left at once");
}

}  // namespace

bool forbids_starts(const std::vector<Successor>& list) {
  const auto is_refuted = [](const Successor& next) { return next.verdict == Verdict::refuted; };
  const auto forbids = [&](const Successor& next) { return is_refuted(next) ? next.is_elsewhere : next.forbids_starts; };
  const auto may_follow = std::ranges::find_if_not(list, is_refuted);
  if (may_follow == list.end()) return !list.empty() && std::ranges::all_of(list, forbids);
  return std::ranges::all_of(list, [&](const Successor& next) { return is_refuted(next) || forbids(next); });
}

const Branch& Successors::branch(const Mode& mode, int law) const {
  const auto i = static_cast<std::size_t>(law);
  return flows_.system().laws[i].branches[static_cast<std::size_t>(mode[i])];
}

const SettledLaws& Successors::settled() const {
  if (!settled_) settled_.emplace(flows_, t_, box_);
  return *settled_;
}

bool Successors::has_argument_of_states(const ModeFlow& flow, int law) const {
  return flow.system.argument_of_states[static_cast<std::size_t>(law)] ||
         (open_.laws.empty() && settled().is_of_states(law));
}

/// The same for as long as the mode lasts.
bool Successors::is_function_in(const ModeFlow& flow, int law) const {
  return flow.system.argument_of_states[static_cast<std::size_t>(law)] ||
         (open_.laws.empty() && settled().is_of_states_in(flow.system.mode, law));
}

/// All values that the argument may have over the set.
Interval Successors::argument(int law) const {
  return open_.laws.empty() ? settled().argument(law)
                            : Interval(-directed::infinity, directed::infinity);
}

/// Is λ given by the states, through one equation that holds nothing else?
bool Successors::is_direct(int law) const {
  const Dcs& system = flows_.system();
  return std::any_of(system.F.begin(), system.F.end(), [&](int line) {
    return unknowns_of(system, flows_.space(), line) ==
           std::vector<int>{system.multiplier_input(law)};
  });
}

/// Is the corner a point of the branch?
Verdict Successors::holds_corner(const Branch& branch) const {
  const Interval rest =
      Interval(branch.a) * corner_.w + Interval(branch.b) * corner_.lambda - Interval(branch.c);
  if (!rest.contains(0.0) || corner_.lambda.lo > branch.lambda.upper ||
      corner_.lambda.hi < branch.lambda.lower)
    return Verdict::refuted;
  return rest.is_zero() ? Verdict::proved : Verdict::open;
}

/// States are continuous: do they obey the constraints of the new mode? Those of the old one they
/// obey, and a constraint whose multipliers have the same values before and after.
Verdict Successors::keeps_constraints(const ModeFlow& flow) const {
  if (flow.system.mode == from_->system.mode) return Verdict::proved;
  for (const ModeConstraint& constraint : flow.system.constraints) {
    const Verdict kept = keeps_constraint(flow, constraint);
    if (kept != Verdict::proved) return kept;
  }
  return Verdict::proved;
}

/// The same of one of them.
Verdict Successors::keeps_constraint(const ModeFlow& flow, const ModeConstraint& constraint) const {
  const int law = constraint.law;
  if (law < 0)
    return constraint.equation < 0 ? Verdict::open : keeps_equation(flow, constraint.equation);
  const auto j = static_cast<std::size_t>(law);
  const bool is_same = flow.system.mode[j] == from_->system.mode[j] || law == law_;
  return is_same && has_argument_of_states(flow, law) ? Verdict::proved : Verdict::open;
}

/// The same of an equation of the system that has become a constraint.
Verdict Successors::keeps_equation(const ModeFlow& flow, int equation) const {
  const Dcs& system = flows_.system();
  const int line = system.F[static_cast<std::size_t>(equation)];
  for (const int input : unknowns_of(system, flows_.space(), line)) {
    const int j = input - system.multiplier_input(0);
    if (is_held_by_argument(flow, input)) continue;
    if (j < 0 || !has_argument_of_states(flow, j)) return Verdict::open;
    if (j == law_) {
      const Verdict verdict = holds_corner(branch(flow.system.mode, j));
      if (verdict != Verdict::proved) return verdict;
    } else if (is_vertical(branch(flow.system.mode, j))) {
      return Verdict::open;
    }
  }
  return Verdict::proved;
}

/// Is the mode the old one but for the law that has reached its corner?
bool Successors::changes_reached_law_only(const ModeFlow& flow) const {
  for (std::size_t j = 0; j < flow.system.mode.size(); ++j)
    if (static_cast<int>(j) != law_ && flow.system.mode[j] != from_->system.mode[j]) return false;
  return true;
}

/// Are the rates those of the old mode? Where λ has the same value, the equations of the new mode
/// are among those that the old solution fulfils, unless constraints came in, whose derivatives are
/// new.
bool Successors::keeps_rates(const ModeFlow& flow) const {
  if (law_ < 0) return from_ != nullptr && flow.system.mode == from_->system.mode;
  const auto is_argument = [&](const ModeConstraint& constraint) { return constraint.law >= 0; };
  const auto& before = from_->system.constraints;
  if (!std::all_of(before.begin(), before.end(), is_argument)) return false;
  const auto was_there = [&](const ModeConstraint& constraint) {
    return is_argument(constraint) && constraint.law != law_ &&
           std::ranges::find(before, constraint.law, &ModeConstraint::law) != before.end();
  };
  if (!std::ranges::all_of(flow.system.constraints, was_there)) return false;
  if (!changes_reached_law_only(flow)) return false;
  return holds_corner(branch(flow.system.mode, law_)) == Verdict::proved;
}

/// Was the argument held on the surface where this gap is 0?
bool Successors::was_on_surface(const ModeFlow& before, const ModeFlow& flow,
                                const Gap& gap) const {
  const Branch& old = branch(before.system.mode, gap.law);
  return !gap.of_multiplier && is_vertical(old) && has_argument_of_states(flow, gap.law) &&
         is_exactly(vertical_w(old), gap.end);
}

/// Is the gap 0 at a start, or at one after resets that do not change it?
bool Successors::is_kept_at_start(const ModeFlow& flow, const Gap& gap,
                                  const Interval& value) const {
  const int w = flows_.system().G[static_cast<std::size_t>(gap.law)];
  const bool is_kept =
      before_ != nullptr && is_untouched(w) && was_on_surface(*before_, flow, gap);
  return value.is_zero() || is_kept;
}

/// The same as `contact` of the law that has reached its corner.
int Successors::contact_of_reached(const Gap& gap, bool is_of_states, bool same_rates) const {
  if (!is_at(corner_, gap)) return 0;
  // states are continuous, and λ is a function of them: w and λ are still at the corner
  if (!is_of_states) return same_rates ? 1 : 0;
  if (gap.of_multiplier) return is_direct(law_) ? 1 : 0;
  const auto& before = from_->system.constraints;
  const bool was_held = std::ranges::find(before, law_, &ModeConstraint::law) != before.end();
  return was_held && same_rates ? 2 : 1;
}

/// How often the gap is 0 for a reason: 1 for m, 2 for m and m'.
int Successors::contact(const ModeFlow& flow, const Gap& gap, const Interval& value,
                        bool same_rates) const {
  if (from_ == nullptr) return is_kept_at_start(flow, gap, value) ? 1 : 0;
  const bool is_of_states = has_argument_of_states(flow, gap.law);
  if (gap.law == law_) return contact_of_reached(gap, is_of_states, same_rates);
  return was_on_surface(*from_, flow, gap) ? 1 : 0;
}

/// At the start of the run its sign is decided without rounding.
Interval Successors::gap_derivative(const ModeFlow& flow, int gap, int order) const {
  const Interval factorial(order == 2 ? 2 : 1);
  return decided(factorial * flow.jet().output(gap, order), flow.system.flow, gap, order,
                 exact_inputs());
}

void Successors::judge_gap(ModeFlow& flow, int k, Successor& successor) const {
  const Gap& gap = flow.system.gaps[static_cast<std::size_t>(k)];
  const Interval m[3] = {gap_derivative(flow, k, 0), gap_derivative(flow, k, 1),
                         gap_derivative(flow, k, 2)};
  int order = contact(flow, gap, m[0], successor.same_rates);
  if (order == 1 && m[1].is_zero()) order = 2;
  // Of open laws only λ is known, not its rate: second derivatives tell nothing.
  const int sign = order == 2 && !open_.laws.empty() ? 0 : certain_sign(m[order]);
  constexpr Trend trends[] = {Trend::positive, Trend::rising, Trend::bending};
  successor.monitors.push_back({k, 1, trends[order]});
  if (from_ == nullptr && order == 0 && sign < 0) successor.is_elsewhere = true;
  note_open(successor, k, sign);
  decide(successor, sign, order == 0);
}

/// Is a condition 0 for a reason: has it just been reached, and does its reset not change it?
bool Successors::is_on_surface(const ModeFlow& flow, int k) const {
  const Gap& gap = flow.system.gaps[static_cast<std::size_t>(k)];
  if (gap.reset != reset_) return from_ == nullptr && gap_derivative(flow, k, 0).is_zero();
  if (from_ != nullptr) return true;
  const int condition = flows_.system().resets[static_cast<std::size_t>(gap.reset)].condition;
  return is_untouched(condition);
}

/// Of the resets that fire.
std::vector<int> Successors::set_variables() const {
  std::vector<int> set;
  for (const int reset : fired_) {
    const auto& variables = flows_.system().resets[static_cast<std::size_t>(reset)].variables;
    set.insert(set.end(), variables.begin(), variables.end());
  }
  return set;
}

/// Is it a formula of states of which the reset that fires sets none?
bool Successors::is_untouched(int line) const {
  const Dcs& system = flows_.system();
  if (reset_ < 0 || !unknowns_of(system, flows_.space(), line).empty()) return false;
  Tape tape = system.tape;
  const ExactLines lines(tape);
  const std::vector<int> set = set_variables();
  return std::none_of(set.begin(), set.end(),
                      [&](int j) { return lines.depends(line, system.variable_input(j)); });
}

/// The side of a condition; false: it is not known.
bool Successors::decide_reset(const ModeFlow& flow, int k, Successor& successor) const {
  const bool is_zero = is_on_surface(flow, k);
  const int side = certain_sign(gap_derivative(flow, k, is_zero ? 1 : 0));
  successor.monitors.push_back({k, side, is_zero ? Trend::rising : Trend::positive});
  return side != 0;
}

/// The states obey what the mode demands of them: at an event since they did so before, at a start
/// as far as is known.
void Successors::judge_constraints(ModeFlow& flow, Successor& successor) {
  if (from_ == nullptr) return judge_start(flow, successor);
  const Verdict kept = keeps_constraints(flow);
  if (kept == Verdict::refuted) return refute(successor, "the states would have to jump");
  if (kept == Verdict::open) leave_open(successor, "the states may have to jump");
  const bool is_one =
      flow.system.roots == 1 && (!flow.has_implicit() || successor.keeps_implicit);
  successor.same_rates = is_one && keeps_rates(flow);
}

/// Of all constraints, over what was observed.
Box Successors::residuals(const ModeFlow& flow) const {
  Box list;
  for (int k = 0; k < static_cast<int>(flow.system.constraints.size()); ++k) list.push_back(residual_of(flow, k));
  return list;
}

/// Points of a start that miss a constraint are none of its mode. A constraint of the intervals is another one in their middle,
/// and one of points alone the same to the bit.
void Successors::judge_start(ModeFlow& flow, Successor& successor) {
  Box there;
  const bool is_asked = is_start_of_run_ && !flow.system.constraints.empty();
  if (is_asked && flow.observe(t_, middle_of(box_))) there = residuals(flow);
  if (!flow.observe(t_, box_)) return leave_open(successor, "a variable has no value everywhere in the set");
  const Box here = residuals(flow);
  successor.forbids_starts =
      is_asked && !std::ranges::equal(here, there, [](const Interval& x, const Interval& y) { return x.lo == y.lo && x.hi == y.hi; });
  const auto missed = std::ranges::find_if(here, [](const Interval& residual) { return !residual.contains(0.0); });
  if (missed == here.end()) return;
  successor.is_elsewhere = true;
  successor.equation = flow.system.constraints[static_cast<std::size_t>(missed - here.begin())].equation;
  successor.residual = *missed;
  refute(successor, "the start does not fulfil its constraints");
}

/// On how many surfaces does the mode slide? λ that the states give tells itself whether its law is
/// held.
int Successors::held_surfaces(const ModeFlow& flow) const {
  int count = 0;
  for (int j = 0; j < static_cast<int>(flow.system.mode.size()); ++j)
    if (is_vertical(branch(flow.system.mode, j)) && !is_direct(j) &&
        has_argument_of_states(flow, j))
      ++count;
  return count;
}

/// Is there one solution in the mode, beside those of other modes?
void Successors::judge_uniqueness(const ModeFlow& flow, Successor& successor) {
  for (int j = 0; j < static_cast<int>(flow.system.mode.size()); ++j) {
    if (!is_function_in(flow, j) && !has_unique_multipliers(flow.system.mode))
      leave_open(successor,
                 "the argument of a law depends on multipliers: that they are unique is not "
                 "proved");
    if (is_ambiguous(flows_.system().laws[static_cast<std::size_t>(j)]))
      leave_open(successor, "a law has two branches for one argument");
  }
  const int slides = held_surfaces(flow);
  if (slides > 1 && !is_decoupled(flow.system.mode) && !is_only_solution(flow.system.mode, {}))
    leave_open(successor, "that solutions sliding on several surfaces are unique is not proved");
}

/// The gaps of laws, and the sides of conditions.
void Successors::judge_gaps(ModeFlow& flow, Successor& successor) const {
  for (int k = 0; k < static_cast<int>(flow.system.gaps.size()); ++k) {
    if (flow.system.gaps[static_cast<std::size_t>(k)].reset < 0) {
      judge_gap(flow, k, successor);
    } else if (!decide_reset(flow, k, successor)) {
      note_open(successor, k, 0);
      leave_open(successor, "it is not known on which side the condition of a reset is");
    }
  }
}

void Successors::judge(ModeFlow& flow, Successor& successor) {
  successor.verdict = Verdict::proved;
  if (flow.system.outcome != ModeSystem::Outcome::made) {
    if (flow.system.outcome == ModeSystem::Outcome::impossible)
      return refute(successor, flow.system.reason);
    return leave_open(successor, flow.system.reason);
  }
  if (flow.has_implicit()) {
    find_implicit(flow, successor);
    if (flow.root().z.empty()) return;
  }
  judge_uniqueness(flow, successor);
  judge_constraints(flow, successor);
  if (successor.verdict == Verdict::refuted) return;
  if (!flow.expand(t_, box_, 3, false))
    return leave_open(successor, "its equations have no value everywhere in the set");
  judge_gaps(flow, successor);
}

Successor Successors::assess_root(const Mode& mode, int root) {
  Successor successor{.mode = mode, .root = root};
  for (int j = 0; j < static_cast<int>(mode.size()); ++j)
    if (is_vertical(branch(mode, j)) && !is_direct(j)) successor.held.push_back(j);
  judge(flows_.get(mode, t_, box_, open_, root), successor);
  if (successor.verdict == Verdict::open && is_left(mode))
    refute(successor, "no multiplier of its range keeps it on its surface");
  return successor;
}

std::vector<Successor> Successors::assess_all(const Options& options, const Box* start) {
  std::vector<Mode> modes{{}};
  for (const std::vector<int>& choices : options) {
    std::vector<Mode> longer;
    for (const Mode& mode : modes)
      for (const int choice : choices) {
        longer.push_back(mode);
        longer.back().push_back(choice);
      }
    modes = std::move(longer);
    if (modes.size() > most_candidates) return {Successor{.reason = "too many modes could follow"}};
  }
  std::vector<Successor> list;
  for (const Mode& mode : modes) {
    std::vector<Successor> roots = assess(mode);
    choose_roots(roots, start);
    list.insert(list.end(), roots.begin(), roots.end());
  }
  refute_others(list);
  return list;
}

}  // namespace perp::enclosure
