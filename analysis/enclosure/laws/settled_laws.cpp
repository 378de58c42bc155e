// Laws that keep their branches near a set; called where the next mode is proved.
#include <algorithm>

#include <perp/analysis/enclosure/inclusion/law_graph.hpp>
#include <perp/analysis/enclosure/laws/settled_laws.hpp>
#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/successor.hpp>

namespace perp::enclosure {
namespace {

const Interval everything(-directed::infinity, directed::infinity);

/// The λ of a law whose w is in this range.
Interval multipliers_over(const Law& law, const Interval& w) {
  const Interval values = graph_over(law, w).lambda;
  return values.has_value() ? values : everything;
}

/// Is the line a product that holds this factor?
bool has_factor(const Tape& tape, int line, int factor) {
  if (line == factor) return true;
  const Instruction& here = tape[line];
  switch (here.operation) {
    case Operation::negate:
    case Operation::divide: return has_factor(tape, here.a, factor);
    case Operation::multiply:
      return has_factor(tape, here.a, factor) || has_factor(tape, here.b, factor);
    default: return false;
  }
}

/// The arguments as functions of time, states, parameters and λ.
class Arguments {
 public:
  Arguments(const Dcs& system, const ModeFlow& open) : system_(system), flow_(open.system.flow) {
    const auto first = flow_.outputs.begin() + static_cast<std::ptrdiff_t>(open.system.gaps.size());
    lines_.assign(first, first + system.m());
    flow_.dependents.clear();
    flow_.invariants.clear();
    flow_.rates.assign(flow_.rates.size(), flow_.tape.constant(0));
  }

  [[nodiscard]] bool holds(int law, int multiplier) {
    return ExactLines(flow_.tape).depends(line(law), system_.multiplier_input(multiplier));
  }
  /// Is ∂w/∂λ 0 where the w of that other law is 0?
  [[nodiscard]] bool vanishes(int law, int multiplier) {
    const int slope =
        ExactLines(flow_.tape).derivative(line(law), system_.multiplier_input(multiplier));
    return has_factor(flow_.tape, slope, line(multiplier));
  }

  /// w of a law for these λ; everything where it has no bounds.
  Interval range(int law, const Interval& t, const Box& box, const Box& lambda) {
    flow_.outputs = {line(law)};
    for (int k = 0; k < system_.m(); ++k) {
      const Interval& values = lambda[static_cast<std::size_t>(k)];
      if (!holds(law, k)) continue;
      if (!values.is_bounded()) return everything;
      flow_.inputs[static_cast<std::size_t>(system_.multiplier_input(k))].value = values;
    }
    IntervalSeries series(flow_);
    return series.compute(t, box, 1, false) ? series.output(0, 0) : everything;
  }

 private:
  [[nodiscard]] int line(int law) const { return lines_[static_cast<std::size_t>(law)]; }

  const Dcs& system_;
  Flow flow_;
  std::vector<int> lines_{};
};

}  // namespace

SettledLaws::SettledLaws(ModeFlows& flows, const Interval& t, const Box& box)
    : system_(flows.system()) {
  const auto m = static_cast<std::size_t>(system_.m());
  arguments_.assign(m, everything);
  settled_.assign(m, false);
  reads_.resize(m);
  const ModeSystem& open = flows.without_branches(t, box).system;
  is_formula_ = of_states_ = open.argument_of_states;
  // Of a constraint that holds λ the time derivative would be wrong: they are no constants.
  if (!open.has_all_arguments_of_states() && open.is_explicit() && open.constraints.empty() &&
      flows.space().disturbances.empty())
    settle(flows, t, box);
}

void SettledLaws::settle(ModeFlows& flows, const Interval& t, const Box& box) {
  const int m = system_.m();
  Arguments formulas(system_, flows.without_branches(t, box));
  Box lambda;
  for (int j = 0; j < m; ++j) {
    lambda.push_back(multipliers_over(system_.laws[static_cast<std::size_t>(j)], everything));
    for (int k = 0; k < m; ++k)
      if (formulas.holds(j, k))
        reads_[static_cast<std::size_t>(j)].push_back({k, formulas.vanishes(j, k)});
  }
  // A law that acts on another one through k more of them has done so after k + 1 rounds.
  for (int round = 0; round < m; ++round)
    for (int j = 0; j < m; ++j) {
      const auto at = static_cast<std::size_t>(j);
      arguments_[at] = common_part(arguments_[at], formulas.range(j, t, box, lambda));
      lambda[at] = multipliers_over(system_.laws[at], arguments_[at]);
    }
  for (int j = 0; j < m; ++j) settled_[static_cast<std::size_t>(j)] = is_inside_of_branch(j);
  for (int round = 0; round < m; ++round)
    for (int j = 0; j < m; ++j) of_states_[static_cast<std::size_t>(j)] = reads_settled_laws(j);
}

bool SettledLaws::reads_settled_laws(int law) const {
  const std::vector<Read>& reads = reads_[static_cast<std::size_t>(law)];
  return is_formula_[static_cast<std::size_t>(law)] ||
         std::all_of(reads.begin(), reads.end(), [&](const Read& read) {
           return settled_[static_cast<std::size_t>(read.law)] && is_of_states(read.law);
         });
}

/// Are all solutions near the set on one branch of the law, not a vertical one?
bool SettledLaws::is_inside_of_branch(int law) const {
  const Law& data = system_.laws[static_cast<std::size_t>(law)];
  const Interval& w = argument(law);
  const std::vector<int> branches = graph_over(data, w).branches;
  if (branches.size() != 1 || data.memory || is_ambiguous(data)) return false;
  const Branch& here = data.branches[static_cast<std::size_t>(branches.front())];
  return here.b != 0 && here.w.lower < w.lo && w.hi < here.w.upper;
}

bool SettledLaws::is_of_states_in(const Mode& mode, int law) const {
  return is_triangular(mode, law, 0);
}

/// From law to law; what comes back to itself is as deep as there are laws.
bool SettledLaws::is_triangular(const Mode& mode, int law, int depth) const {
  if (is_formula_[static_cast<std::size_t>(law)]) return true;
  const std::vector<Read>& reads = reads_[static_cast<std::size_t>(law)];
  if (reads.empty() || depth >= system_.m()) return false;
  return std::all_of(reads.begin(), reads.end(), [&](const Read& read) {
    const auto k = static_cast<std::size_t>(read.law);
    const Branch& here = system_.laws[k].branches[static_cast<std::size_t>(mode[k])];
    const bool is_given = here.b != 0 || (read.vanishes && vertical_w(here).is_zero());
    return is_given && is_triangular(mode, read.law, depth + 1);
  });
}

}  // namespace perp::enclosure
