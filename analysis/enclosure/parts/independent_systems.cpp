// Systems that are several without coupling, which are enclosed each by itself; called by
// `enclose`.
#include <algorithm>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/parts/independent_systems.hpp>
#include <perp/analysis/enclosure/parts/moved_system.hpp>
#include <perp/core/base/index.hpp>
#include <perp/lcp/structure/balanced_blocks.hpp>

namespace perp::enclosure {
namespace {

/// The connected components of the nodes: variables, laws, then equations.
class Connections {
 public:
  explicit Connections(const Dcs& system)
      : system_(system), tape_(system.tape), n_(system.n()), m_(system.m()), sets_(2 * n_ + m_) {
    for (int i = 0; i < n_; ++i) join(n_ + m_ + i, system.F[at(i)]);
    for (int i = 0; i < m_; ++i) join(n_ + i, system.G[at(i)]);
    for (const Reset& reset : system.resets) join(reset);
  }

  /// What has no derivative, as a law of time that nothing reads, is no system that can be
  /// followed.
  linear::DisjointSets take() {
    std::vector<bool> moves(at(2 * n_ + m_));
    for (const int variable : differential_) moves[at(sets_.root(variable))] = true;
    const int first =
        differential_.empty() ? 0 : *std::min_element(differential_.begin(), differential_.end());
    for (int node = 0; node < 2 * n_ + m_; ++node)
      if (!moves[at(sets_.root(node))]) sets_.join(node, first);
    return std::move(sets_);
  }

 private:
  /// The node of an unknown; −1: it is time or a parameter.
  int node_of(int input) {
    if (input == Dcs::time_input() || input >= system_.parameter_input(0)) return -1;
    if (input >= system_.multiplier_input(0)) return n_ + input - system_.multiplier_input(0);
    if (input >= system_.variable_input(0)) return input - system_.variable_input(0);
    differential_.push_back(input - system_.derivative_input(0));
    return differential_.back();
  }
  void join(int node, int line) {
    for (const int input : ExactLines(tape_).inputs_of(line))
      if (const int other = node_of(input); other >= 0) sets_.join(node, other);
  }
  /// With the first variable that it sets.
  void join(const Reset& reset) {
    const int node = reset.variables.empty() ? 0 : reset.variables.front();
    for (const int variable : reset.variables) sets_.join(node, variable);
    join(node, reset.condition);
    for (const int value : reset.values) join(node, value);
  }

  const Dcs& system_;
  Tape tape_;
  int n_, m_;
  linear::DisjointSets sets_;
  std::vector<int> differential_;
};

int place_of(const std::vector<int>& list, int number) {
  return static_cast<int>(std::lower_bound(list.begin(), list.end(), number) - list.begin());
}

/// The input of the part that is this one of the whole, which it holds.
int moved_input(const Dcs& whole, const SystemPart& part, int input) {
  const Dcs& own = part.system;
  if (input >= whole.parameter_input(0))
    return own.parameter_input(input - whole.parameter_input(0));
  if (input >= whole.multiplier_input(0))
    return own.multiplier_input(place_of(part.laws, input - whole.multiplier_input(0)));
  if (input >= whole.variable_input(0))
    return own.variable_input(place_of(part.variables, input - whole.variable_input(0)));
  if (input >= whole.derivative_input(0))
    return own.derivative_input(place_of(part.variables, input - whole.derivative_input(0)));
  return Dcs::time_input();
}

/// Those with their first variable in the part: it is one of those that the reset sets.
void add_resets(const Dcs& whole, SystemPart& part) {
  for (int r = 0; r < static_cast<int>(whole.resets.size()); ++r) {
    Reset reset = whole.resets[at(r)];
    const int first = reset.variables.empty() ? 0 : reset.variables.front();
    if (!std::binary_search(part.variables.begin(), part.variables.end(), first)) continue;
    for (int& variable : reset.variables) variable = place_of(part.variables, variable);
    part.resets.push_back(r);
    part.system.resets.push_back(std::move(reset));
  }
}

SystemPart part_of(const Dcs& whole, const Block& block) {
  SystemPart part{.variables = block.u, .laws = block.lambda, .equations = block.equations};
  part.system.tape = whole.tape;
  part.system.parameters = whole.parameters;
  for (const int i : block.equations) part.system.F.push_back(whole.F[at(i)]);
  for (const int i : block.lambda) {
    part.system.G.push_back(whole.G[at(i)]);
    part.system.laws.push_back(whole.laws[at(i)]);
  }
  add_resets(whole, part);
  part.system = with_moved_inputs(part.system, [&](int input) {
    if (input >= whole.parameter_input(0))
      part.parameters.push_back(input - whole.parameter_input(0));
    return moved_input(whole, part, input);
  });
  std::sort(part.parameters.begin(), part.parameters.end());
  return part;
}

}  // namespace

std::vector<SystemPart> independent_systems(const Dcs& whole) {
  std::vector<SystemPart> parts;
  for (const Block& block : balanced_blocks(Connections(whole).take(), whole.n(), whole.m()))
    parts.push_back(part_of(whole, block));
  return parts;
}

}  // namespace perp::enclosure
