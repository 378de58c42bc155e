// Equations whose laws are partly open; kept by each piece of an enclosure.
#include <utility>

#include <perp/analysis/enclosure/inclusion/open_flow.hpp>

namespace perp::enclosure {
namespace {

/// The λ of open laws as states behind the others, with rate 0: derivatives by them are had.
Flow with_multipliers(Flow flow, const Dcs& system, const OpenLaws& open) {
  for (const int law : open.laws) {
    flow.inputs[static_cast<std::size_t>(system.multiplier_input(law))] = {
        SeriesInput::Kind::state, flow.states(), {}};
    flow.rates.push_back(flow.tape.constant(0));
  }
  return flow;
}

Box joined(const Box& x, const Box& lambda) {
  Box all = x;
  all.insert(all.end(), lambda.begin(), lambda.end());
  return all;
}

}  // namespace

OpenFlow::OpenFlow(ModeSystem made, const Dcs& dcs, const OpenLaws& laws,
                   const StepOptions& options)
    : system(std::move(made)),
      open(laws),
      centre(system.flow, options),
      first_(static_cast<int>(system.gaps.size())),
      spread_(with_multipliers(system.flow, dcs, laws)),
      observer_(with_multipliers(system.observed, dcs, laws)) {}

bool OpenFlow::expand(const Interval& t, const Box& x, const Box& lambda, int order,
                      bool derivatives) {
  return spread_.compute(t, joined(x, lambda), order, derivatives);
}

bool OpenFlow::observe(const Interval& t, const Box& x, const Box& lambda, Box& values) {
  if (!observer_.compute(t, joined(x, lambda), 1, false)) return false;
  const auto count =
      static_cast<int>(observer_.outputs() - static_cast<int>(system.constraints.size()));
  values.clear();
  for (int k = 0; k < count; ++k) values.push_back(observer_.output(k, 0));
  return true;
}

OpenFlow* OpenFlows::get(Mode mode, const OpenLaws& open, const Interval& t, const Box& box) {
  const Dcs& system = flows_.system();
  for (const int law : open.laws) mode[static_cast<std::size_t>(law)] = 0;
  std::vector<double> values = middle(open.values);
  std::unique_ptr<OpenFlow>& flow = known_[{mode, open.laws, values}];
  if (!flow) {
    std::vector<double> near = flows_.near(t, box);
    for (std::size_t a = 0; a < values.size(); ++a)
      near[static_cast<std::size_t>(system.multiplier_input(open.laws[a]))] = values[a];
    ModeSystem made = mode_system(system, flows_.space(), mode, near, open);
    if (made.outcome != ModeSystem::Outcome::made) return nullptr;
    for (std::size_t j = 0; j < mode.size(); ++j)
      if (!made.argument_of_states[j]) return nullptr;
    flow = std::make_unique<OpenFlow>(std::move(made), system, open, flows_.options());
  }
  return flow.get();
}

}  // namespace perp::enclosure
