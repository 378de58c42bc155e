// Located runs of hybrid models: modes by Taylor series, ends of modes by the rule in the neighbourhood of the mode
// before. What these leave open, of small models also stiff modes, is for implicit methods and the whole search.
#include <algorithm>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>

namespace perp {
namespace {

/// Steps of a mode: short ones are better made by an implicit method, whose matrices are dense. Of a small model one of
/// its steps is some ten of these.
constexpr long most_in_mode = 20000, most_of_small = 500;

}  // namespace

void HybridRun::make_series() {
  NearChoice::Options options;
  options.share = share_of_computed;
  options.sizes = sizes_;
  options.lists_all = !asks_called_alone_ || hybrid_.q() <= NearChoice::most_searched;
  options.counts_inside = true;
  series_ = std::make_unique<Series>(hybrid_, structure(), options, schemes_.located.tol);
}

/// Null where the model has none.
HybridRun::Series* HybridRun::series() {
  if (is_without_series_ || has_short_series_ || request_.columns() > 0 || !output_.bounds.empty() || !switches_.empty())
    return nullptr;
  if (!series_) make_series();
  return series_->series.obstacle().empty() ? series_.get() : nullptr;
}

/// Are all binaries 0 or 1?
bool HybridRun::is_plain() const {
  return std::all_of(mode_.z.begin(), mode_.z.end(), [](int z) { return z == 0 || z == 1; });
}

std::optional<HybridContinuations> HybridRun::near_choice(bool at_start) {
  if (follows_) return std::nullopt;  // all continuations are asked for
  if (starts_strictly()) {
    HybridContinuations found;
    HybridContinuation present;
    present.z.assign(mode_.z.begin(), mode_.z.end());
    present.surfaces.assign(mode_.z.size(), -1);
    present.x = now_.x;
    found.list.push_back(std::move(present));
    found.chosen = 0;
    found.status = Status::solved;
    return found;
  }
  Series* parts = is_plain() ? series() : nullptr;
  return parts == nullptr ? std::nullopt : parts->near(now_.t, now_.x, mode_.z, at_start);
}

/// The state at s of the present step.
Step HybridRun::state_in_step(double s) const {
  const SeriesFlow& flow = series_->flow;
  Step step{flow.t() + s, Vector(hybrid_.n()), now_.lambda, Vector::Zero(now_.w.size()), now_.mode};
  Vector g(static_cast<Eigen::Index>(hybrid_.g.size()));
  flow.at(s, step.x, g);
  step.w.tail(g.size()) = g;
  for (int i = 0; i < hybrid_.q(); ++i) step.lambda[i] = mode_.z[at(i)];
  return step;
}

/// The states at those of `times` that lie within the step, and at its end.
std::vector<Step> HybridRun::states_of_step(const std::vector<double>& times) const {
  const SeriesFlow& flow = series_->flow;
  const double begin = flow.t();
  std::vector<Step> steps;
  for (auto time = std::upper_bound(times.begin(), times.end(), begin);
       time != times.end() && *time < flow.t_end(); ++time) {
    steps.push_back(state_in_step(*time - begin));
    steps.back().t = *time;
  }
  steps.push_back(state_in_step(flow.length()));
  if (!flow.ends() && flow.t_end() >= span_.end) steps.back().t = span_.end;
  return steps;
}

/// The rows of a step whose course was told.
void HybridRun::record_all(std::vector<Step> states) {
  courses_by_rows_ = false;
  for (Step& state : states)
    if (is_running()) record(std::move(state), false);
  courses_by_rows_ = true;
}

/// The course of an accepted step, whose polynomials are these.
void HybridRun::tell_course(const Matrix& polynomials, double end) {
  if (!output_.course) return;
  const SeriesFlow& flow = series_->flow;
  output_.course({flow.t(), end, [&](double share) {
                    Step step = now_;
                    step.t = flow.t() + share * (end - flow.t());
                    Vector values = polynomials.col(polynomials.cols() - 1);
                    for (Eigen::Index k = polynomials.cols() - 1; k-- > 0;)
                      values = values * (share * flow.length()) + polynomials.col(k);
                    step.x = values.head(hybrid_.n());
                    step.w.tail(values.size() - hybrid_.n()) = values.tail(values.size() - hybrid_.n());
                    for (int i = 0; i < hybrid_.q(); ++i) step.lambda[i] = mode_.z[at(i)];
                    return step;
                  }});
}

/// At the present state, from which the mode is followed. False: there are no series.
bool HybridRun::starts_series(SeriesFlow& flow) {
  if (!flow.start(now_.t, now_.x, mode_.z, now_.t == span_.start)) return false;
  stage_ = Stage::series;
  stage_start_ = now_;
  in_mode_ = 0;
  record(state_in_step(0), true);
  return true;
}

/// Of too many steps in one mode?
bool HybridRun::is_series_long() const {
  return in_mode_ == (hybrid_.is_large() ? most_in_mode : most_of_small);
}

/// The polynomials of the next step, which its end has still to confirm. False: there are none, or too many before.
bool HybridRun::attempts_series_step(SeriesFlow& flow) {
  check_interruption();
  keep_if_due();
  return !is_series_long() && flow.step(span_.end);
}

/// Tells and records the step where its end is good.
SeriesFlow::Arrival HybridRun::take_series_step(SeriesFlow& flow, const std::vector<double>& times) {
  std::vector<Step> states = states_of_step(times);
  const Matrix course = output_.course ? flow.polynomials() : Matrix();
  const SeriesFlow::Arrival arrival = flow.arrive();
  if (arrival != SeriesFlow::Arrival::good) return arrival;
  ++result_.counts["steps"];
  tell_course(course, states.back().t);
  record_all(std::move(states));
  return arrival;
}

/// Steps from the present state to the end of the mode or of the span. False: no series leads there.
bool HybridRun::follow_series(SeriesFlow& flow) {
  const std::vector<double> times = times_after(stage_start_.t);
  for (; is_under_way(); ++in_mode_) {
    if (!attempts_series_step(flow)) return false;
    const SeriesFlow::Arrival arrival = take_series_step(flow, times);
    if (arrival == SeriesFlow::Arrival::none) return false;
    if (arrival == SeriesFlow::Arrival::rejected) continue;
    if (flow.ends()) return true;
    if (now_.t < span_.end && !flow.advance()) return false;
  }
  return true;
}

/// From where the mode began or from within it. False: what is left of it is for another method.
bool HybridRun::goes_by_series(SeriesFlow& flow) {
  const bool is_followed = (stage_ == Stage::series || starts_series(flow)) && follow_series(flow);
  stage_ = Stage::between_modes;
  is_without_series_ = !is_followed;
  has_short_series_ = !is_followed && !hybrid_.is_large() && is_series_long();
  return is_followed;
}

/// The present mode by its series, up to its end and into the next one. False: what is left of it is for
/// another method.
bool HybridRun::run_mode_by_series() {
  Series* parts = is_plain() ? series() : nullptr;
  if (parts == nullptr) return false;
  SeriesFlow& flow = parts->flow;
  const bool is_followed = goes_by_series(flow);
  if (flow.steps() > 0) result_.provenance["series"] = fmt::format("{}", ModeSeries::order);
  if (!is_followed) return false;
  if (!is_running() || !flow.ends()) return true;
  if (count_change()) choose(false);
  return true;
}

/// Which constraints are void, where the choice of the mode did not tell: what the methods of small models ask.
void HybridRun::find_idle() {
  if (mode_.is_idle.size() == hybrid_.g.size()) return;
  Faces faces(hybrid_);
  mode_.surfaces.assign(mode_.z.size(), -1);
  mode_.is_idle.clear();
  for (int l = 0; l < static_cast<int>(hybrid_.g.size()); ++l)
    mode_.is_idle.push_back(faces.is_void(l, mode_.z) ? 1 : 0);
}

}  // namespace perp
