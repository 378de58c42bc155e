// Resets at the end of a mode and at the end of a run.
#include <fmt/format.h>
#include <algorithm>

#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/passage/mode_transition.hpp>
#include <perp/schemes/run/run_end.hpp>

namespace perp {

/// The resets whose conditions are 0, that of gap `fell` with them.
std::vector<int> ModeTransition::resets_met(const Gap& fell, const Step& before) {
  std::vector<int> met = run_.sides.met(before, run_.sides.errors_at_event(before));
  if (fell.reset >= 0 && std::find(met.begin(), met.end(), fell.reset) == met.end())
    met.push_back(fell.reset);
  std::sort(met.begin(), met.end());
  return met;
}

/// The mode before an event, with the branches behind it of the laws that remember them whatever resets do.
Mode ModeTransition::with_changed_memory(Mode before, const Mode& after) const {
  for (std::size_t i = 0; i < before.size(); ++i)
    if (at_.system.laws[i].memory) before[i] = after[i];
  return before;
}

/// The events of laws with memory that go to this mode before resets fire at the present moment.
void ModeTransition::tell_memory(const Step& before, const Mode& after) {
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] == before.mode[i]) continue;
    Continuation next;
    next.mode = after, next.strict = true;
    record_.events().push_back(change_of(static_cast<int>(i), before, next, JumpOfX::none));
    ++record_.counts()["mode_changes"];
  }
}

bool ModeTransition::pass_resets(const Gap& fell, const Step& before) {
  const std::vector<int> met = resets_met(fell, before);
  if (met.empty()) return false;
  run_.sensitivity.meet_resets(met);
  const std::vector<int> hit = at_.laws_hit();
  if (hit.empty() && met.size() == 1 && met.front() == fell.reset) {
    pass_by_resets(met, before);
    return true;
  }
  Step at_resets = before;
  if (!hit.empty()) {
    const Selection selection = select(run_.jets.all(), at_.now.t, at_.now.x, at_.now.lambda, at_.now.mode,
                                       at_.undecided_laws(before, hit),
                                       {.likely = [&] { return modes_of_steps(at_, before); }});
    // Where nothing continues, as at a contact, the motion that leads there tells what passes.
    if (!selection.admissible.empty()) {
      enter(selection.admissible[run_.choice.by_policy(selection, before, hit)]);
      at_resets.mode = with_changed_memory(before.mode, at_.now.mode);
    }
  }
  const std::vector<int> passing = run_.sides.passing(met, before, run_.locator.points());
  at_.now = before;
  if (passing.empty()) return false;
  tell_memory(before, at_resets.mode);
  at_.now = at_resets;
  pass_by_resets(passing, at_resets);
  return true;
}

/// The state before them is a row of its own.
void ModeTransition::pass_by_resets(const std::vector<int>& list, const Step& before) {
  record_.row(before, false);
  if (record_.is_open()) apply_resets(list, before);
}

void ModeTransition::pass_resets_at_end() {
  if (run_.sides.watch().empty() || at_.now.mode.size() != at_.system.laws.size()) return;
  at_.passage = {};
  at_.passage.before = run_.jets.at_state(at_.now);
  const std::vector<int> met = run_.sides.met(at_.now, run_.sides.errors_at_start());
  if (met.empty()) return;
  run_.sensitivity.at_fixed_time();
  const Step before = at_.now;
  const std::vector<int> passing = run_.sides.passing(met, before, run_.locator.points());
  if (passing.empty()) return;
  for (const int reset : passing) run_.sensitivity.at_reset_of_end(reset);
  apply_resets(passing, before);
}

void ModeTransition::apply_resets(const std::vector<int>& list, const Step& before) {
  ResetWatch& resets = run_.sides.watch();
  ResetWatch::Errors errors = run_.sides.errors_at_event(before);
  const bool is_known = errors.x.allFinite() && errors.lambda.allFinite();
  run_.sides.before_resets(before, errors, list);
  at_.now.x = resets.values(list, before, errors);
  if (!at_.now.x.allFinite() || (is_known && !errors.x.allFinite())) {
    at_.now = before;
    record_.row(at_.now, true);
    record_.finish(Status::not_solved, fmt::format("stopped at {}: {}", record_.place(before),
                                                   no_value_text(resets.names(list))));
    return;
  }
  run_.sides.jumped(std::move(errors));
  Event event = event_here(EventKind::jump, before.t, before.x);
  event.note = resets.names(list);
  record_.events().push_back(std::move(event));
  ++record_.counts()["resets"];
  run_.sensitivity.reset(list, before);
  int signature = -1;
  for (const int k : list) {
    signature = 31 * signature % 1'000'003 - k;
    run_.sides.fire(k);
  }
  accumulate(before.t, signature, {});
  go_on(before, asked_by_jump(before.x), {}, JumpOfX::by_reset);
}

}  // namespace perp
