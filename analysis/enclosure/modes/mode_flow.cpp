// Modes at work; kept by each piece of an enclosure.
#include <utility>

#include <perp/analysis/enclosure/modes/mode_flow.hpp>

namespace perp::enclosure {
namespace {

Box outputs_of(const IntervalSeries& series) {
  Box list;
  for (int k = 0; k < series.outputs(); ++k) list.push_back(series.output(k, 0));
  return list;
}

}  // namespace

ModeFlow::ModeFlow(ModeSystem made, const StepOptions& options)
    : system(std::move(made)),
      step(system.flow, options, static_cast<int>(system.gaps.size())),
      window(system.flow, options),
      jet_(system.flow),
      observer_(system.observed) {
  if (has_implicit()) implicit_.emplace(system.flow);
}

bool ModeFlow::follow(const Interval& t, const Box& box) {
  if (!has_implicit()) return true;
  if (!implicit_->compute(t, box)) return false;
  Box values;
  for (int i = 0; i < system.flow.implicit.count(); ++i) values.push_back(implicit_->value(i));
  use({t, box, values});
  return true;
}

bool ModeFlow::find(const Interval& t, const Box& box, const Box& values, bool is_around) {
  if (!is_bounded(values)) return false;
  const Box near = is_around ? values : implicit_->approach(t, box, middle(values));
  const auto found = is_bounded(near) ? implicit_->around(t, box, near) : std::nullopt;
  if (!found) return false;
  use({t, box, *found});
  return follow(t, box);
}

IntervalMatrix ModeFlow::jacobian(const Interval& t, const Box& box, const Box& values) {
  const int n = system.flow.implicit.count();
  const Box entries = implicit_->jacobian(t, box, values);
  IntervalMatrix J(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) J(i, j) = entries[static_cast<std::size_t>(i * n + j)];
  return J;
}

bool ModeFlow::observe(const Interval& t, const Box& box) {
  if (!observer_.compute(t, box, 1, false)) return false;
  observed_ = outputs_of(observer_);
  return true;
}

bool ModeFlow::observe(const Interval& t, const Doubleton& set, const TaylorStep::Image& image,
                       const Box* part) {
  has_slopes_ = false;
  if (!observe(t, part != nullptr ? *part : image.states)) return false;
  if (image.F.empty() || !observer_.compute(t, image.F, 1, false)) return true;
  const Box at_F = outputs_of(observer_);
  Box all = image.states;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = hull(all[i], image.F[i]);
  has_slopes_ = observer_.compute(t, all, 1, true);
  if (has_slopes_) bound_observed(set, image, at_F, part == nullptr);
  return true;
}

/// y(x) ∈ y(F) + (∂y J) (x(0) − x̂), ∂y over all points between F and the members.
void ModeFlow::bound_observed(const Doubleton& set, const TaylorStep::Image& image,
                              const Box& at_F, bool is_whole) {
  for (std::size_t k = 0; k < at_F.size(); ++k) {
    Box slopes(static_cast<std::size_t>(image.J.columns()));
    for (int i = 0; i < image.J.rows(); ++i) {
      const Interval& slope = observed_slope(static_cast<int>(k), i);
      if (slope.is_zero()) continue;
      for (int j = 0; j < image.J.columns(); ++j)
        if (!image.J(i, j).is_zero()) slopes[static_cast<std::size_t>(j)] += slope * image.J(i, j);
    }
    const Interval mean = at_F[k] + set.spread(slopes);
    if (!mean.is_bounded()) continue;
    observed_[k] = is_whole ? common_part(observed_[k], mean)
                            : intersection(observed_[k], mean).value_or(observed_[k]);
  }
}

Box ModeFlow::observed_variables(int count, const StateSpace& space, const Box& box) const {
  Box list;
  for (int j = 0; j < count; ++j) list.push_back(observed(j));
  for (std::size_t s = 0; s < space.variables.size(); ++s) {
    Interval& x = list[static_cast<std::size_t>(space.variables[s])];
    x = intersection(x, box[s]).value_or(x);
  }
  return list;
}

std::vector<double> ModeFlows::near(const Interval& t, const Box& box) const {
  std::vector<double> inputs(static_cast<std::size_t>(
      system_.parameter_input(static_cast<int>(system_.parameters.size()))));
  const auto set = [&inputs](int input, const Interval& value) {
    inputs[static_cast<std::size_t>(input)] = middle(value);
  };
  set(Dcs::time_input(), t);
  for (std::size_t j = 0; j < guess_.size(); ++j)
    set(system_.variable_input(static_cast<int>(j)), guess_[j]);
  for (std::size_t s = 0; s < space_.variables.size(); ++s)
    set(system_.variable_input(space_.variables[s]), box[s]);
  for (std::size_t k = 0; k < space_.values.size(); ++k)
    set(system_.parameter_input(static_cast<int>(k)), space_.values[k]);
  return inputs;
}

ModeFlow& ModeFlows::get(const Mode& mode, const Interval& t, const Box& box, const OpenLaws& open,
                         int root) {
  Key key{mode, open.laws, {}};
  for (const Interval& value : open.values) {
    std::get<2>(key).push_back(value.lo);
    std::get<2>(key).push_back(value.hi);
  }
  std::vector<std::unique_ptr<ModeFlow>>& roots = flows_[key];
  if (roots.empty()) {
    std::vector<double> inputs = near(t, box);
    for (std::size_t a = 0; a < open.laws.size(); ++a)
      inputs[static_cast<std::size_t>(system_.multiplier_input(open.laws[a]))] =
          middle(open.values[a]);
    for (ModeSystem& made : mode_systems(system_, space_, mode, inputs, open))
      roots.push_back(std::make_unique<ModeFlow>(std::move(made), options_));
  }
  return *roots[static_cast<std::size_t>(root)];
}

}  // namespace perp::enclosure
