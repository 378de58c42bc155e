// The end of a mode within a step: asked by the run after each attempt.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/located/events/event_locator.hpp>
#include <perp/schemes/located/events/zero_search.hpp>

namespace perp {
namespace {

constexpr double gap_rounding = 1e-13;  ///< of the terms of a gap
constexpr double least_depth = 1e-12;   ///< of a dip that counts, of the terms of the gap
constexpr double least_step = 2e-13;    ///< of the step: a nearer event is one of this moment

}  // namespace

EventLocator::EventLocator(LocatedState& at, ModeJets& jets, ModeIntegrator& integrator, ResetSides& sides,
                           const std::vector<VariableBounds>& bounds)
    : at_(at), jets_(jets), integrator_(integrator), sides_(sides), bounds_(bounds, at.system.n()), watch_(at.stages) {}

double EventLocator::moment(double h, double t) { return one_moment(least_step, h, t); }

void EventLocator::watch_mode() {
  gaps_ = gaps_of(at_.system.laws, at_.now.mode);
  add_resets();
  add_resting();
  add_bounds();
  const auto count = static_cast<Eigen::Index>(gaps_.size());
  samples_.resize(count, watch_.points().size());
  depth_.resize(count);
  noise_.resize(count);
  rise_.resize(count);
  inside_.assign(gaps_.size(), 1);
  // The sizes of the terms of w: what rounding and tolerance of a gap refer to.
  at_.law_sizes = at_.scales.w;
  if (at_.system.m() > 0) integrator_.law_sizes(at_.law_sizes);
}

void EventLocator::add_resets() {
  const ResetWatch& resets = sides_.watch();
  for (int k = 0; k < resets.count(); ++k) {
    // −1 falls from above, +1 rises from below, 0 leaves the side where it is, if that is known.
    const int direction = resets.reset(k).direction, side = resets.side(k);
    for (const int sign : {1, -1})
      if (direction == -sign || (direction == 0 && side != -sign))
        gaps_.push_back({-1, k, false, 0, static_cast<double>(sign)});
  }
}

/// The end of the branch of a law at which w stays because nothing moves it; infinite: none.
double EventLocator::resting_end(int law) {
  const auto i = static_cast<std::size_t>(law);
  const Branch& branch = at_.system.laws[i].branches[static_cast<std::size_t>(at_.now.mode[i])];
  double end = inf;
  if (!integrator_.flow().inert().empty() && integrator_.flow().inert()[i]) end = branch.c / branch.a;
  if (jets_.rests() && jets_.all().is_held(law, at_.now.mode)) end = jets_.ends()[i];
  return end;
}

/// Both ways from such an end.
void EventLocator::add_resting() {
  for (int i = 0; i < at_.system.m(); ++i) {
    const double end = resting_end(i);
    if (!std::isfinite(end)) continue;
    std::erase_if(gaps_, [&](const Gap& gap) { return gap.law == i && !gap.of_lambda; });
    for (const double sign : {1.0, -1.0})
      gaps_.push_back({i, -1, false, end, sign, -1, -1, true});
  }
}

/// The distances to bounds, on the side where the state is.
void EventLocator::add_bounds() {
  for (int k = 0; k < bounds_.count(); ++k) {
    const BoundWatch::Surface& surface = bounds_.surface(k);
    const bool from_below = surface.upper != surface.is_outside;
    gaps_.push_back({-1, -1, false, surface.bound(), from_below ? -1.0 : 1.0,
                     surface.bounds.variable, k});
  }
}

double EventLocator::value(const Gap& gap, const Step& state) {
  if (gap.variable >= 0) return gap.at(state.x[gap.variable]);
  if (gap.law < 0) return gap.at(sides_.watch().condition(gap.reset, state));
  return gap.at(gap.of_lambda ? state.lambda[gap.law] : state.w[gap.law]);
}

double EventLocator::size(const Gap& gap) const {
  return gap.of_lambda ? std::max(at_.scales.lambda[gap.law], std::abs(gap.bound))
                       : at_.law_sizes[gap.law];
}

double EventLocator::size(const BoundWatch::Surface& surface) const {
  const int j = surface.bounds.variable;
  return std::max({at_.scales.x[j], at_.largest[j], std::abs(at_.now.x[j])});
}

bool EventLocator::is_zero(const Gap& gap, double value) const {
  return std::abs(value) <= 16 * gap_rounding * size(gap);
}

std::optional<GapWatch::Fall> EventLocator::first_fall(double h) {
  if (gaps_.empty()) return std::nullopt;
  const Vector& points = watch_.points();
  for (Eigen::Index k = 0; k < points.size(); ++k) {
    const Step state = integrator_.sample(points[k], h);
    for (std::size_t g = 0; g < gaps_.size(); ++g)
      samples_(static_cast<Eigen::Index>(g), k) = value(gaps_[g], state);
  }
  for (int g = 0; g < static_cast<int>(gaps_.size()); ++g) measure(g, h);
  const std::optional<GapWatch::Fall> fall = watch_.first(samples_, depth_, noise_, rise_, inside_);
  return fall && gap(*fall).surface >= 0 ? pass_or_touch(*fall, h) : fall;
}

/// How deep a dip of a gap counts, what is noise in its samples, and whether it starts inside.
void EventLocator::measure(int g, double h) {
  const Gap& gap = gaps_[at(g)];
  double size = samples_.row(g).cwiseAbs().maxCoeff();
  if (gap.law >= 0) size = std::max(size, gap.of_lambda ? std::abs(gap.bound) : at_.law_sizes[gap.law]);
  noise_[g] = gap_rounding * size;
  if (gap.surface >= 0) size = this->size(bounds_.surface(gap.surface));
  depth_[g] = std::max(least_depth, at_.options.tol) * size;
  if (gap.of_lambda) {
    // The polynomial of a multiplier that begins with a high power of time is wrong by a share of itself.
    noise_[g] = std::max(noise_[g], gap_rounding * this->size(gap));
    depth_[g] = std::max(depth_[g], noise_[g]);
  }
  if (gap.rests || gap.surface >= 0) noise_[g] = depth_[g];
  rise_[g] = noise_[g];
  if (gap.reset >= 0) measure_condition(g, h);
}

/// The same of a reset, from what the samples of its condition tell.
void EventLocator::measure_condition(int g, double h) {
  const Gap& gap = gaps_[at(g)];
  // A condition may rest at 0: its samples are rounding then, of which no course can be told.
  noise_[g] = std::max(noise_[g], sides_.noise(gap.reset));
  depth_[g] = std::max(depth_[g], noise_[g]);
  rise_[g] = depth_[g];  // what does not count as a dip counts as no rise
  inside_[at(g)] = begins_inside(gap) ? 1 : 0;
  const double variation = samples_.row(g).maxCoeff() - samples_.row(g).minCoeff();
  if (sides_.is_error_of_steps(gap.reset, variation, h)) noise_[g] = depth_[g] = rise_[g] = inf;
}

/// A bound falls in the attempted step of length h. Where the mode ends before the variable is
/// beyond it, it is touched: the end of the mode comes first, and what follows tells.
GapWatch::Fall EventLocator::pass_or_touch(const GapWatch::Fall& bound, double h) {
  const Eigen::Index others = samples_.rows() - bounds_.count();  // bounds stand last
  const std::optional<GapWatch::Fall> end =
      watch_.first(samples_.topRows(others), depth_.head(others), noise_.head(others),
                   rise_.head(others), inside_);
  if (!end || value(gaps_[static_cast<std::size_t>(bound.gap)], integrator_.sample(end->s, h)) <
                  -depth_[bound.gap])
    return bound;
  const Vector& points = watch_.points();
  for (Eigen::Index k = 0; k < points.size(); ++k)
    if (points[k] > bound.s && points[k] < end->s &&
        samples_(bound.gap, k) < -depth_[bound.gap])
      return bound;
  return *end;
}

bool EventLocator::is_inside(const Step& state) {
  for (std::size_t g = 0; g < gaps_.size(); ++g)
    if (gaps_[g].law >= 0 && value(gaps_[g], state) < -depth_[static_cast<Eigen::Index>(g)]) return false;
  return true;
}

bool EventLocator::begins_inside(const Gap& gap) const { return sides_.watch().side(gap.reset) == gap.sign; }

bool EventLocator::is_before_falls(const Step& state) {
  for (std::size_t g = 0; g < gaps_.size(); ++g)
    if (gaps_[g].reset >= 0 && inside_[g] != 0 && value(gaps_[g], state) < -depth_[static_cast<Eigen::Index>(g)])
      return false;
  return is_inside(state);
}

bool EventLocator::is_resolved() {
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    const auto row = static_cast<Eigen::Index>(g);
    // The polynomial of a multiplier is of degree s − 1, whatever the multiplier does.
    const int degree = gaps_[g].of_lambda ? at_.stages - 1 : 2 * at_.stages - 3;
    if (!watch_.is_resolved(samples_.row(row), degree, std::max(depth_[row], 1e-6 * noise_[row])))
      return false;
  }
  return true;
}

std::optional<double> EventLocator::length_to(const GapWatch::Fall& fall, double h) {
  const Gap& gap = this->gap(fall);
  const double least = moment(h, at_.now.t);
  ZeroSearch search(fall.from * h, h, fall.s * h, fall.slope / h);
  search.run([&](double length) { return value_after(length, gap); }, at_.now.t, h, least, noise_[fall.gap]);
  if (search.at_once) return 0.0;
  // A law that is 0 there asks its series; of what is nearer than a moment no double tells more.
  const bool is_hit = search.is_zero && gap.reset < 0;
  if (is_hit || fall.lowest * h <= least) return search.length;
  if (search.found_nothing(h)) return std::nullopt;
  return confirm(fall, h, search) ? std::optional(search.length) : std::nullopt;
}

/// Is the length that was found one of a fall? Else the polynomial is wrong between its points, or the gap touches 0.
/// The attempt of the integrator is one of that length then.
bool EventLocator::confirm(const GapWatch::Fall& fall, double h, const ZeroSearch& search) {
  const bool is_bracketed = search.rose || fall.from == 0;
  const bool may_touch = !search.fell && !search.lost;
  if (is_bracketed && !may_touch) return true;
  if (!rises(fall, h) || (may_touch && !falls(fall, h, search.high == h))) return false;
  return integrator_.radau().attempt(search.length) == Radau::Outcome::solved;
}

/// Is a gap above 0 where its polynomial begins to fall? Else the polynomial is wrong in between.
bool EventLocator::rises(const GapWatch::Fall& fall, double h) {
  return fall.from == 0 || !(value_after(fall.from * h, gap(fall)) <= 0);
}

/// Is a gap below 0 where its polynomial is lowest, or does it touch 0? A reset fires below its noise alone; a law may be
/// up to it, `strictly` not, where it has been seen above 0 alone. What has no value there has left its domain.
bool EventLocator::falls(const GapWatch::Fall& fall, double h, bool strictly) {
  const double lowest = value_after(fall.lowest * h, gap(fall)), noise = noise_[fall.gap];
  const double most = gap(fall).reset >= 0 ? -noise : strictly ? 0 : noise;
  return !(lowest > most);
}

/// The gap at the end of a step of this length; NaN where there is none.
double EventLocator::value_after(double length, const Gap& gap) {
  if (integrator_.radau().attempt(length) != Radau::Outcome::solved) return nan;
  return value(gap, integrator_.end_of_attempt(at_.now.t + length));
}

}  // namespace perp
