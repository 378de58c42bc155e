#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

constexpr double same_norm = 1e-9;        ///< relative: norms that tie
constexpr double same_multiplier = 1e-5;  ///< relative: a multiplier that goes on

/// Do the laws outside of `hit` keep their branch and their multiplier?
bool goes_on(const Continuation& continuation, const Step& before, const std::vector<int>& hit,
             const Vector& units) {
  for (std::size_t i = 0; i < before.mode.size(); ++i) {
    const int law = static_cast<int>(i);
    if (std::find(hit.begin(), hit.end(), law) != hit.end()) continue;
    if (continuation.mode[i] != before.mode[i]) return false;
    const double old_value = before.lambda[law], new_value = continuation.jet.lambda(law, 0);
    if (std::abs(new_value - old_value) >
        same_multiplier * std::max({std::abs(old_value), std::abs(new_value), units[law]}))
      return false;
  }
  return true;
}

/// How many continuations there are, their modes, and whether the search for them came to an end.
std::string continuations_note(const std::vector<Law>& laws, const Selection& selection, std::size_t chosen) {
  const char* not_complete = "the search ended before all modes were tried";
  const std::size_t count = selection.admissible.size();
  if (count < 2) return selection.complete ? "" : not_complete;
  std::string note = fmt::format("{} continuations:", count);
  std::size_t named = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (k != chosen && named == most_named_modes - 1) continue;
    note += fmt::format("{} [{}]{}", named++ > 0 ? "," : "", describe(laws, selection.admissible[k].mode),
                        k == chosen ? " (taken)" : "");
  }
  if (named < count) note += ", ...";
  return selection.complete ? note : note + "; " + not_complete;
}

}  // namespace

/// Chooses the mode in which the solution goes on from now_ (t, x, the modes of the laws that are
/// decided) and enters it. `hit`: laws whose branch ended.
void LocatedRun::go_on(const Step& before, const std::vector<int>& undecided, std::vector<int> hit,
                       JumpOfX jump_of_x) {
  const bool first = steps_ == 0 && result_.t.empty();
  if (!hit.empty() && ends_with_mode(first)) return end_with_mode(hit);
  hold_ends(hit);
  Step from = before;  // for what goes on without the jets
  from.x = now_.x;
  const SelectionOptions options{.ended = hit, .rates = rates_before_};
  const auto select_from = [&](const std::vector<int>& laws) {
    return select(jets_, now_.t, now_.x, now_.lambda, now_.mode, laws, options);
  };
  Selection selection = select_from(undecided);
  if (selection.admissible.empty() && static_cast<int>(undecided.size()) < system_.m())
    selection = select_from(all_laws_);
  if (!selection.complete) ++result_.counts["choices_not_complete"];
  // The sensitivities need the series.
  if (selection.admissible.empty() && is_at_edge_ && !sensitivities_.active())
    selection.admissible = continuations_by_rates(undecided);
  if (selection.admissible.empty() && ends_otherwise(before, from, first)) return;
  if (result_.status != Status::never_run) return;
  if (selection.admissible.empty()) {
    if (!jump(before, selection)) {
      end_here(before, selection);
      return;
    }
    if (result_.status != Status::never_run) return;
  } else {
    const std::size_t chosen = choose(selection, before, hit);
    const Step old = now_;
    enter(selection.admissible[chosen]);
    const bool x_jumped = jump_of_x != JumpOfX::none;
    leave_event(before, selection.admissible[chosen].jet, x_jumped);
    if (!first) log_change(before, selection, chosen, jump_of_x);
    if (!first && !x_jumped && (now_.lambda - old.lambda).norm() > 0) record_also(before);
  }
  release_ends();
  if (result_.status != Status::never_run) return;
  record(is_asked(now_.t));
  close_accumulation();
}

/// No continuation keeps x: is that the end of the mode, of the smooth equations, or an impact?
bool LocatedRun::ends_otherwise(const Step& before, const Step& from, bool first) {
  if (ends_with_mode(first)) {
    end_with_mode({0});
    return true;
  }
  if (is_at_edge_) {
    capture_the_rest(from, "the equations are not smooth at the end of the mode");
    return true;
  }
  return impact(before);
}

/// The end of the run where it is the end of a mode: now_ is the last state in it.
void LocatedRun::end_with_mode(const std::vector<int>& hit) {
  for (const int law : hit) {
    Event event = event_at(EventKind::no_solution, now_.t, now_.x, "the mode ends");
    event.law = law;
    event.dt_dq = passage_.dt;
    event.condition = passage_.condition;
    if (sensitivities_.active()) event.pieces = {sensitivities_.at_event()};
    result_.events.push_back(std::move(event));
  }
  record(is_asked(now_.t));
  finish(Status::no_solution, fmt::format("the mode ends at {}", place(now_)));
}

/// At the start of a continuation: what the norm of [RAB] eq. (31) is per unit of time.
LocatedRun::Speed LocatedRun::speed(const Continuation& continuation) {
  flow_.set_mode(continuation.mode, {}, ends_);
  flow_.gather(continuation.jet.x.col(0), continuation.jet.lambda.col(0), y_);
  ydot_ = Vector::Zero(flow_.size());
  ydot_.head(system_.n()) = continuation.jet.x.col(1);
  Vector H;
  Matrix H_ydot, H_y;
  if (!flow_.linearize(continuation.jet.t, ydot_, y_, H, H_ydot, H_y)) return {inf, 0};
  for (int j = 0; j < system_.n(); ++j)
    if (!flow_.is_differential(j)) ydot_[j] = 0;  // its rate may be undetermined
  const auto rates = H_ydot.topLeftCorner(system_.n(), system_.n());
  return {(rates * ydot_.head(system_.n())).norm(), (rates * scales_.x).norm() / scales_.time};
}

/// Index of the continuation that is followed: what the tree of solutions asks for, or what the
/// policy says.
std::size_t LocatedRun::choose(const Selection& selection, const Step& before,
                               const std::vector<int>& hit) {
  if (selection.admissible.size() == 1) return 0;
  const std::size_t usual = by_policy(selection, before, hit);
  const std::size_t place = branchings_.size();
  // Choice 0 is the policy's, the others follow in their order.
  std::size_t choice = place < choices_.size() ? choices_[place] : 0;
  Branching branching{now_.t, {selection.admissible[usual].mode}};
  for (std::size_t k = 0; k < selection.admissible.size(); ++k)
    if (k != usual) branching.modes.push_back(selection.admissible[k].mode);
  branchings_.push_back(std::move(branching));
  if (choice == 0) return usual;
  return choice <= usual ? choice - 1 : choice;
}

/// Do continuations start here besides the one in the present mode, in which a law slides?
void LocatedRun::watch_repulsion() {
  if (!options_.watches_repulsion || repulsion_) return;
  std::vector<int> sliding;
  for (const int i : all_laws_) {
    const auto law = static_cast<std::size_t>(i);
    if (is_vertical(system_.laws[law].branches[static_cast<std::size_t>(now_.mode[law])])) sliding.push_back(i);
  }
  if (sliding.empty()) return;
  const Selection around = select(jets_, now_.t, now_.x, now_.lambda, now_.mode, sliding, {.ended = sliding});
  if (around.admissible.size() > 1) repulsion_ = {moved_from_.t, now_.t, now_.mode};
}

std::size_t LocatedRun::by_policy(const Selection& selection, const Step& before,
                                  const std::vector<int>& hit) {
  const auto& found = selection.admissible;
  std::vector<std::size_t> left;
  for (std::size_t k = 0; k < found.size(); ++k)
    if (!hit.empty() && goes_on(found[k], before, hit, scales_.lambda)) left.push_back(k);
  if (left.empty())
    for (std::size_t k = 0; k < found.size(); ++k) left.push_back(k);
  const auto is_present = [&](std::size_t k) { return found[k].mode == before.mode; };
  if (options_.policy == ContinuationPolicy::stay) {
    const auto stay = std::find_if(left.begin(), left.end(), is_present);
    if (stay != left.end()) return *stay;
  }
  std::size_t best = left.front();
  double least = speed(found[best]).norm;
  for (std::size_t i = 1; i < left.size(); ++i) {
    const auto [norm, unit] = speed(found[left[i]]);
    const double tie = same_norm * std::max({norm, least, unit});
    if (norm < least - tie || (norm <= least + tie && is_present(left[i]) && !is_present(best)))
      best = left[i];
    least = std::min(least, norm);
  }
  return best;
}

void LocatedRun::log_change(const Step& before, const Selection& selection, std::size_t chosen,
                            JumpOfX jump_of_x) {
  const Continuation& next = selection.admissible[chosen];
  std::string note = continuations_note(system_.laws, selection, chosen);
  if (!next.strict) note += note.empty() ? "grazing" : "; grazing";
  if (is_at_edge_ && next.jet.w.cols() == 2)  // from no series
    note += "by first derivatives: the equations have no others here, other modes are not decided";
  if (options_.cross_check) note += cross_check(before, next.mode, note.empty());
  int signature = 17;
  std::vector<int> changed;
  for (std::size_t i = 0; i < before.mode.size(); ++i) {
    signature = 31 * signature % 1'000'003 + next.mode[i];
    if (before.mode[i] == next.mode[i]) continue;
    changed.push_back(static_cast<int>(i));
    if (jump_of_x == JumpOfX::by_contacts) continue;
    Event event;
    event.kind = kind_of_change(system_.laws[i], before.mode[i], next.mode[i]);
    event.t = event.t_before = event.t_after = now_.t;
    event.law = static_cast<int>(i);
    event.from = before.mode[i];
    event.to = next.mode[i];
    event.x_before = jump_of_x == JumpOfX::by_reset ? now_.x : before.x;  // the jump is an event
    event.x_after = now_.x;
    event.note = note;
    event.continuations = static_cast<int>(selection.admissible.size());
    event.is_weak = !next.strict;
    event.condition = passage_.condition;
    event.dt_dq = passage_.dt;
    for (const Gap& gap : passage_.gaps) {
      if (gap.law != event.law || !sensitivities_.active()) continue;
      const Sensitivities::GapRate rate =
          sensitivities_.gap_rate(gap, passage_.before, sensitivities_before_);
      if (std::abs(rate.by_t) * scales_.time <= resting * gap_size(gap)) continue;  // tells no time
      event.dt_dq = rate.time();
      event.condition = 1 / std::abs(rate.by_t);
    }
    event.pieces = passage_.pieces;
    result_.events.push_back(std::move(event));
  }
  if (!changed.empty()) {
    ++result_.counts["mode_changes"];
    accumulation_.add(now_.t, now_.x, signature, std::move(changed), sensitivities_.at_event(),
                      sensitivities_.event_time());
  }
}

/// A short implicit Euler step of least norm from the event must choose the mode that the jets
/// chose.
std::string LocatedRun::cross_check(const Step& before, const Mode& chosen, bool alone) {
  const double h = 1e-7 * (span_.end - span_.start);
  NonlinearCapturing capturing(system_, {.h = h, .selector = Selector::minimal_norm});
  Step state = before;
  state.x = now_.x;
  capturing.restore(state);
  if (capturing.attempt(now_.t + h, h).status != Status::solved) {
    ++result_.counts["cross_check_failed"];
    return fmt::format("{}cross-check: the implicit step is not solved", alone ? "" : "; ");
  }
  capturing.accept();
  const bool agrees = capturing.mode() == chosen;
  ++result_.counts[agrees ? "cross_check_agrees" : "cross_check_differs"];
  return agrees ? ""
                : fmt::format("{}cross-check: the implicit step goes to [{}]", alone ? "" : "; ",
                              describe(system_.laws, capturing.mode()));
}

}  // namespace perp
