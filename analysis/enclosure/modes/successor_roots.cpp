// Which root of a mode goes on where its equations have several; called where the next mode is proved.
#include <algorithm>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/successor.hpp>

namespace perp::enclosure {
namespace {

/// A line of one tape on another one that has the same inputs, with some of these replaced.
int translate(const Tape& from, int line, const std::map<int, int>& replaced, ExactLines& lines) {
  if (line < 0) return line;
  const Instruction here = from[line];
  if (here.operation == Operation::constant) return lines.number(here.value);
  if (here.operation == Operation::input) {
    const auto place = replaced.find(here.a);
    return place == replaced.end() ? lines.tape().input(here.a) : place->second;
  }
  const int a = translate(from, here.a, replaced, lines);
  return lines.apply(here.operation, a, translate(from, here.b, replaced, lines));
}

bool is_possible(const Successor& one) { return one.verdict != Verdict::refuted; }

}  // namespace

/// Without those that are names: they change with what they name.
std::vector<int> Successors::algebraic() const {
  std::vector<int> list;
  const auto holds = [](const std::vector<int>& some, int j) {
    return std::find(some.begin(), some.end(), j) != some.end();
  };
  for (int j = 0; j < flows_.system().n(); ++j)
    if (!holds(flows_.space().variables, j) && !holds(flows_.space().names, j)) list.push_back(j);
  return list;
}

std::vector<Successor> Successors::assess(const Mode& mode) {
  std::vector<Successor> list;
  const int roots = flows_.get(mode, t_, box_, open_).system.roots;
  for (int root = 0; root < roots; ++root) list.push_back(assess_root(mode, root));
  return list;
}

Successor Successors::in_mode(const Mode& mode) {
  std::vector<Successor> list = assess(mode);
  if (list.size() == 1) return list.front();
  return {.mode = mode, .reason = "its equations have several roots"};
}

/// Has some algebraic variable another value for every member?
bool Successors::jumps(ModeFlow& flow, const Box& before) {
  if (flow.has_implicit()) return false;
  if (!flow.observe(t_, box_)) return false;
  const std::vector<int> variables = algebraic();
  return std::any_of(variables.begin(), variables.end(), [&](int j) {
    return !intersection(flow.observed(j), before[static_cast<std::size_t>(j)]).has_value();
  });
}

/// Are all algebraic variables the same formulas as before, where states that others give have that
/// value?
bool Successors::goes_on(const ModeFlow& flow) const {
  if (flow.has_implicit() || from_->has_implicit()) return false;
  Tape tape = flow.system.observed.tape;
  ExactLines lines(tape, nonzero_inputs(flows_.system(), flows_.space()));
  std::map<int, int> given;
  for (const DependentState& dependent : flow.system.flow.dependents) {
    const auto state = static_cast<std::size_t>(dependent.state);
    given[flows_.system().variable_input(flows_.space().variables[state])] =
        translate(flow.system.flow.tape, dependent.line, {}, lines);
  }
  const std::vector<int> variables = algebraic();
  return std::all_of(variables.begin(), variables.end(), [&](int j) {
    const auto at = static_cast<std::size_t>(j);
    const Flow& old = from_->system.observed;
    const int before = translate(old.tape, old.outputs[at], given, lines);
    return lines.is_number(lines.subtract(flow.system.observed.outputs[at], before), 0);
  });
}

/// Does one of the possible modes keep the algebraic variables `before`: at a start the values that it
/// has, at an event those of the old mode?
bool Successors::keeps_algebraic(const std::vector<Successor>& list, const Box* start,
                                 Box& before) {
  if (start != nullptr) {
    before = *start;
    return std::ranges::any_of(list, [&](const Successor& one) {
      return is_possible(one) && !jumps(flow_of(one), before);
    });
  }
  if (from_ == nullptr || reset_ >= 0 || !from_->observe(t_, box_)) return false;
  for (int j = 0; j < flows_.system().n(); ++j) before.push_back(from_->observed(j));
  return std::ranges::any_of(list, [&](const Successor& one) {
    return is_possible(one) && goes_on(flow_of(one));
  });
}

/// At a start the roots that its values of algebraic variables belong to; at an event that which
/// keeps them, if there is one: algebraic variables jump only where they must.
void Successors::choose_roots(std::vector<Successor>& list, const Box* start) {
  if (std::count_if(list.begin(), list.end(), is_possible) < 2 || algebraic().empty()) return;
  Box before;
  if (!keeps_algebraic(list, start, before)) return;
  for (Successor& one : list)
    if (is_possible(one) && jumps(flow_of(one), before)) {
      one.verdict = Verdict::refuted;
      one.reason = "algebraic variables would jump to another root";
    }
}

}  // namespace perp::enclosure
