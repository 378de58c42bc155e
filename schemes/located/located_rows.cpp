// States that are asked for inside the steps of an event-located run: called by its loop before a step is accepted.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/schemes/located/located_run.hpp>

namespace perp {

/// Reports the states that are asked for inside a step of length h: each the end of a step of its
/// own from the same start, so that it has the full order. False: the run has ended, or the next attempt ends at one.
bool LocatedRun::report_between(double h) {
  if (!(record_.next_output(at_.now.t) < at_.now.t + h)) return true;
  Radau& radau = integrator_.radau();
  const bool is_solved = radau.has_attempted(h);
  if (is_solved) radau.set_aside(whole_step_);
  const double end = at_.now.t + h;
  for (double t = next_row(); t < end; t = next_row())
    if (!report_inside(t, h, is_solved)) return false;
  if (is_solved) radau.take_back(whole_step_);
  return true;
}

/// Reports the state at t inside a step of length h, of which the stages are known, or not: by a step of its own, and where
/// that is not solved by the polynomial of the whole step, as far as its equations without derivatives are. False: as above.
bool LocatedRun::report_inside(double t, double h, bool is_solved) {
  const bool is_row = solves_row(t - at_.now.t, h);
  if (!is_row && is_solved && !parts_.sensitivity.active()) {
    integrator_.radau().take_back(whole_step_);
    if (const std::optional<Step> row = integrator_.row_on_polynomial(t, h)) return report(*row);
  }
  // Of which root it is a shorter step may tell, as one that ends at the row.
  const bool is_same = is_row && integrator_.algebraic_part().root_of_end(integrator_.radau()) == RootChain::Led::there;
  if (is_same && (!is_solved || is_on_course((t - at_.now.t) / h))) return report(integrator_.row_of_attempt(t));
  miss_row(t);
  return false;
}

/// The first time that is asked for behind the present state and the rows that are written.
double LocatedRun::next_row() const { return record_.next_output(std::max(at_.now.t, last_row_)); }

/// Solves the stages of a step to a row inside one of length h.
bool LocatedRun::solves_row(double length, double h) {
  Radau& radau = integrator_.radau();
  const auto solves = [&](double to) { return radau.attempt(to) == Radau::Outcome::solved; };
  // Within the polynomial of the whole step it starts nearer than beyond that of a shorter one.
  return solves(length) || (solves(h) && solves(length));
}

/// Is the end of the attempt on the course of the whole step, at its share? One that is not is another solution of the
/// stages, or tells what those of the whole step have missed. Nobody controls the error of fixed steps.
bool LocatedRun::is_on_course(double share) {
  if (is_fixed()) return true;
  const Radau& radau = integrator_.radau();
  radau.interpolate(whole_step_, share, course_);
  for (int k = 0; k < at_.system.n(); ++k) {
    if (!integrator_.flow().is_differential(k)) continue;
    const double size = at_.scales.x[k] + std::abs(course_[k]);
    if (!(std::abs(radau.end()[k] - course_[k]) <= std::sqrt(at_.options.tol) * size)) return false;
  }
  return true;
}

/// A row at t inside a step is not known: the next attempt ends there, and a run of fixed steps ends.
void LocatedRun::miss_row(double t) {
  integrator_.radau().discard();
  if (!is_fixed()) return shorten(t - at_.now.t, "a row inside a step is not solved");
  record_.finish(Status::not_solved,
                 fmt::format("stopped at {}: the row at t = {:.10g}, inside a step of fixed length, is not solved",
                             record_.place(at_.now), t));
}

/// Reports a state of the attempt. False: the run has ended, or the state is beyond the end of its mode, where the next
/// attempt ends.
bool LocatedRun::report(const Step& state) {
  const Step start = at_.now;
  if (!is_fixed() && !parts_.locator.is_inside(state)) {
    integrator_.radau().discard();
    shorten(state.t - start.t, "a state is beyond the end of its mode");
    return false;
  }
  at_.now = state;
  if (parts_.sensitivity.active()) parts_.sensitivity.at_end_of_attempt();
  record_.row(at_.now, true);
  last_row_ = state.t;
  at_.now = start;
  return record_.is_open();
}

}  // namespace perp
