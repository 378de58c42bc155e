#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/branches.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

constexpr double ulp_of_one = std::numeric_limits<double>::epsilon();
constexpr double gap_rounding = 1e-13;     ///< of the terms of a gap
constexpr double least_depth = 1e-12;  ///< of a dip that counts, of the terms of the gap
constexpr double least_step = 2e-13;   ///< of the step: a nearer event is one of this moment
constexpr double probe_share = 1e-2;   ///< of a step whose polynomial falls at its start
constexpr int most_event_iterations = 60;
constexpr int most_at_once = 20;  ///< events of one moment

}  // namespace

/// The state at the share s of the attempted step of length h.
Step LocatedRun::sample(double s, double h) {
  Step state{now_.t + s * h, now_.x, now_.lambda, now_.w, now_.mode};
  radau_.interpolate(s, y_);
  radau_.interpolate_derivative(s, ydot_);
  flow_.scatter(y_, state.x, state.lambda);
  if (system_.m() > 0 && !flow_.w(state.t, ydot_, y_, state.w)) state.w.setConstant(nan);
  return state;
}

double LocatedRun::gap_value(const Gap& gap, const Step& state) {
  if (gap.variable >= 0) return gap.at(state.x[gap.variable]);
  if (gap.law < 0) return gap.at(condition(gap.reset, state));
  return gap.at(gap.of_lambda ? state.lambda[gap.law] : state.w[gap.law]);
}

/// Of the terms of a law's gap.
double LocatedRun::gap_size(const Gap& gap) const {
  return gap.of_lambda ? std::max(scales_.lambda[gap.law], std::abs(gap.bound))
                       : law_sizes_[gap.law];
}

/// The first gap that falls below 0 in the attempted step of length h.
std::optional<GapWatch::Fall> LocatedRun::first_fall(double h) {
  if (gaps_.empty()) return std::nullopt;
  const Vector& points = watch_.points();
  for (Eigen::Index k = 0; k < points.size(); ++k) {
    const Step state = sample(points[k], h);
    for (std::size_t g = 0; g < gaps_.size(); ++g)
      samples_(static_cast<Eigen::Index>(g), k) = gap_value(gaps_[g], state);
  }
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    const auto row = static_cast<Eigen::Index>(g);
    const Gap& gap = gaps_[g];
    double size = samples_.row(row).cwiseAbs().maxCoeff();
    if (gap.law >= 0 && !gap.of_lambda) size = std::max(size, law_sizes_[gap.law]);
    if (gap.of_lambda) size = std::max(size, std::abs(gap.bound));
    noise_[row] = gap_rounding * size;
    if (gap.surface >= 0) size = bound_size(bounds_.surface(gap.surface));
    depth_[row] = std::max(least_depth, options_.tol) * size;
    if (gap.rests) noise_[row] = depth_[row];
    if (gap.surface >= 0) noise_[row] = depth_[row];
    rise_[row] = noise_[row];
    if (gap.reset < 0) continue;
    // A condition may rest at 0: its samples are rounding then, of which no course can be told.
    noise_[row] = std::max(noise_[row], condition_noise(gap.reset));
    depth_[row] = std::max(depth_[row], noise_[row]);
    rise_[row] = depth_[row];  // what does not count as a dip counts as no rise
    inside_[g] = resets_.side(gap.reset) == gap.sign ? 1 : 0;
  }
  const std::optional<GapWatch::Fall> fall = watch_.first(samples_, depth_, noise_, rise_, inside_);
  return fall && gaps_[static_cast<std::size_t>(fall->gap)].surface >= 0 ? pass_or_touch(*fall, h)
                                                                         : fall;
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
  const double least = one_moment(least_step, h, now_.t);
  double low = fall.from * h, high = h;
  double length = fall.s * h, slope = fall.slope / h;
  double last_length = -1, last_value = 0;
  const double noise = noise_[fall.gap];
  bool fell = false, probed = false;
  for (int k = 0; k < most_event_iterations; ++k) {
    if (length <= least) {
      if (fell || probed) return 0.0;
      probed = true;  // the polynomial falls at once: does a full step?
      length = probe_share * h;
    }
    double value = nan;
    if (radau_.attempt(length) == Radau::Outcome::solved) {
      value = gap_value(gap, state_at_attempt(now_.t + length));
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
        step <= (k < 5 ? ulp_of_one : 8 * ulp_of_one) * std::max(std::abs(now_.t), length))
      return length;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (next <= low || next >= high) break;
    length = next;
  }
  if (!fell && high == h) return std::nullopt;
  return length;
}

/// Does a reset that has fired at this moment fire once more, before t could tell the way in between?
bool LocatedRun::fires_again(const GapWatch::Fall& fall) const {
  const int reset = gaps_[static_cast<std::size_t>(fall.gap)].reset;
  return std::find(fired_here_.begin(), fired_here_.end(), reset) != fired_here_.end();
}

/// Goes to the fall of a gap and on from there in the mode that follows.
void LocatedRun::pass_event(const GapWatch::Fall& fall, double h) {
  const std::optional<double> found = locate(fall, h);
  if (!found && options_.fixed_step > 0) {  // only the polynomial of a long step fell
    take_step(h);
    return;
  }
  if (!found) {
    shorten(h / 2, "the end of a mode is not located");
    return;
  }
  double length = *found;
  // A time that is asked for and the event are one moment where rounding cannot tell them apart.
  double t_event = now_.t + length;
  const double moment = one_moment(least_step, h, t_event);
  const double nearest = next_output(t_event - moment);
  if (length > 0 && std::abs(nearest - t_event) <= moment) {
    t_event = nearest;
    length = nearest - now_.t;
  }
  if (t_event > now_.t) {
    zero_steps_ = 0;
    fired_here_.clear();
    if (!radau_.has_attempted(length) && radau_.attempt(length) != Radau::Outcome::solved) {
      shorten(h / 2, "Newton's method does not converge");
      return;
    }
    report_between(length);
    if (result_.status != Status::never_run) return;
    if (!resets_.empty()) follow_sides(length);
    if (!accept(length, t_event)) return;
  } else if (fires_again(fall) || (++zero_steps_ > most_at_once && !fired_here_.empty())) {
    finish(Status::not_solved,
           fmt::format("stopped at t = {:.10g} (step {}): resets follow each other without end at "
                       "this moment: {}",
                       now_.t, steps_, resets_.names(fired_here_)));
    return;
  } else if (zero_steps_ > most_at_once) {
    capture_the_rest(now_, "events follow each other without end at this moment");
    return;
  }
  const Step before = now_;
  const Gap gap = gaps_[static_cast<std::size_t>(fall.gap)];
  if (gap.surface >= 0) {
    pass_bound(gap);
    return;
  }
  pass_at_corner(gap, before);
  if (pass_resets(gap, before)) return;
  watch_resets();
  std::vector<int> hit = laws_hit();
  const std::vector<int> undecided = undecided_laws(before, hit);
  go_on(before, undecided, std::move(hit), JumpOfX::none);
}

/// The laws whose gaps are 0 at the event.
std::vector<int> LocatedRun::laws_hit() const {
  std::vector<int> hit;
  for (const Gap& zero : passage_.gaps)
    if (zero.law >= 0 && std::find(hit.begin(), hit.end(), zero.law) == hit.end())
      hit.push_back(zero.law);
  std::sort(hit.begin(), hit.end());
  return hit;
}

/// The laws that may change their branch where those of `hit` do: these, and all whose multiplier
/// follows the others.
std::vector<int> LocatedRun::undecided_laws(const Step& before,
                                            const std::vector<int>& hit) const {
  std::vector<int> undecided = hit;
  for (int i = 0; i < system_.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    if (is_vertical(system_.laws[law].branches[static_cast<std::size_t>(before.mode[law])]) &&
        std::find(hit.begin(), hit.end(), i) == hit.end())
      undecided.push_back(i);
  }
  std::sort(undecided.begin(), undecided.end());
  return undecided;
}

/// Data that jump at the end of the span have their new value there, which is of no step of the run.
std::optional<TimeSwitches::Switch> LocatedRun::next_switch(double t) {
  const bool jumps_at_end = !switches_.jumps_at(span_.end).empty();
  return switches_.next(t, jumps_at_end ? std::nextafter(span_.end, inf) : span_.end);
}

/// The last state of a run that ends where data jump.
void LocatedRun::end_before_switch() {
  switch_.reset();
  now_.t = span_.end;
  record(true);
}

/// From the last moment before a jump of the right-hand side with time to the first one after it:
/// the state stays, all laws may change their branch.
void LocatedRun::pass_time_switch() {
  const TimeSwitches::Switch here = *switch_;
  switch_ = next_switch(here.after);
  const Step before = now_;
  passage_ = {};
  const std::vector<int> hit = pass_laws_of_time(before, here.after);
  if (hit.empty() && sensitivities_.active()) {  // the moment depends on nothing
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
  fired_here_.clear();
  for (const std::string& jump : switches_.jumps_at(here.after))
    result_.events.push_back(event_at(EventKind::mode_change, here.after, now_.x, jump));
  // Where data switch a mode that goes on is kept: other laws are looked at where it does not.
  const bool keeps_mode = hit.empty() && switches_.is_of_data(here.after);
  go_on(before, keeps_mode ? std::vector<int>{} : all_laws_, hit, JumpOfX::none);
}

/// The laws whose argument of time leaves its branch up to `after`; the passage is that of their
/// gaps.
std::vector<int> LocatedRun::pass_laws_of_time(const Step& before, double after) {
  std::vector<double> z(static_cast<std::size_t>(evaluator_.inputs()), 0.0);
  z[0] = after;
  std::copy(before.x.begin(), before.x.end(), z.begin() + system_.variable_input(0));
  std::vector<double> rows(static_cast<std::size_t>(system_.n() + system_.m()));
  evaluator_.evaluate(z.data(), rows.data());
  for (const Gap& gap : gaps_) {
    if (gap.law < 0 || gap.of_lambda || !switches_.is_of_time(gap.law)) continue;
    if (gap.at(rows[static_cast<std::size_t>(system_.n() + gap.law)]) >= 0) continue;
    pass_at_corner(gap, before);
    std::vector<int> hit;
    for (const Gap& zero : passage_.gaps) hit.push_back(zero.law);
    std::sort(hit.begin(), hit.end());
    hit.erase(std::unique(hit.begin(), hit.end()), hit.end());
    return hit;
  }
  return {};
}

/// The gaps that are 0 now: the one that fell and those of the same moment.
void LocatedRun::pass_at_corner(const Gap& fell, const Step& state) {
  passage_ = {};
  hold_ends(fell.law >= 0 ? std::vector<int>{fell.law} : std::vector<int>{});
  passage_.before = jets_.solve(state.mode, state.t, state.x, state.lambda);
  passage_.gaps.push_back(fell);
  const double together = same_moment(state);
  for (const Gap& gap : gaps_) {
    if (gap.law < 0 || gap.law == fell.law) continue;
    const double value = gap_value(gap, state);
    const Matrix& series = gap.of_lambda ? passage_.before.lambda : passage_.before.w;
    const double speed = series.cols() > 1 ? std::abs(series(gap.law, 1)) : 0;
    if (std::abs(value) <= 16 * gap_rounding * gap_size(gap) || std::abs(value) <= speed * together)
      passage_.gaps.push_back(gap);
  }
  if (!sensitivities_.active()) return;
  // Gaps of one moment tell the same time, the one that falls fastest in its unit tells it best.
  const Gap* fastest = &fell;
  double speed = -1;
  for (const Gap& gap : passage_.gaps) {
    if (gap.law < 0) continue;
    const double by_t = sensitivities_.gap_rate(gap, passage_.before, sensitivities_.dx()).by_t;
    if (!(std::abs(by_t) / gap_size(gap) > speed)) continue;
    speed = std::abs(by_t) / gap_size(gap);
    fastest = &gap;
  }
  const Sensitivities::GapRate rate =
      sensitivities_.gap_rate(*fastest, passage_.before, sensitivities_.dx());
  passage_.rests = fastest->law >= 0 && speed * scales_.time <= resting;
  passage_.dt = rate.time();
  passage_.condition = 1 / std::abs(rate.by_t);
  sensitivities_.at_event(passage_.before, passage_.dt);
}

}  // namespace perp
