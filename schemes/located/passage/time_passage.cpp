// Moments of time: passed by the run where no step is left before one.
#include <algorithm>
#include <cmath>

#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/passage/time_passage.hpp>

namespace perp {

/// Data that jump at the end of the span have their new value there, which is of no step of the run.
std::optional<TimeSwitches::Switch> TimePassage::after(double t) {
  const double end = run_.at.span.end;
  const bool jumps_at_end = !switches_.jumps_at(end).empty();
  return switches_.next(t, jumps_at_end ? std::nextafter(end, inf) : end);
}

/// The last state of a run that ends where data jump.
void TimePassage::end_before() {
  next_.reset();
  run_.at.now.t = run_.at.span.end;
  run_.record.row(run_.at.now, true);
}

/// Those that are asked for within the rounding of the moment; one at its end is a row of what follows. False: the run has
/// ended.
bool TimePassage::report_outputs(double from, double to) {
  LocatedState& at = run_.at;
  for (double t = run_.record.next_output(from); t <= to; t = run_.record.next_output(t)) {
    at.now.t = t;
    if (t < to) run_.record.row(at.now, true);
    if (!run_.record.is_open()) return false;
  }
  return true;
}

void TimePassage::pass() {
  LocatedState& at = run_.at;
  if (!(next_->after < at.span.end)) return end_before();
  const TimeSwitches::Switch here = *next_;
  next_ = after(here.after);
  const Step before = at.now;
  at.passage = {};
  const std::vector<int> hit = laws_passing(before, here.after);
  if (hit.empty()) transition_.at_fixed_time(before);
  if (switches_.is_of_data(here.after)) transition_.watch_data(before, here.after);
  if (!report_outputs(before.t, here.after)) return;
  at.now.t = here.after;
  run_.sides.forget_fired();
  for (const std::string& jump : switches_.jumps_at(here.after))
    run_.record.events().push_back(event_at(EventKind::mode_change, here.after, at.now.x, jump));
  // Where data switch a mode that goes on is kept: other laws are looked at where it does not.
  const bool is_of_data = switches_.is_of_data(here.after), keeps_mode = hit.empty() && is_of_data;
  ModeTransition::Asked asked{keeps_mode ? std::vector<int>{} : at.all_laws};
  if (!hit.empty() && !is_of_data) asked = transition_.asked(hit, at.all_laws);
  transition_.go_on(before, asked, hit, ModeTransition::JumpOfX::none);
}

/// The laws whose argument of time leaves its branch up to `after`; the passage is that of their
/// gaps.
std::vector<int> TimePassage::laws_passing(const Step& before, double after) {
  const Vector w = run_.jets.arguments_at(after, before.x);
  for (const Gap& gap : run_.locator.gaps()) {
    if (gap.law < 0 || gap.of_lambda || !switches_.is_of_time(gap.law) || gap.at(w[gap.law]) >= 0) continue;
    transition_.at_corner(gap, before);
    return run_.at.laws_hit();
  }
  return {};
}

}  // namespace perp
