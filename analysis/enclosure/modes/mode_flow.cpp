// Modes at work; kept by each piece of an enclosure.
#include <utility>

#include <perp/analysis/enclosure/modes/mode_flow.hpp>

namespace perp::enclosure {

ModeFlow::ModeFlow(ModeSystem made, const StepOptions& options)
    : system(std::move(made)),
      step(system.flow, options),
      window(system.flow, options),
      jet_(system.flow),
      observer_(system.observed) {}

bool ModeFlow::observe(const Interval& t, const Box& box) {
  return observer_.compute(t, box, 1, false);
}

std::vector<double> ModeFlows::near(const Interval& t, const Box& box) const {
  std::vector<double> inputs(static_cast<std::size_t>(
      system_.parameter_input(static_cast<int>(system_.parameters.size()))));
  const auto set = [&inputs](int input, const Interval& value) {
    inputs[static_cast<std::size_t>(input)] = middle(value);
  };
  set(Dcs::time_input(), t);
  for (std::size_t s = 0; s < space_.variables.size(); ++s)
    set(system_.variable_input(space_.variables[s]), box[s]);
  for (std::size_t k = 0; k < space_.values.size(); ++k)
    set(system_.parameter_input(static_cast<int>(k)), space_.values[k]);
  return inputs;
}

ModeFlow& ModeFlows::get(const Mode& mode, const Interval& t, const Box& box,
                         const OpenLaws& open, int root) {
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

// w' over all λ of the range: where it has one sign, no solution keeps w for any time.
bool ModeFlows::must_leave(const Mode& mode, int law, const Interval& values, const Interval& t,
                           const Box& box) const {
  const auto rate = [&](const Interval& lambda) {
    ModeSystem made = mode_system(system_, space_, mode, near(t, box), {{law}, {lambda}});
    if (made.outcome != ModeSystem::Outcome::made) return Interval::none();
    made.flow.outputs = {made.flow.outputs[made.gaps.size()]};
    IntervalSeries series(made.flow);
    return series.compute(t, box, 2, false) ? series.output(0, 1) : Interval::none();
  };
  return certain_sign(rate(values)) != 0;
}

}  // namespace perp::enclosure
