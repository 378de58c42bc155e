// The differential equations of a mode; called by transitions of enclosures.
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/modes/law_coupling.hpp>
#include <perp/analysis/enclosure/modes/mode_solver.hpp>

namespace perp::enclosure {
namespace {

const Branch& branch_of(const Dcs& system, const Mode& mode, int law) {
  return system.laws[static_cast<std::size_t>(law)]
      .branches[static_cast<std::size_t>(mode[static_cast<std::size_t>(law)])];
}

constexpr std::size_t most_products = 6;
constexpr const char* not_solved =
    "its equations do not give all rates, algebraic variables and multipliers";

}  // namespace

bool ModeSolver::is_state(int input) const {
  const int j = input - system_.variable_input(0);
  return 0 <= j && j < system_.n() && is_differential_[static_cast<std::size_t>(j)];
}

bool ModeSolver::is_rate(int input) const {
  return input >= system_.derivative_input(0) && input < system_.variable_input(0);
}

bool ModeSolver::is_algebraic(int input) const {
  const int j = input - system_.variable_input(0);
  return 0 <= j && j < system_.n() && !is_differential_[static_cast<std::size_t>(j)];
}

bool ModeSolver::is_unknown(int input) const {
  if (is_implicit(input)) return false;
  if (is_algebraic(input)) return true;
  const int i = input - system_.multiplier_input(0);
  if (0 <= i && i < system_.m()) return !open_.contains(i);
  return input > 0 && input < system_.variable_input(0);
}

std::vector<int> ModeSolver::unknowns_of(int line) const {
  std::vector<int> inputs = lines_.inputs_of(line);
  std::erase_if(inputs, [this](int input) { return !is_unknown(input); });
  return inputs;
}

/// Does it hold the λ of an open law or a disturbance, whose derivative is not known?
bool ModeSolver::holds_open(int line) const {
  return std::any_of(open_.laws.begin(), open_.laws.end(),
                     [&](int law) { return lines_.depends(line, system_.multiplier_input(law)); }) ||
         std::any_of(space_.disturbances.begin(), space_.disturbances.end(),
                     [&](int k) { return lines_.depends(line, system_.parameter_input(k)); });
}

/// The equations of the system, and a w + b λ = c of every law.
void ModeSolver::collect() {
  is_differential_.assign(static_cast<std::size_t>(system_.n()), false);
  for (const int j : space_.variables) is_differential_[static_cast<std::size_t>(j)] = true;
  for (int k = 0; k < system_.n(); ++k)
    equations_.push_back({.line = system_.F[static_cast<std::size_t>(k)],
                          .held = lines_.inputs_of(system_.F[static_cast<std::size_t>(k)]),
                          .equation = k});
  for (int i = 0; i < system_.m(); ++i) {
    if (open_.contains(i)) continue;
    const Branch& branch = branch_of(system_, mode_, i);
    const int w = system_.G[static_cast<std::size_t>(i)];
    const int aw = branch.a == 0 ? lines_.number(0) : lines_.multiply(lines_.number(branch.a), w);
    const int bl =
        lines_.multiply(lines_.number(branch.b), tape_.input(system_.multiplier_input(i)));
    const int line = lines_.subtract(lines_.add(aw, bl), lines_.number(branch.c));
    equations_.push_back({.line = line, .held = lines_.inputs_of(line), .law = i});
  }
}

/// Rewrites everything that is still in use.
void ModeSolver::replace(const std::map<int, int>& lines) {
  std::vector<int> roots;
  for (const Equation& equation : equations_) roots.push_back(equation.line);
  for (const auto& [input, line] : solved_) roots.push_back(line);
  roots.insert(roots.end(), nonzero_.begin(), nonzero_.end());
  roots.insert(roots.end(), implicit_equations_.begin(), implicit_equations_.end());
  roots.insert(roots.end(), implicit_rates_.begin(), implicit_rates_.end());
  roots.insert(roots.end(), invariants_.begin(), invariants_.end());
  lines_.substitute(roots, lines);
  std::size_t k = 0;
  for (Equation& equation : equations_) equation.line = roots[k++];
  for (auto& [input, line] : solved_) line = roots[k++];
  for (int& line : nonzero_) line = roots[k++];
  for (int& line : implicit_equations_) line = roots[k++];
  for (int& line : implicit_rates_) line = roots[k++];
  for (int& line : invariants_) line = roots[k++];
}

/// The root of a factor u − u0 of the equation, with u0 a formula of time and states; −1: it has none.
/// Were it one, u0 = −β/α of α u + β for every value of the other unknowns.
int ModeSolver::root_of_factor(int line, int input, int factor) {
  const auto with = [&](int of, int unknown, int value) {
    lines_.substitute(std::span(&of, 1), {{unknown, value}});
    return of;
  };
  const int zero = lines_.number(0), rest = with(line, input, zero);
  if (lines_.is_number(rest, 0)) return zero;
  for (const int other : unknowns_of(line)) {
    if (other == input) continue;
    const int divisor = with(factor, other, zero);
    if (!lines_.is_nonzero(divisor)) continue;
    const int root = lines_.divide(lines_.negate(with(rest, other, zero)), divisor);
    if (unknowns_of(root).empty() && lines_.is_number(with(line, input, root), 0)) return root;
  }
  return -1;
}

/// a (u − u0) = 0, where a holds unknowns: u = u0 and a ≠ 0, or a = 0 and u ≠ u0. Both at once is no
/// simple root. False: no equation is such a product.
bool ModeSolver::split_product() {
  for (Equation& equation : equations_) {
    if (!equation.is_open) continue;
    for (const int input : unknowns_of(equation.line)) {
      const int factor = lines_.derivative(equation.line, input);
      if (lines_.depends(factor, input)) continue;
      const int root = root_of_factor(equation.line, input, factor);
      if (root < 0) continue;
      is_undecided_ = products_ == roots_.size();
      if (is_undecided_) return false;
      if (roots_[products_++] == 0) {
        nonzero_.push_back(factor);
        equation.is_open = false;
        replace({{input, root}});
        solved_[input] = root;
      } else {
        nonzero_.push_back(lines_.subtract(tape_.input(input), root));
        equation.line = factor;
      }
      return true;
    }
  }
  return false;
}

/// α u + β = 0:  u = −β/α
void ModeSolver::solve(const Choice& choice) {
  Equation& equation = equations_[static_cast<std::size_t>(choice.equation)];
  int rest = equation.line;
  lines_.substitute(std::span(&rest, 1), {{choice.input, lines_.number(0)}});
  const int value = lines_.divide(lines_.negate(rest), choice.coefficient);
  equation.is_open = false;
  replace({{choice.input, value}});
  solved_[choice.input] = value;
  solved_by_[choice.input] = equation.equation;
}

/// One equation further; false where there is none left, or none that can be solved.
bool ModeSolver::advance(ModeSystem& made) {
  Choice best;
  bool any = false;
  for (int k = 0; k < static_cast<int>(equations_.size()); ++k) {
    const Equation& equation = equations_[static_cast<std::size_t>(k)];
    if (!equation.is_open) continue;
    any = true;
    const std::vector<int> unknowns = unknowns_of(equation.line);
    if (unknowns.empty()) return take_constraint(k, made);
    for (const int input : unknowns)
      consider(k, input, static_cast<int>(unknowns.size()), best);
  }
  if (!any) return false;
  if (best.divisor != Divisor::none) solve(best);
  if (best.divisor != Divisor::none || split_product() || make_implicit()) return true;
  made.outcome = ModeSystem::Outcome::not_solved;
  made.reason = not_solved;
  return false;
}

/// An equation without unknowns: it gives a state by the others, or holds all of them.
bool ModeSolver::take_constraint(int k, ModeSystem& made) {
  const int line = equations_[static_cast<std::size_t>(k)].line;
  Choice best;
  std::vector<int> states = lines_.inputs_of(line);
  std::erase_if(states, [this](int input) { return !is_state(input); });
  if (!states.empty() && holds_open(line)) states.clear();
  for (const int input : states) consider(k, input, static_cast<int>(states.size()), best);
  if (best.divisor != Divisor::none) {
    constrain(best);
    return true;
  }
  if (hold(k)) return true;
  const bool is_false = lines_.is_number(line) && !lines_.is_number(line, 0);
  made.outcome = is_false ? ModeSystem::Outcome::impossible : ModeSystem::Outcome::not_solved;
  made.reason = is_false ? "its equations contradict each other" : not_solved;
  return false;
}

ModeSystem ModeSolver::run() {
  ModeSystem made;
  made.mode = mode_;
  collect();
  shift_unknowns();
  while (advance(made)) {
  }
  for (const auto& [input, c] : shifts_)
    if (const auto known = solved_.find(input); known != solved_.end())
      known->second = lines_.subtract(known->second, c);
  return made;
}

int ModeSolver::solution(int input) {
  const auto known = solved_.find(input);
  return known == solved_.end() ? tape_.input(input) : known->second;
}

int ModeSolver::argument(int law) {
  int line = system_.G[static_cast<std::size_t>(law)];
  lines_.substitute(std::span(&line, 1), solved_);
  return line;
}

/// Of a solver in which all laws are free: the laws whose λ stand in w; none: w is not given by these,
/// time and states.
std::optional<std::vector<int>> ModeSolver::argument_reads(int law) {
  std::vector<int> reads;
  for (const int input : lines_.inputs_of(argument(law))) {
    if (is_given(input)) continue;
    const int other = input - system_.multiplier_input(0);
    if (other < 0 || other >= system_.m()) return std::nullopt;
    reads.push_back(other);
  }
  for (const int line : implicit_equations_)
    for (const int input : lines_.inputs_of(line))
      if (!is_given(input)) return std::nullopt;
  return reads;
}

bool ModeSolver::is_given(int input) const {
  return input == Dcs::time_input() || is_state(input) || is_implicit(input) ||
         input >= system_.parameter_input(0);
}

int ModeSolver::gap_line(const Gap& gap) {
  int line = gap.reset >= 0      ? system_.resets[static_cast<std::size_t>(gap.reset)].condition
             : gap.of_multiplier ? solution(system_.multiplier_input(gap.law))
                                 : argument(gap.law);
  if (gap.reset >= 0) lines_.substitute(std::span(&line, 1), solved_);
  const int end = lines_.number(gap.end);
  return gap.side > 0 ? lines_.subtract(line, end) : lines_.subtract(end, line);
}

/// The finite ends of w, and those of λ where w does not tell them: λ is constant, or ends with w.
void ModeSolver::add_gaps(ModeSystem& made) {
  for (int i = 0; i < system_.m(); ++i) {
    if (open_.contains(i)) continue;
    const Branch& branch = branch_of(system_, mode_, i);
    const auto add = [&](bool of_multiplier, double end, int side) {
      if (std::isfinite(end)) made.gaps.push_back({i, -1, of_multiplier, end, side});
    };
    const auto meets = [&](double w, double lambda) {
      const Interval rest = Interval(branch.a) * Interval(w) +
                            Interval(branch.b) * Interval(lambda) - Interval(branch.c);
      return std::isfinite(w) && rest.is_zero();
    };
    if (branch.b != 0) {
      add(false, branch.w.lower, 1);
      add(false, branch.w.upper, -1);
      if (branch.a == 0) continue;
    }
    for (const int side : {1, -1}) {
      const double end = side > 0 ? branch.lambda.lower : branch.lambda.upper;
      const bool is_told = branch.b != 0 && std::isfinite(end) &&
                           (meets(branch.w.lower, end) || meets(branch.w.upper, end));
      if (!is_told) add(true, end, side);
    }
  }
  for (int r = 0; r < static_cast<int>(system_.resets.size()); ++r)
    made.gaps.push_back({.reset = r});
}

Flow ModeSolver::flow() const {
  Flow flow;
  flow.tape = tape_;
  flow.inputs = series_inputs(system_, space_);
  for (std::size_t a = 0; a < open_.laws.size(); ++a)
    flow.inputs[static_cast<std::size_t>(system_.multiplier_input(open_.laws[a]))] = {
        SeriesInput::Kind::constant, -1, open_.values[a]};
  for (std::size_t i = 0; i < implicit_.size(); ++i)
    flow.inputs[static_cast<std::size_t>(implicit_[i])] = {SeriesInput::Kind::implicit,
                                                           static_cast<int>(i), {}};
  flow.implicit.inputs = implicit_;
  flow.implicit.equations = implicit_equations_;
  flow.implicit.rates = implicit_rates_;
  return flow;
}

/// The solutions as flows. Lines are made first: the flows copy the tape.
void ModeSolver::finish(ModeSystem& made) {
  add_gaps(made);
  std::vector<int> rates, gaps, observed;
  std::vector<DependentState> dependents;
  int state = 0;
  for (const int j : space_.variables) {
    rates.push_back(solution(system_.derivative_input(j)));
    if (const auto known = solved_.find(system_.variable_input(j)); known != solved_.end())
      dependents.push_back({state, known->second});
    ++state;
  }
  const int zero = lines_.number(0);
  rates.resize(static_cast<std::size_t>(space_.states()), zero);
  for (const Gap& gap : made.gaps) gaps.push_back(gap_line(gap));
  for (const int law : open_.laws) gaps.push_back(argument(law));
  for (const int line : nonzero_) gaps.push_back(lines_.divide(lines_.number(1), line));
  for (const Reset& reset : system_.resets) {
    made.resets.push_back(reset.values);
    lines_.substitute(made.resets.back(), solved_);
  }
  for (int j = 0; j < system_.n(); ++j) observed.push_back(solution(system_.variable_input(j)));
  for (int i = 0; i < system_.m(); ++i) {
    observed.push_back(solution(system_.multiplier_input(i)));
  }
  for (const ModeConstraint& constraint : constraints_) observed.push_back(constraint.residual);
  made.constraints = constraints_;
  made.implicit_sources = sources_of_implicit();
  made.flow = flow();
  made.flow.implicit.known = std::make_shared<KnownRoot>();
  made.flow.rates = rates;
  made.flow.outputs = gaps;
  made.flow.dependents = dependents;
  made.flow.invariants = invariants_;
  made.observed = flow();
  made.observed.implicit.known = made.flow.implicit.known;
  made.observed.implicit.rates.assign(implicit_.size(), zero);
  made.observed.rates.assign(rates.size(), zero);
  made.observed.outputs = observed;
}

namespace {

/// What `ModeSystem::argument_reads` says, by a solver in which all laws are free.
std::vector<std::optional<std::vector<int>>> reads_of_arguments(const Dcs& system,
                                                                const StateSpace& space,
                                                                const Mode& mode,
                                                                const std::vector<double>& near) {
  const OpenLaws all = all_open(system.m());
  ModeSolver without_laws(system, space, mode, near, all);
  const bool is_solved = without_laws.run().outcome == ModeSystem::Outcome::made;
  std::vector<std::optional<std::vector<int>>> reads(static_cast<std::size_t>(system.m()));
  for (int i = 0; i < system.m(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (unknowns_of(system, space, system.G[at]).empty())
      reads[at].emplace();
    else if (is_solved)
      reads[at] = without_laws.argument_reads(i);
  }
  return reads;
}

}  // namespace

std::vector<ModeSystem> mode_systems(const Dcs& system, const StateSpace& space, const Mode& mode,
                                     const std::vector<double>& near, const OpenLaws& open) {
  const auto reads = reads_of_arguments(system, space, mode, near);
  // Roots in the order of the choices; a choice that cannot be made by itself is an open one.
  std::vector<ModeSystem> list;
  std::vector<std::vector<int>> waiting{{}};
  while (!waiting.empty()) {
    const std::vector<int> choices = waiting.back();
    waiting.pop_back();
    ModeSolver solver(system, space, mode, near, open, choices);
    ModeSystem made = solver.run();
    if (solver.is_undecided() && choices.size() < most_products) {
      for (const int choice : {1, 0}) {
        waiting.push_back(choices);
        waiting.back().push_back(choice);
      }
      continue;
    }
    if (made.outcome == ModeSystem::Outcome::made) solver.finish(made);
    for (const auto& read : reads) made.argument_of_states.push_back(read && read->empty());
    made.argument_reads = reads;
    list.push_back(std::move(made));
  }
  for (std::size_t k = 0; k < list.size(); ++k) {
    list[k].root = static_cast<int>(k);
    list[k].roots = static_cast<int>(list.size());
  }
  return list;
}

ModeSystem mode_system(const Dcs& system, const StateSpace& space, const Mode& mode,
                       const std::vector<double>& near, const OpenLaws& open) {
  std::vector<ModeSystem> list = mode_systems(system, space, mode, near, open);
  if (list.size() == 1) return std::move(list.front());
  ModeSystem several;
  several.mode = mode;
  several.outcome = ModeSystem::Outcome::not_solved;
  several.reason = "its equations have several roots";
  return several;
}

}  // namespace perp::enclosure
