// The differential equations of a mode; called by transitions of enclosures.
#include <algorithm>
#include <array>
#include <cmath>

#include <perp/analysis/enclosure/modes/law_coupling.hpp>
#include <perp/analysis/enclosure/modes/mode_solver.hpp>

namespace perp::enclosure {
namespace {

const Branch& branch_of(const Dcs& system, const Mode& mode, int law) {
  return system.laws[static_cast<std::size_t>(law)]
      .branches[static_cast<std::size_t>(mode[static_cast<std::size_t>(law)])];
}

/// Is a finite w with this λ a point of the line of the branch?
bool meets(const Branch& branch, double w, double lambda) {
  const Interval rest = Interval(branch.a) * Interval(w) + Interval(branch.b) * Interval(lambda) -
                        Interval(branch.c);
  return std::isfinite(w) && rest.is_zero();
}

/// Does λ come to this end of its own where w comes to one?
bool is_told_by_argument(const Branch& branch, double lambda) {
  return branch.b != 0 && std::isfinite(lambda) &&
         (meets(branch, branch.w.lower, lambda) || meets(branch, branch.w.upper, lambda));
}

/// The finite ends of w, and those of λ where w does not tell them: λ is constant, or ends with w.
void add_ends(const Branch& branch, int law, std::vector<Gap>& gaps) {
  const auto add = [&](bool of_multiplier, double end, int side) {
    if (std::isfinite(end)) gaps.push_back({law, -1, of_multiplier, end, side});
  };
  if (branch.b != 0) {
    add(false, branch.w.lower, 1);
    add(false, branch.w.upper, -1);
    if (branch.a == 0) return;
  }
  for (const int side : {1, -1}) {
    const double end = side > 0 ? branch.lambda.lower : branch.lambda.upper;
    if (!is_told_by_argument(branch, end)) add(true, end, side);
  }
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
  const std::array lists{&nonzero_, &implicit_equations_, &implicit_rates_, &invariants_};
  std::vector<int> roots;
  for (const Equation& equation : equations_) roots.push_back(equation.line);
  for (const auto& [input, line] : solved_) roots.push_back(line);
  for (const std::vector<int>* list : lists) roots.insert(roots.end(), list->begin(), list->end());
  lines_.substitute(roots, lines);
  std::size_t k = 0;
  for (Equation& equation : equations_) equation.line = roots[k++];
  for (auto& [input, line] : solved_) line = roots[k++];
  for (std::vector<int>* list : lists)
    for (int& line : *list) line = roots[k++];
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
  if (std::ranges::none_of(equations_, &Equation::is_open)) return false;
  Choice best;
  for (int k = 0; k < static_cast<int>(equations_.size()); ++k) {
    const Equation& equation = equations_[static_cast<std::size_t>(k)];
    if (!equation.is_open) continue;
    const std::vector<int> unknowns = unknowns_of(equation.line);
    if (unknowns.empty()) return take_constraint(k, made);
    consider_all(k, unknowns, best);
  }
  if (best.divisor != Divisor::none) {
    solve(best);
    return true;
  }
  if (split_product() || make_implicit()) return true;
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
  consider_all(k, states, best);
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

/// Of the branches of laws that are not open, and of all resets.
void ModeSolver::add_gaps(ModeSystem& made) {
  for (int i = 0; i < system_.m(); ++i)
    if (!open_.contains(i)) add_ends(branch_of(system_, mode_, i), i, made.gaps);
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

/// The gaps, the w of open laws, and 1/d of the divisors by which a root was chosen.
std::vector<int> ModeSolver::outputs(const std::vector<Gap>& gaps) {
  std::vector<int> lines;
  for (const Gap& gap : gaps) lines.push_back(gap_line(gap));
  for (const int law : open_.laws) lines.push_back(argument(law));
  for (const int line : nonzero_) lines.push_back(lines_.divide(lines_.number(1), line));
  return lines;
}

/// The variables, the multipliers, and the residuals of constraints.
std::vector<int> ModeSolver::observed() {
  std::vector<int> lines;
  for (int j = 0; j < system_.n(); ++j) lines.push_back(solution(system_.variable_input(j)));
  for (int i = 0; i < system_.m(); ++i) lines.push_back(solution(system_.multiplier_input(i)));
  for (const ModeConstraint& constraint : constraints_) lines.push_back(constraint.residual);
  return lines;
}

/// The solutions as flows. Lines are made first: the flows copy the tape.
void ModeSolver::finish(ModeSystem& made) {
  add_gaps(made);
  std::vector<int> rates;
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
  const std::vector<int> gaps = outputs(made.gaps);
  for (const Reset& reset : system_.resets) {
    made.resets.push_back(reset.values);
    lines_.substitute(made.resets.back(), solved_);
  }
  const std::vector<int> values = observed();
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
  made.observed.outputs = values;
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

void number_roots(std::vector<ModeSystem>& list) {
  for (std::size_t k = 0; k < list.size(); ++k) {
    list[k].root = static_cast<int>(k);
    list[k].roots = static_cast<int>(list.size());
  }
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
  number_roots(list);
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
