// That no other mode can follow since solutions are unique; called where the next mode is proved.
#include <algorithm>
#include <functional>
#include <utility>

#include <perp/analysis/enclosure/inclusion/law_graph.hpp>
#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/law_coupling.hpp>
#include <perp/analysis/enclosure/modes/successor.hpp>
#include <perp/core/branches.hpp>

namespace perp::enclosure {
namespace {

bool has_vertical_branch(const Law& law) {
  return std::any_of(law.branches.begin(), law.branches.end(),
                     [](const Branch& branch) { return branch.b == 0; });
}

using Relation = std::vector<std::vector<bool>>;

/// Does law k act on law i, or is it the same?
Relation acting_on(const std::vector<int>& laws, const std::function<bool(int, int)>& acts) {
  const std::size_t n = laws.size();
  Relation acting(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) acting[i][k] = i == k || acts(laws[i], laws[k]);
  return acting;
}

/// The same, through others too (Warshall).
Relation transitive(Relation reach) {
  const std::size_t n = reach.size();
  for (std::size_t l = 0; l < n; ++l)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k) reach[i][k] = reach[i][k] || (reach[i][l] && reach[l][k]);
  return reach;
}

/// Laws that act on each other, directly or through others.
std::vector<std::vector<int>> connected_parts(const std::vector<int>& laws,
                                              const std::function<bool(int, int)>& acts) {
  const std::size_t n = laws.size();
  const Relation reach = transitive(acting_on(laws, acts));
  std::vector<std::vector<int>> parts;
  std::vector<bool> is_done(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (is_done[i]) continue;
    parts.emplace_back();
    for (std::size_t k = i; k < n; ++k)
      if (reach[i][k] && reach[k][i]) {
        parts.back().push_back(laws[k]);
        is_done[k] = true;
      }
  }
  return parts;
}

const Interval everywhere(-directed::infinity, directed::infinity);

/// All slopes dλ/dw of a law that is a function: Δλ = s Δw with s between the least and the greatest.
Interval slopes_of(const Law& law) {
  Interval all = Interval::none();
  for (const Branch& branch : law.branches) {
    const Interval slope = -Interval(branch.a) / Interval(branch.b);
    all = all.has_value() ? hull(all, slope) : slope;
  }
  return all;
}

/// w = D λ + q with laws that are functions: Δw = D S Δw for the difference of two solutions, S a
/// diagonal matrix of slopes, so that there is one at most where 1 − D S is regular for all of these.
bool is_solved_by_slopes(const Dcs& system, const IntervalMatrix& D, const std::vector<int>& part) {
  const int n = static_cast<int>(part.size());
  IntervalMatrix M(n, n);
  for (int k = 0; k < n; ++k) {
    const int law = part[static_cast<std::size_t>(k)];
    const Law& data = system.laws[static_cast<std::size_t>(law)];
    if (!graph_over(data, everywhere).is_function) return false;
    const Interval slopes = slopes_of(data);
    for (int i = 0; i < n; ++i) {
      const Interval& d = D(part[static_cast<std::size_t>(i)], law);
      M(i, k) = Interval(i == k ? 1 : 0);
      if (!d.is_zero()) M(i, k) -= d * slopes;
    }
  }
  return is_P_matrix(M);
}

/// The same where laws may jump, by monotone graphs.
bool is_solved_by_monotony(const Dcs& system, const IntervalMatrix& D,
                           const std::vector<int>& part) {
  const int n = static_cast<int>(part.size());
  IntervalMatrix M(n, n);
  for (int i = 0; i < n; ++i) {
    const int law = part[static_cast<std::size_t>(i)];
    const Law& data = system.laws[static_cast<std::size_t>(law)];
    const LawGraph graph = graph_over(data, everywhere);
    if (data.memory || is_ambiguous(data) || !graph.is_curve || graph.direction == 0) return false;
    for (int k = 0; k < n; ++k) {
      const Interval& d = D(law, part[static_cast<std::size_t>(k)]);
      M(i, k) = graph.direction > 0 ? -d : d;
    }
  }
  return is_P_matrix(M);
}

/// Is it a curve that jumps, where λ rises nowhere with w or falls nowhere?
bool is_monotone_with_jumps(const Law& law, const LawGraph& graph) {
  return has_vertical_branch(law) && graph.is_curve && graph.direction != 0;
}

/// Those whose w holds multipliers.
std::vector<int> laws_of_multipliers(const std::vector<bool>& argument_of_states) {
  std::vector<int> laws;
  for (std::size_t j = 0; j < argument_of_states.size(); ++j)
    if (!argument_of_states[j]) laws.push_back(static_cast<int>(j));
  return laws;
}

/// These laws, whose λ are given as 0.
OpenLaws opened(std::vector<int> laws) {
  OpenLaws open{.laws = std::move(laws)};
  open.values.assign(open.laws.size(), Interval(0.0));
  return open;
}

/// What it says of open laws does not count: one mode for all that differ in these only.
Mode without(Mode mode, const OpenLaws& open) {
  for (const int law : open.laws) mode[static_cast<std::size_t>(law)] = 0;
  return mode;
}

/// w = D λ + q with these laws has one solution for every q at most.
bool is_solved_uniquely(const Dcs& system, const IntervalMatrix& D, const std::vector<int>& part) {
  const int first = part.front();
  if (part.size() == 1 && D(first, first).is_zero())
    return graph_over(system.laws[static_cast<std::size_t>(first)], everywhere).is_function;
  return is_solved_by_slopes(system, D, part) || is_solved_by_monotony(system, D, part);
}

/// The w of a branch.
std::pair<double, double> range_of(const Branch& branch) {
  if (branch.b != 0) return {branch.w.lower, branch.w.upper};
  const Interval w = vertical_w(branch);
  return {w.lo, w.hi};
}

/// Do the branches have a w in common that is no end of both?
bool overlap(const Branch& one, const Branch& other) {
  const auto [a, b] = range_of(one);
  const auto [c, d] = range_of(other);
  const bool is_point = a == b || c == d;
  return std::max(a, c) < std::min(b, d) ||
         (is_point && ((c < a && b < d) || (a < c && d < b)));
}

}  // namespace

bool is_ambiguous(const Law& law) {
  if (law.memory) return false;
  for (std::size_t i = 0; i < law.branches.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(law.branches[i], law.branches[j])) return true;
  return false;
}

bool is_funnel(const std::vector<Successor>& list) {
  for (const Successor& one : list)
    for (const Successor& other : list)
      for (const int law : one.held) {
        const auto j = static_cast<std::size_t>(law);
        if (one.verdict == Verdict::proved && other.verdict == Verdict::proved &&
            one.mode[j] != other.mode[j])
          return true;
      }
  return false;
}

namespace {

/// Laws with monotone graphs that jump, and their σ.
struct JumpingLaws {
  std::vector<int> laws{}, directions{};
};

/// Those among laws whose branch may change, the others being functions: Lipschitz terms. None: one
/// is neither.
std::optional<JumpingLaws> jumping_among(const Dcs& system, const std::vector<int>& may_change) {
  JumpingLaws jumping;
  for (int j = 0; j < system.m(); ++j) {
    const Law& law = system.laws[static_cast<std::size_t>(j)];
    if (is_ambiguous(law)) return std::nullopt;
    if (std::ranges::find(may_change, j) == may_change.end()) continue;
    const LawGraph graph = graph_over(law, everywhere);
    if (graph.is_function) continue;
    if (!is_monotone_with_jumps(law, graph)) return std::nullopt;
    jumping.laws.push_back(j);
    jumping.directions.push_back(graph.direction);
  }
  return jumping;
}

/// Does one of these inputs act on w itself, or another one than its own on this rate?
bool act_on(const ExactLines& lines, const std::vector<int>& inputs, std::size_t own, int w,
            int rate) {
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (lines.depends(w, inputs[k]) || (k != own && lines.depends(rate, inputs[k]))) return true;
  return false;
}

/// Does −(σ_i C_i B_k) keep solutions together? `directions`: σ of each law.
bool contracts(LawCoupling coupling, const std::vector<int>& directions) {
  IntervalMatrix& M = coupling.matrix;
  bool is_symmetric = coupling.is_symmetric;
  for (int i = 0; i < M.rows(); ++i) {
    const int direction = directions[static_cast<std::size_t>(i)];
    is_symmetric = is_symmetric && direction == directions.front();
    for (int k = 0; k < M.columns() && direction > 0; ++k) M(i, k) = -M(i, k);
  }
  return (is_symmetric && has_positive_pivots(M)) || keeps_solutions_together(M);
}

}  // namespace

/// The solutions from every point of the box are unique while no other law than these, and those
/// that are on a vertical branch in the mode, changes its branch: with w = C x + c(t),
/// x' = … + B λ and monotone graphs, if −(σ_i C_i B_k) keeps them together. C and B are constant:
/// that holds for as long as no other law changes its branch.
bool Successors::is_only_solution(const Mode& mode, std::vector<int> laws) {
  const Dcs& system = flows_.system();
  if (!open_.laws.empty() || !flows_.space().disturbances.empty()) return false;
  const std::vector<int> vertical = vertical_laws(mode);
  laws.insert(laws.end(), vertical.begin(), vertical.end());
  const std::optional<JumpingLaws> jumping = jumping_among(system, laws);
  if (!jumping) return false;
  const OpenLaws open = opened(jumping->laws);
  ModeFlow& flow = flows_.get(without(mode, open), t_, box_, open);
  if (!flow.system.is_explicit() || !flow.system.has_all_arguments_of_states()) return false;
  std::optional<LawCoupling> coupling = law_coupling(flow, system, flows_.space(), open, t_, box_);
  return coupling && contracts(*std::move(coupling), jumping->directions);
}

std::vector<int> Successors::vertical_laws(const Mode& mode) const {
  std::vector<int> laws;
  for (int j = 0; j < flows_.system().m(); ++j)
    if (is_vertical(branch(mode, j))) laws.push_back(j);
  return laws;
}

/// Does no law on a vertical branch of the mode act on the rate of the argument of another one, by
/// formula? Then each keeps its w, or leaves it, by itself: what is shown of each of its sides is
/// shown for every λ of the others, and its λ lies inside of its range as long as both sides go
/// back.
bool Successors::is_decoupled(const Mode& mode) {
  const Dcs& system = flows_.system();
  const OpenLaws open = opened(vertical_laws(mode));
  const ModeFlow& open_flow = flows_.get(without(mode, open), t_, box_, open);
  if (!open_flow.system.is_explicit()) return false;
  Flow flow = open_flow.system.flow;
  ExactLines lines(flow.tape);
  const std::vector<int>& variables = flows_.space().variables;
  std::vector<int> inputs;
  for (const int law : open.laws) inputs.push_back(system.multiplier_input(law));
  for (std::size_t i = 0; i < open.laws.size(); ++i) {
    const int w = flow.outputs[open_flow.system.gaps.size() + i];
    for (std::size_t s = 0; s < variables.size(); ++s) {
      const int slope = lines.derivative(w, system.variable_input(variables[s]));
      if (!lines.is_number(slope, 0) && act_on(lines, inputs, i, w, flow.rates[s])) return false;
    }
  }
  return true;
}

/// Of constraint k of the mode, which was observed.
Interval Successors::residual_of(const ModeFlow& flow, int k) const {
  const int output = flows_.system().n() + flows_.system().m() + k;
  return decided(flow.observed(output), flow.system.observed, output, 0, exact_inputs());
}

/// Does the proved mode continue every member? At a start the states are not known to obey its
/// constraints, unless their residuals are 0 exactly.
bool Successors::continues_all(const Successor& proved) {
  if (from_ != nullptr) return true;
  ModeFlow& flow = flow_of(proved);
  flow.use(proved.implicit);
  if (!flow.observe(t_, box_)) return false;
  for (int k = 0; k < static_cast<int>(flow.system.constraints.size()); ++k)
    if (!residual_of(flow, k).is_zero()) return false;
  return true;
}

/// Does a law on a vertical branch of the mode, whose w the states give, act on the w of these?
bool Successors::are_acted_on_by_held(const std::vector<int>& laws, const ModeFlow& flow,
                                      const Mode& mode, const IntervalMatrix& D) const {
  for (const int k : vertical_laws(mode))
    for (const int j : laws)
      if (flow.system.argument_of_states[static_cast<std::size_t>(k)] && !D(j, k).is_zero())
        return true;
  return false;
}

/// λ of laws whose w depends on multipliers is one function of states, time and the λ of the others
/// (none of these on a vertical branch in the mode), Lipschitz: with w = D λ + q over a connected
/// part of them, D constant,
/// * where the laws are functions, if 1 − D S is a P-matrix for all slopes S = diag(s) of theirs;
/// * with monotone graphs, σ_i Δw_i Δλ_i ≥ 0, if −(σ_i D_ik) is one: for Δλ ≠ 0 some
///   −σ_i Δλ_i (D Δλ)_i would be positive.
/// Where a law does not act on itself, not through others either, its graph has to be a function.
bool Successors::has_unique_multipliers(const Mode& mode) {
  const Dcs& system = flows_.system();
  const auto [known, is_new] = unique_multipliers_.try_emplace(mode, false);
  if (!is_new || !open_.laws.empty() || !flows_.space().disturbances.empty()) return known->second;
  const ModeFlow& flow = flows_.without_branches(t_, box_);
  if (!flow.system.is_explicit()) return false;
  const auto D = direct_coupling(flow, system, flows_.space(), all_open(system.m()), t_, box_);
  if (!D) return false;
  const std::vector<int> dependent = laws_of_multipliers(flow.system.argument_of_states);
  if (are_acted_on_by_held(dependent, flow, mode, *D)) return false;
  const auto acts = [&](int on, int law) { return !(*D)(on, law).is_zero(); };
  const auto parts = connected_parts(dependent, acts);
  return known->second = std::all_of(parts.begin(), parts.end(), [&](const std::vector<int>& part) {
           return is_solved_uniquely(system, *D, part);
         });
}

namespace {

/// Do two modes differ only in laws whose w depends on multipliers?
bool are_same_for_states(const Mode& a, const Mode& b, const std::vector<bool>& of_states) {
  if (a.size() != b.size()) return false;
  for (std::size_t j = 0; j < a.size(); ++j)
    if (a[j] != b[j] && of_states[j]) return false;
  return true;
}

bool is_open(const Successor& one) { return one.verdict == Verdict::open; }

/// The only mode that is proved; null: none is, or several are.
const Successor* only_proved(const std::vector<Successor>& list) {
  const auto is_proved = [](const Successor& one) { return one.verdict == Verdict::proved; };
  const auto first = std::ranges::find_if(list, is_proved);
  return std::ranges::count_if(list, is_proved) == 1 ? &*first : nullptr;
}

/// The laws in which modes that are not refuted differ from this one; none: no mode is open, or one
/// is no whole mode.
std::optional<std::vector<int>> changing_laws(const std::vector<Successor>& list,
                                              const Mode& mode) {
  if (std::ranges::none_of(list, is_open)) return std::nullopt;
  std::vector<int> laws;
  for (const Successor& one : list) {
    if (one.verdict == Verdict::refuted) continue;
    if (one.mode.size() != mode.size()) return std::nullopt;
    for (std::size_t j = 0; j < mode.size(); ++j)
      if (one.mode[j] != mode[j]) laws.push_back(static_cast<int>(j));
  }
  return laws;
}

}  // namespace

/// Where λ is one function of the states, modes that differ only in laws of which it is one have
/// the same solution.
void Successors::refute_same_solutions(std::vector<Successor>& list) {
  for (const Successor& proved : list) {
    if (proved.verdict != Verdict::proved || !continues_all(proved)) continue;
    const auto& of_states = flow_of(proved).system.argument_of_states;
    for (Successor& one : list) {
      if (!is_open(one) || !are_same_for_states(one.mode, proved.mode, of_states)) continue;
      if (!has_unique_multipliers(proved.mode)) continue;
      one.verdict = Verdict::refuted;
      one.reason = "its multipliers are those of another mode, which continues them";
    }
  }
}

/// A mode that continues every member is the only one where solutions are unique.
void Successors::refute_others(std::vector<Successor>& list) {
  if (reset_ >= 0) return;
  refute_same_solutions(list);
  const Successor* proved = only_proved(list);
  if (proved == nullptr || !continues_all(*proved)) return;
  const std::optional<std::vector<int>> laws = changing_laws(list, proved->mode);
  if (!laws || !is_only_solution(proved->mode, *laws)) return;
  for (Successor& one : list)
    if (is_open(one)) {
      one.verdict = Verdict::refuted;
      one.reason = "the solutions are unique, and another mode continues them";
    }
}

}  // namespace perp::enclosure
