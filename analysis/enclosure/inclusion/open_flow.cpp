// Equations whose laws are partly open, or that are disturbed; kept by each piece of an enclosure.
#include <algorithm>
#include <utility>

#include <perp/analysis/enclosure/inclusion/open_flow.hpp>
#include <perp/analysis/enclosure/laws/law_reads.hpp>
#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/law_coupling.hpp>
#include <perp/analysis/enclosure/modes/successor.hpp>
#include <perp/core/branches.hpp>

namespace perp::enclosure {
namespace {

std::vector<int> given_inputs(const Dcs& system, const StateSpace& space, const OpenLaws& laws) {
  std::vector<int> inputs;
  for (const int law : laws.laws) inputs.push_back(system.multiplier_input(law));
  for (const int k : space.disturbances) inputs.push_back(system.parameter_input(k));
  return inputs;
}

Box reference_of(const StateSpace& space, const OpenLaws& laws) {
  Box reference = laws.values;
  for (const int k : space.disturbances)
    reference.emplace_back(middle(space.values[static_cast<std::size_t>(k)]));
  return reference;
}

/// What is given as numbers.
Flow at_reference(Flow flow, const std::vector<int>& given, const Box& reference) {
  for (std::size_t a = 0; a < given.size(); ++a)
    flow.inputs[static_cast<std::size_t>(given[a])] = {SeriesInput::Kind::constant, -1,
                                                       reference[a]};
  return flow;
}

/// What is given as states behind the others, with rate 0: derivatives by them are had.
Flow with_given(Flow flow, const std::vector<int>& given) {
  for (const int input : given) {
    flow.inputs[static_cast<std::size_t>(input)] = {SeriesInput::Kind::state, flow.states(), {}};
    flow.rates.push_back(flow.tape.constant(0));
  }
  return flow;
}

Box joined(const Box& x, const Box& v) {
  Box all = x;
  all.insert(all.end(), v.begin(), v.end());
  return all;
}

/// Does a law that is not open stand on a vertical branch, so that λ is what the rates make it?
bool is_held(const ModeSystem& made, const Dcs& system, const OpenLaws& open, int law) {
  const auto at = static_cast<std::size_t>(law);
  const auto branch = static_cast<std::size_t>(made.mode[at]);
  return !open.contains(law) && is_vertical(system.laws[at].branches[branch]);
}

/// Is a law that is not open followed on one branch, which may change to another one anywhere?
bool follows_ambiguous(const Dcs& system, const OpenLaws& open) {
  for (std::size_t j = 0; j < system.laws.size(); ++j)
    if (is_ambiguous(system.laws[j]) && !open.contains(static_cast<int>(j))) return true;
  return false;
}

/// Derivatives are formulas of numbers and of parameters that are the same all the time.
bool acts_affinely(const Dcs& dcs, const StateSpace& space, int law, const Flow& flow, int w,
                   ExactLines& lines) {
  const auto is_affine = [&](int line, int input) {
    return is_constant_line(dcs, space, lines, lines.derivative(line, input));
  };
  const int lambda = dcs.multiplier_input(law);
  return std::all_of(flow.rates.begin(), flow.rates.end(),
                     [&](int rate) { return is_affine(rate, lambda); }) &&
         std::all_of(space.variables.begin(), space.variables.end(),
                     [&](int j) { return is_affine(w, dcs.variable_input(j)); });
}

}  // namespace

OpenFlow::OpenFlow(ModeSystem made, const Dcs& dcs, const StateSpace& space, const OpenLaws& laws,
                   const StepOptions& options)
    : system(std::move(made)),
      reference(reference_of(space, laws)),
      centre(at_reference(system.flow, given_inputs(dcs, space, laws), reference), options),
      first_(static_cast<int>(system.gaps.size())),
      spread_(with_given(system.flow, given_inputs(dcs, space, laws))),
      observer_(with_given(system.observed, given_inputs(dcs, space, laws))) {
  Tape tape = system.flow.tape;
  ExactLines lines(tape);
  const auto held_by = [&](int line) {
    std::vector<bool> held;
    for (const int law : laws.laws) held.push_back(lines.depends(line, dcs.multiplier_input(law)));
    return held;
  };
  const auto any = [](const std::vector<bool>& held) {
    return std::find(held.begin(), held.end(), true) != held.end();
  };
  for (std::size_t a = 0; a < laws.laws.size(); ++a) {
    const int w = system.flow.outputs[static_cast<std::size_t>(first_) + a];
    affine_.push_back(acts_affinely(dcs, space, laws.laws[a], system.flow, w, lines));
    holds_.push_back(held_by(w));
    is_nested_ = is_nested_ || any(holds_.back());
    disturbed_.push_back(any(holds_.back()) ||
                         std::any_of(space.disturbances.begin(), space.disturbances.end(),
                                     [&](int k) { return lines.depends(w, dcs.parameter_input(k)); }));
  }
  for (std::size_t k = 0; k < system.gaps.size(); ++k)
    is_nested_ = is_nested_ ||
                 (!system.gaps[k].of_multiplier && any(held_by(system.flow.outputs[k])));
}

bool OpenFlow::expand(const Interval& t, const Box& x, const Box& v, int order, bool derivatives) {
  return spread_.compute(t, joined(x, v), order, derivatives);
}

bool OpenFlow::observe(const Interval& t, const Box& x, const Box& v, Box& values) {
  if (!observer_.compute(t, joined(x, v), 1, false)) return false;
  const auto count =
      static_cast<int>(observer_.outputs() - static_cast<int>(system.constraints.size()));
  values.clear();
  for (int k = 0; k < count; ++k) values.push_back(observer_.output(k, 0));
  return true;
}

/// Are the arguments functions of the states and of the λ of laws inside of them, none of which comes
/// back to itself? Then λ are bounded by bounds of the states, from the inner laws to the outer ones.
/// Of a law inside of others that is held on a surface λ is what the rates make it, which the others
/// act on.
bool OpenFlows::are_given(const ModeSystem& made, const OpenLaws& open, const Interval& t,
                          const Box& box) {
  if (made.has_all_arguments_of_states()) return true;
  const ModeSystem& free = flows_.without_branches(t, box).system;
  if (!free.is_explicit() || !free.constraints.empty() || !flows_.space().disturbances.empty() ||
      !reads_go_one_way(made.argument_reads))
    return false;
  const auto reads_none_held = [&](const std::optional<std::vector<int>>& reads) {
    return std::ranges::none_of(*reads, [&](int k) { return is_held(made, flows_.system(), open, k); });
  };
  return std::ranges::all_of(made.argument_reads, reads_none_held);
}

/// A law is held by its first derivative where it makes one constraint, w = 0; by a higher one the states obey w' = 0 as well.
int OpenFlows::swinging_law(const ModeSystem& made, const OpenLaws& open, const Interval& t, const Box& box) {
  std::vector<int> held;
  for (int law = 0; law < flows_.system().m(); ++law)
    if (is_held(made, flows_.system(), open, law)) held.push_back(law);
  if (held.empty()) return -1;
  const std::size_t of_equations = flows_.without_branches(t, box).system.constraints.size();
  return made.constraints.size() > held.size() + of_equations ? held.front() : -1;
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
    if (made.outcome != ModeSystem::Outcome::made || !made.flow.implicit.empty()) return nullptr;
    if (!are_given(made, open, t, box) || follows_ambiguous(system, open)) return nullptr;
    const int swinging = swinging_law(made, open, t, box);
    flow = std::make_unique<OpenFlow>(std::move(made), system, flows_.space(), open, flows_.options());
    flow->set_swinging_law(swinging);
  }
  return flow.get();
}

}  // namespace perp::enclosure
