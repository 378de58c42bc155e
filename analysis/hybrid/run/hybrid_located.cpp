// Located runs of hybrid models: each mode to where one of its constraints ends it.
#include <fmt/format.h>
#include <utility>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/schemes/located/located.hpp>
#include <perp/schemes/run/run_end.hpp>

namespace perp {
namespace {

constexpr int most_at_once = 100;  ///< ends of modes at one moment
/// Of the time of the model: what an implicit Euler step of this length leaves out, its square, is
/// lost in the rounding of the states.
constexpr double share_of_moment = 0x1p-27;

/// Has a constraint ended the mode, in which the part of a run was?
bool has_mode_ended(const Trajectory& part) {
  if (part.status != Status::no_solution || part.events.empty()) return false;
  return part.events.back().kind == EventKind::no_solution && part.events.back().law >= 0;
}

/// Since when and why a part of a run has no sensitivities, as its last line tells; empty: it has some.
std::string why_none(const Trajectory& part) {
  const std::size_t place = part.message.find("; no sensitivities from t = ");
  return place == std::string::npos ? "" : part.message.substr(place);
}

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
  const bool goes_on = stage_ == Stage::radau;
  if (goes_on || (now_.t < span_.end && !run_mode_by_series() && !run_moment())) run_mode_by_radau();
  if (is_running() && !(now_.t < span_.end))
    finish(Status::solved, with_first_order(fmt::format("reached t = {:.10g} in {} steps{}", now_.t,
                                                        result_.counts["steps"], why_none_),
                                            result_));
}

/// Where changes of modes crowd towards a moment: the length of a step within it; 0 elsewhere, and
/// where other things lie in that step.
double HybridRun::length_of_moment() {
  const double h = share_of_moment * time_, end = now_.t + h;
  const bool is_crowded = last_length_ < h && end > now_.t && end < span_.end;
  if (!is_crowded || request_.columns() > 0 || switches_.next(now_.t, end)) return 0;
  const std::vector<double> rows = times_after(now_.t);
  return rows.empty() || rows.front() > end ? h : 0;
}

/// There a mode may end before a method of high order can begin in it: one implicit step leads to
/// its end. False: it is longer.
bool HybridRun::run_moment() {
  const double h = length_of_moment();
  if (!(h > 0)) return false;
  ModeSteps& steps = steps_of_mode();
  steps.from(now_);
  if (!steps.attempt(now_.t + h, h) || !steps.is_violated()) return false;
  const std::optional<double> length = steps.locate(h);
  if (!length || !(now_.t + *length > now_.t)) return false;
  ++result_.counts["steps"];
  record(steps.end(), false);
  if (is_running() && count_change()) choose(false);
  return true;
}

/// The mode from where it began, or from within it.
Trajectory HybridRun::part_by_radau(bool goes_on) {
  Located options = schemes_.located;
  options.ends_with_mode = true;
  options.output_step = 0;
  options.scale = sizes_;  // also of what is 0 but for rounding where a mode begins
  options.sensitivities = request_of_mode();
  const Dcs& system = system_of_mode();
  IntegrateOptions output;
  output.times = times_after(stage_start_.t);
  output.keep = false;
  output.bounds = output_.bounds;
  bool is_first = !goes_on;
  output.observer = [&](const Step& step) {
    record(step, is_first);
    is_first = false;
    return is_running();
  };
  if (output_.course) output.course = [this](const StepCourse& step) { tell_course(step); };
  if (goes_on) output.state.from = std::exchange(of_radau_, {});
  output.state.due = output_.state.due;
  if (output_.state.keep)
    output.state.keep = [this](const std::string& of_radau) {
      of_radau_ = of_radau;
      output_.state.keep(kept());
    };
  return integrate(system, stage_start_.x, {stage_start_.t, span_.end}, options, output);
}

void HybridRun::run_mode_by_radau() {
  const bool goes_on = std::exchange(stage_, Stage::radau) == Stage::radau;
  if (!goes_on) stage_start_ = now_;
  courses_by_rows_ = false;
  const Trajectory part = part_by_radau(goes_on);
  courses_by_rows_ = true;
  stage_ = Stage::between_modes;
  take(part);
  if (request_.columns() > 0) why_none_ = why_none(part);
  if (!why_none_.empty()) request_ = {};
  if (!is_running() || part.status == Status::solved) return;
  if (!has_mode_ended(part)) {
    const Status status = part.status == Status::no_solution ? Status::not_solved : part.status;
    return finish(status, part.message);
  }
  pass_end_of_mode(part.events.back());
}

/// The course of a step in the system of the mode, which knows no other one: binaries have their
/// values.
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

/// One more end of a mode. False: there are more than most_at_once at one moment, the run has
/// ended.
bool HybridRun::count_change() {
  changes_at_once_ = now_.t > last_change_ ? 0 : changes_at_once_ + 1;
  last_length_ = now_.t - std::exchange(last_change_, now_.t);
  if (changes_at_once_ <= most_at_once) return true;
  finish(Status::not_solved,
         fmt::format("stopped at {}: ends of modes follow each other without end", place()));
  return false;
}

/// From where the located mode has ended.
void HybridRun::pass_end_of_mode(const Event& end) {
  if (!count_change()) return;
  end_sensitivities(end);
  const std::vector<int> before = mode_.z;
  if (choose(false)) pass_sensitivities(mode_.z == before);
}

}  // namespace perp
