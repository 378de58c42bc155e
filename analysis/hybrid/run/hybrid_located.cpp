// Located runs of hybrid models: each mode to where one of its constraints ends it.
#include <fmt/format.h>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/schemes/located/located.hpp>
#include <perp/schemes/run/run_end.hpp>

namespace perp {
namespace {

constexpr int most_at_once = 100;  ///< ends of modes at one moment

}  // namespace

void HybridRun::take(const Trajectory& part) {
  for (const auto& [name, count] : part.counts) result_.counts[name] += count;
  for (const auto& [name, text] : part.provenance) result_.provenance.emplace(name, text);
  for (const Event& event : part.events)
    if (event.kind != EventKind::no_solution && event.kind != EventKind::stopped)
      result_.events.push_back(event);
}

const Dcs& HybridRun::system_of_mode() {
  find_idle();
  const auto key = std::pair(mode_.z, mode_.surfaces);
  auto place = systems_.find(key);
  if (place == systems_.end())
    place = systems_.emplace(key, mode_system(hybrid_, system_, mode_, false)).first;
  return place->second;
}

/// One mode, to its end, and into the next one.
void HybridRun::run_located() {
  if (now_.t < span_.end && !run_mode_by_series()) run_mode_by_radau();
  if (is_running() && !(now_.t < span_.end))
    finish(Status::solved,
           with_first_order(fmt::format("reached t = {:.10g} in {} steps", now_.t, result_.counts["steps"]), result_));
}

void HybridRun::run_mode_by_radau() {
  Located options = schemes_.located;
  options.ends_with_mode = true;
  options.output_step = 0;
  options.scale = sizes_;  // also of what is 0 but for rounding where a mode begins
  options.sensitivities = request_of_mode();
  const Dcs& system = system_of_mode();
  IntegrateOptions output;
  output.times = times_after(now_.t);
  output.keep = false;
  output.bounds = output_.bounds;
  bool is_first = true;
  output.observer = [&](const Step& step) {
    record(step, is_first);
    is_first = false;
    return is_running();
  };
  if (output_.course) output.course = [this](const StepCourse& step) { tell_course(step); };
  courses_by_rows_ = false;
  const Trajectory part = integrate(system, now_.x, {now_.t, span_.end}, options, output);
  courses_by_rows_ = true;
  take(part);
  if (!is_running() || part.status == Status::solved) return;
  const bool mode_ended = part.status == Status::no_solution && !part.events.empty() &&
                          part.events.back().kind == EventKind::no_solution &&
                          part.events.back().law >= 0;
  if (!mode_ended) {
    const Status status = part.status == Status::no_solution ? Status::not_solved : part.status;
    return finish(status, part.message);
  }
  pass_end_of_mode(part.events.back());
}

/// The course of a step in the system of the mode, which knows no other one: binaries have their values.
void HybridRun::tell_course(const StepCourse& step) {
  output_.course({step.start, step.end, [&](double share) {
                    Step here = step.at(share);
                    for (int i = 0; i < hybrid_.q(); ++i) {
                      const int z = mode_.z[at(i)];
                      here.mode[at(i)] = z;
                      if (z != released_binary) here.lambda[i] = z;
                    }
                    return here;
                  }});
}

/// From where the located mode has ended.
void HybridRun::pass_end_of_mode(const Event& end) {
  changes_at_once_ = now_.t > last_change_ ? 0 : changes_at_once_ + 1;
  last_change_ = now_.t;
  if (changes_at_once_ > most_at_once)
    return finish(
        Status::not_solved,
        fmt::format("stopped at {}: ends of modes follow each other without end", place()));
  end_sensitivities(end);
  const std::vector<int> before = mode_.z;
  if (choose(false)) pass_sensitivities(mode_.z == before);
}

}  // namespace perp
