// What an event-located run keeps and tells: called by the run and its transitions, once a row and at the end.
#include <fmt/format.h>
#include <algorithm>

#include <perp/core/branches.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/located_record.hpp>
#include <perp/schemes/step_grid.hpp>

namespace perp {

void LocatedRecord::row(const Step& state, bool requested) {
  if (output_.only_times && !requested) return;
  if (output_.keep || is_empty()) result_.append(state);
  if (!output_.tell(state))
    finish_at(state, Status::interrupted, fmt::format("interrupted at t = {:.10g}", state.t));
}

void LocatedRecord::finish_at(const Step& state, Status status, std::string message) {
  if (!is_open()) return;
  log_end(status, state.t, state.x, message, result_.events);
  result_.status = status;
  result_.message = std::move(message);
  if (!output_.keep && !is_empty() && state.t > result_.t.back()) result_.append(state);
  result_.counts["steps"] = steps;
  result_.counts["rejected"] = rejected;
  result_.counts["newton_iterations"] = radau_.iterations;
  result_.counts["factorisations"] = radau_.factorisations;
}

std::string LocatedRecord::place(const Step& state) const {
  if (at_.system.laws.empty()) return fmt::format("t = {:.10g} (step {})", state.t, steps);
  return fmt::format("t = {:.10g} (step {}, mode [{}])", state.t, steps, describe_briefly(at_.system.laws, state.mode));
}

double LocatedRecord::next_output(double after) const {
  const auto& times = output_.times;
  const auto asked = std::upper_bound(times.begin(), times.end(), after);
  const double next = asked == times.end() ? inf : *asked;
  if (!(at_.options.output_step > 0) || output_.only_times) return next;
  // A last one that is the end but for the rounding of the grid is the end: of a step of some ulps
  // multipliers of index 2 are noise.
  return std::min(next, next_on_grid(at_.span, at_.options.output_step, after));
}

bool LocatedRecord::is_asked(double t) const {
  return t == at_.span.end || t == at_.span.start ||
         std::binary_search(output_.times.begin(), output_.times.end(), t);
}

void tell_scheme(const Located& scheme, Trajectory& run) {
  run.provenance["version"] = PERP_VERSION;
  run.provenance["scheme"] = "located";
  run.provenance["stages"] = fmt::format("{}", stages_for(scheme));
  run.provenance["tol"] = fmt::format("{}", scheme.tol);
  run.provenance["policy"] = scheme.policy == ContinuationPolicy::stay ? "stay" : "minimal_norm";
  run.provenance["norm"] = "||dF/dxdot xdot||_2";
}

}  // namespace perp
