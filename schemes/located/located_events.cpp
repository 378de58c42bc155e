#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double rounding = 1e-13;     ///< of the terms of a gap
constexpr double least_depth = 1e-12;  ///< of a dip that counts, of the terms of the gap
constexpr double least_step = 2e-13;   ///< of max(1, |t|): a nearer event is one of this moment
constexpr double same_moment = 1e-11;  ///< of max(1, |t|): falls that are one event
constexpr double probe_share = 1e-2;   ///< of a step whose polynomial falls at its start
constexpr int most_iterations = 60;
constexpr int most_at_once = 20;  ///< events of one moment

}  // namespace

double LocatedRun::condition(int reset, const Step& state) {
  return evaluator_.condition(static_cast<std::size_t>(reset), inputs(state).data());
}

/// What the tapes of the resets are evaluated at: (t, 0, x, λ).
std::vector<double> LocatedRun::inputs(const Step& state) const {
  std::vector<double> z(static_cast<std::size_t>(evaluator_.inputs()), 0.0);
  z[0] = state.t;
  std::copy(state.x.begin(), state.x.end(), z.begin() + system_.variable_input(0));
  std::copy(state.lambda.begin(), state.lambda.end(), z.begin() + system_.multiplier_input(0));
  return z;
}

double LocatedRun::gap_value(const Gap& gap, const Step& state) const {
  return gap.at(gap.of_lambda ? state.lambda[gap.law] : state.w[gap.law]);
}

/// The first gap that falls below 0 in the attempted step of length h.
std::optional<GapWatch::Fall> LocatedRun::first_fall(double h) {
  if (gaps_.empty()) return std::nullopt;
  const Vector& points = watch_.points();
  Step sample = now_;
  for (Eigen::Index k = 0; k < points.size(); ++k) {
    sample.t = now_.t + points[k] * h;
    radau_.interpolate(points[k], y_);
    radau_.interpolate_derivative(points[k], ydot_);
    flow_.scatter(y_, sample.x, sample.lambda);
    if (system_.m() > 0 && !flow_.w(sample.t, ydot_, y_, sample.w)) sample.w.setConstant(nan);
    for (std::size_t g = 0; g < gaps_.size(); ++g)
      samples_(static_cast<Eigen::Index>(g), k) =
          gaps_[g].law >= 0 ? gap_value(gaps_[g], sample)
                            : gaps_[g].at(condition(gaps_[g].reset, sample));
  }
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    const auto row = static_cast<Eigen::Index>(g);
    const Gap& gap = gaps_[g];
    double size = samples_.row(row).cwiseAbs().maxCoeff();
    if (gap.law >= 0 && !gap.of_lambda) size = std::max(size, law_sizes_[gap.law]);
    if (gap.of_lambda) size = std::max(size, std::abs(gap.bound));
    noise_[row] = rounding * size;
    depth_[row] = std::max(least_depth, options_.tol) * size;
    if (gap.reset >= 0)
      inside_[g] = reset_side_[static_cast<std::size_t>(gap.reset)] == gap.sign ? 1 : 0;
  }
  return watch_.first(samples_, depth_, noise_, inside_);
}

/// A gap whose course is not resolved may hide an event: the state may rest while a multiplier
/// moves.
bool LocatedRun::samples_resolved() {
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    const auto row = static_cast<Eigen::Index>(g);
    // The polynomial of a multiplier is of degree s − 1, whatever the multiplier does.
    const int degree = gaps_[g].of_lambda ? stages_ - 1 : 2 * stages_ - 1;
    if (!watch_.is_resolved(samples_.row(row), degree, std::max(depth_[row], 1e-6 * noise_[row])))
      return false;
  }
  return true;
}

/// The length of the step at whose end the gap is 0, to rounding; the attempt in `radau_` is one of
/// such a step then, unless it is 0. Empty: with the multipliers that solve the hidden equations
/// the gap does not fall.
std::optional<double> LocatedRun::locate(const GapWatch::Fall& fall, double h) {
  const Gap& gap = gaps_[static_cast<std::size_t>(fall.gap)];
  const double scale = std::max(1.0, std::abs(now_.t));
  double low = 0, high = h;
  double length = fall.s * h, slope = fall.slope / h;
  double last_length = -1, last_value = 0;
  const double noise = noise_[fall.gap];
  bool fell = false, probed = false;
  for (int k = 0; k < most_iterations; ++k) {
    if (length <= least_step * scale) {
      if (fell || probed) return 0.0;
      probed = true;  // the polynomial falls at once: does a full step?
      length = probe_share * h;
    }
    double value = nan;
    if (radau_.attempt(length) == Radau::Outcome::solved) {
      const Step state = state_at_attempt(now_.t + length);
      value = gap.law >= 0 ? gap_value(gap, state) : gap.at(condition(gap.reset, state));
    }
    if (!std::isfinite(value)) {
      high = length;
      length = (low + high) / 2;
      continue;
    }
    if (value == 0) return length;
    if (value < -noise) fell = true;
    (value > 0 ? low : high) = length;
    if (last_length >= 0 && length != last_length && value != last_value)
      slope = (value - last_value) / (length - last_length);
    last_length = length;
    last_value = value;
    double next = length - value / slope;
    const double step = std::abs(next - length);
    if (std::isfinite(next) && slope < 0 &&
        step <= (k < 5 ? epsilon : 8 * epsilon) * std::max(std::abs(now_.t), length))
      return length;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (next <= low || next >= high) break;
    length = next;
  }
  if (!fell && high == h) return std::nullopt;
  return length;
}

/// Goes to the fall of a gap and on from there in the mode that follows.
void LocatedRun::pass_event(const GapWatch::Fall& fall, double h) {
  const std::optional<double> found = locate(fall, h);
  if (!found && options_.fixed_step > 0) {  // only the polynomial of a long step fell
    take_step(h);
    return;
  }
  if (!found) {
    ++rejected_;
    h_ = h / 2;
    if (h_ < shortest_step())
      finish(Status::not_solved,
             fmt::format("stopped at t = {:.10g} (step {}, mode [{}]): the end of a sliding mode "
                         "could not be located",
                         now_.t, steps_, describe(system_.laws, now_.mode)));
    return;
  }
  double length = *found;
  if (length > 0) {
    zero_steps_ = 0;
    // A time that is asked for and the event are one moment where rounding cannot tell them apart.
    double t_event = now_.t + length;
    const double nearest = next_output(t_event - least_step * std::max(1.0, std::abs(t_event)));
    if (std::abs(nearest - t_event) <= least_step * std::max(1.0, std::abs(t_event))) {
      t_event = nearest;
      length = nearest - now_.t;
    }
    report_between(length);
    if (result_.status != Status::never_run) return;
    accept(length, t_event);
  } else if (++zero_steps_ > most_at_once) {
    capture_the_rest(now_, "events follow each other without end at this moment");
    return;
  }
  const Step before = now_;
  const Gap gap = gaps_[static_cast<std::size_t>(fall.gap)];
  pass_at_corner(gap, before);
  watch_resets();
  if (gap.reset >= 0) {
    apply_reset(gap.reset, before);
    return;
  }
  std::vector<int> hit;
  for (const Gap& zero : passage_.gaps)
    if (std::find(hit.begin(), hit.end(), zero.law) == hit.end()) hit.push_back(zero.law);
  std::sort(hit.begin(), hit.end());
  std::vector<int> undecided = hit;
  for (int i = 0; i < system_.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    if (is_vertical(system_.laws[law].branches[static_cast<std::size_t>(before.mode[law])]) &&
        std::find(hit.begin(), hit.end(), i) == hit.end())
      undecided.push_back(i);
  }
  std::sort(undecided.begin(), undecided.end());
  go_on(before, undecided, std::move(hit), false);
}

/// From the last moment before a jump of the right-hand side with time to the first one after it:
/// the state stays, all laws may change their branch.
void LocatedRun::pass_time_switch() {
  const TimeSwitches::Switch here = *switch_;
  switch_ = switches_.next(here.after, span_.end);
  const Step before = now_;
  passage_ = {};
  if (sensitivities_.active()) {  // the moment does not depend on starts or parameters
    passage_.before = jets_.solve(before.mode, before.t, before.x, before.lambda);
    passage_.dt = Vector::Zero(options_.sensitivities.columns());
    sensitivities_.at_event(passage_.before, passage_.dt);
  }
  for (double t = next_output(before.t); t <= here.after; t = next_output(t)) {
    now_.t = t;  // asked for within the rounding of the moment
    if (t < here.after) record(true);
    if (result_.status != Status::never_run) return;
  }
  now_.t = here.after;
  zero_steps_ = 0;
  go_on(before, all_laws_, {}, false);
}

/// The gaps that are 0 now: the one that fell and those of the same moment.
void LocatedRun::pass_at_corner(const Gap& fell, const Step& state) {
  passage_ = {};
  passage_.before = jets_.solve(state.mode, state.t, state.x, state.lambda);
  passage_.gaps.push_back(fell);
  const double moment = same_moment * std::max(1.0, std::abs(state.t));
  for (const Gap& gap : gaps_) {
    if (gap.law < 0 || gap.law == fell.law) continue;
    const double value = gap_value(gap, state);
    const Matrix& series = gap.of_lambda ? passage_.before.lambda : passage_.before.w;
    const double speed = series.cols() > 1 ? std::abs(series(gap.law, 1)) : 0;
    const double size = gap.of_lambda ? std::max(1e-3, std::abs(gap.bound)) : law_sizes_[gap.law];
    if (std::abs(value) <= 16 * rounding * size || std::abs(value) <= speed * moment)
      passage_.gaps.push_back(gap);
  }
  if (!sensitivities_.active()) return;
  const Sensitivities::GapRate rate =
      sensitivities_.gap_rate(fell, passage_.before, sensitivities_.dx());
  passage_.dt = rate.time();
  passage_.condition = 1 / std::abs(rate.by_t);
  sensitivities_.at_event(passage_.before, passage_.dt);
}

/// The sides on which the conditions of the resets are, after an accepted step.
void LocatedRun::watch_resets() {
  bool changed = false;
  for (std::size_t k = 0; k < system_.resets.size(); ++k) {
    const double value = condition(static_cast<int>(k), now_);
    const int side = (value > 0) - (value < 0);
    if (side == 0 || side == reset_side_[k]) continue;
    // A condition that watches one side only may change sides silently on its way back.
    changed = changed || reset_side_[k] == 0 || system_.resets[k].direction == 0;
    reset_side_[k] = side;
  }
  if (changed) make_gaps();
}

void LocatedRun::apply_reset(int reset, const Step& before) {
  const Reset& what = system_.resets[static_cast<std::size_t>(reset)];
  std::vector<double> values(what.values.size());
  evaluator_.reset_values(static_cast<std::size_t>(reset), inputs(before).data(), values.data());
  for (std::size_t j = 0; j < values.size(); ++j) now_.x[what.variables[j]] = values[j];
  Event event;
  event.kind = EventKind::jump;
  event.t = event.t_before = event.t_after = before.t;
  event.x_before = before.x;
  event.x_after = now_.x;
  event.size = (now_.x - before.x).norm();
  event.note = what.name;
  event.dt_dq = passage_.dt;
  event.condition = passage_.condition;
  result_.events.push_back(std::move(event));
  ++result_.counts["resets"];
  if (sensitivities_.active()) sensitivities_.reset(reset, before.t, before.x, before.lambda);
  // It must leave 0 to the side it came from before it fires again; others keep the side that the
  // reset takes them to.
  for (std::size_t k = 0; k < system_.resets.size(); ++k) {
    const double value = condition(static_cast<int>(k), now_);
    if (static_cast<int>(k) != reset && value != 0) reset_side_[k] = value > 0 ? 1 : -1;
  }
  const double sign =
      what.direction != 0 ? -what.direction : reset_side_[static_cast<std::size_t>(reset)];
  reset_side_[static_cast<std::size_t>(reset)] = static_cast<int>(sign);
  accumulation_.add(before.t, now_.x, -1 - reset, {}, sensitivities_.at_event(),
                    sensitivities_.event_time());
  go_on(before, all_laws_, {}, true);
}

}  // namespace perp
