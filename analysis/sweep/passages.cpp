#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <span>

#include <perp/analysis/sweep/passages.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/events/moments.hpp>

namespace perp {
namespace {

/// The largest difference of neighbours; NaN counts for nothing.
double fastest(std::span<const double> values) {
  double largest = 0;
  for (std::size_t k = 1; k < values.size(); ++k) largest = std::max(largest, std::abs(values[k] - values[k - 1]));
  return largest;
}

/// Does a law hold its argument at a value?
bool holds(const Laws& laws, const Mode& mode) {
  for (std::size_t i = 0; i < mode.size(); ++i)
    if (is_vertical(laws[i].branches[static_cast<std::size_t>(mode[i])])) return true;
  return false;
}

}  // namespace

/// Of the gap in the state that was evaluated last: of the formula and of the value.
double Passages::rounding() { return formula_.rounding() + std::numeric_limits<double>::epsilon() * std::abs(value_); }

/// A state at an event is on the value but for rounding, whose sign tells nothing: what lies on both sides of it does. So it is
/// all along a course that rests there.
Passages::Samples Passages::samples_of(const StepCourse& step, const Step& begin) {
  Samples samples;
  std::array<double, parts + 1>& gaps = samples.gaps;
  gaps[0] = gap(begin);
  const double at_begin = rounding();
  for (std::size_t k = 1; k < parts; ++k) gaps[k] = gap(step.at(static_cast<double>(k) / parts));
  const Step end = step.at(1);
  end_ = end.x;
  gaps[parts] = gap(end);
  const double at_end = rounding();
  const double rate = fastest(gaps) * parts / (step.end - step.start);
  motion_ = rate * rounding_of_times * std::max(std::abs(step.start), std::abs(step.end));
  samples.begin_is_rounding = !(std::abs(gaps[0]) > at_begin + motion_);
  samples.end_is_rounding = !(std::abs(gaps[parts]) > at_end + motion_);
  const auto [least, largest] = std::ranges::minmax(gaps, {}, [](double gap) { return std::abs(gap); });
  // What passes 0 changes by all of itself: one that keeps half of itself within the rounding does not move.
  // Rounding of either sign is where a law holds it.
  const bool is_still = std::abs(least) >= std::abs(largest) / 2;
  const bool is_held = holds(laws_, end.mode) && !(std::abs(largest) > std::max(at_begin, at_end));
  samples.rests = samples.begin_is_rounding && samples.end_is_rounding && (is_still || is_held);
  samples.rests = samples.rests || are_one_moment(step.start, step.end);
  return samples;
}

void Passages::finish(const Step& last) {
  begin(last);
  if (std::abs(before_) > rounding() + motion_) decide(before_);
}

void Passages::course(const StepCourse& step) {
  const Step first = step.at(0);
  begin(first);
  const Samples samples = samples_of(step, first);
  for (std::size_t k = 0; k <= parts; ++k) {
    if (k > 0) move(step, k, samples.gaps[k]);
    const bool is_rounding = (k == 0 && samples.begin_is_rounding) || (k == parts && samples.end_is_rounding);
    if (!is_rounding && !samples.rests) decide(samples.gaps[k]);
  }
  if (samples.rests && waiting_) waiting_ = {step.end, end_};
}

/// The state behind what happened since the last course: the points of this moment have it, and a jump may have passed.
void Passages::begin(const Step& state) {
  const bool jumped = end_.size() > 0 && end_ != state.x;
  const auto put_behind = [&](SectionPoint& point) {
    if (jumped && are_one_moment(point.t, state.t)) point.x = state.x;
  };
  if (waiting_) put_behind(*waiting_);
  if (!kept_.empty()) put_behind(kept_.back());
  const double after = gap(state);
  if (before_ <= 0 && after > 0) waiting_ = {state.t, state.x};
  before_ = after;
}

/// From sample k - 1 of a course to sample k.
void Passages::move(const StepCourse& step, std::size_t k, double after) {
  const double from = static_cast<double>(k - 1) / parts, to = static_cast<double>(k) / parts;
  if (before_ <= 0 && after > 0) waiting_ = root(step, from, to, before_, after);
  before_ = after;
}

/// The gap is on a side, and no rounding.
void Passages::decide(double gap) {
  const int side = gap > 0 ? 1 : gap < 0 ? -1 : 0;
  if (side > 0 && side_ < 0 && waiting_) kept_.push_back(*waiting_);
  if (side != 0 || std::isnan(gap)) waiting_.reset(), side_ = side;
}

SectionPoint Passages::root(const StepCourse& step, double from, double to, double before, double after) {
  double s = from;  // where it leaves 0
  if (before < 0) {
    std::uintmax_t most = 100;
    s = boost::math::tools::toms748_solve([&](double at) { return gap(step.at(at)); }, from, to, before, after,
                                          boost::math::tools::eps_tolerance<double>(50), most)
            .second;
  }
  return {step.start + s * (step.end - step.start), step.at(s).x};
}

}  // namespace perp
