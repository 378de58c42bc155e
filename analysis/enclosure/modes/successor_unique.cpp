// That no other mode can follow since solutions are unique; called where the next mode is proved.
#include <algorithm>
#include <functional>

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

/// Laws that act on each other, directly or through others.
std::vector<std::vector<int>> connected_parts(const std::vector<int>& laws,
                                              const std::function<bool(int, int)>& acts) {
  const std::size_t n = laws.size();
  std::vector<std::vector<bool>> reach(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) reach[i][k] = i == k || acts(laws[i], laws[k]);
  for (std::size_t l = 0; l < n; ++l)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k) reach[i][k] = reach[i][k] || (reach[i][l] && reach[l][k]);
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

/// w = D λ + q with these laws has one solution for every q at most.
bool is_solved_uniquely(const Dcs& system, const IntervalMatrix& D, const std::vector<int>& part) {
  const int first = part.front();
  if (part.size() == 1 && D(first, first).is_zero())
    return graph_over(system.laws[static_cast<std::size_t>(first)], everywhere).is_function;
  return is_solved_by_slopes(system, D, part) || is_solved_by_monotony(system, D, part);
}

}  // namespace

bool is_ambiguous(const Law& law) {
  const auto range = [](const Branch& branch) {
    if (branch.b != 0) return std::pair(branch.w.lower, branch.w.upper);
    const Interval w = vertical_w(branch);
    return std::pair(w.lo, w.hi);
  };
  if (law.memory) return false;
  for (std::size_t i = 0; i < law.branches.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto [a, b] = range(law.branches[i]);
      const auto [c, d] = range(law.branches[j]);
      const bool is_point = a == b || c == d;
      if (std::max(a, c) < std::min(b, d) || (is_point && c < a && b < d) ||
          (is_point && a < c && d < b))
        return true;
    }
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

bool forbids_starts(const std::vector<Successor>& list) {
  const auto is_refuted = [](const Successor& next) { return next.verdict == Verdict::refuted; };
  const auto forbids = [&](const Successor& next) { return is_refuted(next) ? next.is_elsewhere : next.forbids_starts; };
  const auto may_follow = std::ranges::find_if_not(list, is_refuted);
  if (may_follow == list.end()) return !list.empty() && std::ranges::all_of(list, forbids);
  return std::ranges::all_of(list, [&](const Successor& next) { return is_refuted(next) || forbids(next); });
}

namespace {

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
  OpenLaws open;
  std::vector<int> directions;
  for (int j = 0; j < system.m(); ++j) {
    const Law& law = system.laws[static_cast<std::size_t>(j)];
    if (is_ambiguous(law)) return false;
    const bool may_change =
        is_vertical(branch(mode, j)) || std::find(laws.begin(), laws.end(), j) != laws.end();
    if (!may_change) continue;
    const LawGraph graph = graph_over(law, everywhere);
    if (graph.is_function) continue;  // a Lipschitz term
    if (!has_vertical_branch(law) || !graph.is_curve || graph.direction == 0) return false;
    open.laws.push_back(j);
    open.values.emplace_back(0.0);
    directions.push_back(graph.direction);
  }
  Mode others = mode;
  for (const int law : open.laws) others[static_cast<std::size_t>(law)] = 0;
  ModeFlow& flow = flows_.get(others, t_, box_, open);
  if (!flow.system.is_explicit()) return false;
  if (!flow.system.has_all_arguments_of_states()) return false;
  std::optional<LawCoupling> coupling = law_coupling(flow, system, flows_.space(), open, t_, box_);
  return coupling && contracts(*std::move(coupling), directions);
}

/// Does no law on a vertical branch of the mode act on the rate of the argument of another one, by
/// formula? Then each keeps its w, or leaves it, by itself: what is shown of each of its sides is
/// shown for every λ of the others, and its λ lies inside of its range as long as both sides go
/// back.
bool Successors::is_decoupled(const Mode& mode) {
  const Dcs& system = flows_.system();
  OpenLaws open;
  for (int j = 0; j < system.m(); ++j) {
    if (!is_vertical(branch(mode, j))) continue;
    open.laws.push_back(j);
    open.values.emplace_back(0.0);
  }
  Mode others = mode;
  for (const int law : open.laws) others[static_cast<std::size_t>(law)] = 0;
  const ModeFlow& open_flow = flows_.get(others, t_, box_, open);
  if (!open_flow.system.is_explicit()) return false;
  Flow flow = open_flow.system.flow;
  ExactLines lines(flow.tape);
  const std::vector<int>& variables = flows_.space().variables;
  for (std::size_t i = 0; i < open.laws.size(); ++i) {
    const int w = flow.outputs[open_flow.system.gaps.size() + i];
    for (std::size_t s = 0; s < variables.size(); ++s) {
      const int slope = lines.derivative(w, system.variable_input(variables[s]));
      if (lines.is_number(slope, 0)) continue;
      for (std::size_t k = 0; k < open.laws.size(); ++k) {
        const int input = system.multiplier_input(open.laws[k]);
        if (lines.depends(w, input) || (i != k && lines.depends(flow.rates[s], input)))
          return false;
      }
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
  ModeFlow& flow = flows_.get(proved.mode, t_, box_, open_, proved.root);
  flow.use(proved.implicit);
  if (!flow.observe(t_, box_)) return false;
  for (int k = 0; k < static_cast<int>(flow.system.constraints.size()); ++k)
    if (!residual_of(flow, k).is_zero()) return false;
  return true;
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
  std::vector<int> dependent;
  for (int j = 0; j < system.m(); ++j)
    if (!flow.system.argument_of_states[static_cast<std::size_t>(j)]) dependent.push_back(j);
  const auto acts = [&](int on, int law) { return !(*D)(on, law).is_zero(); };
  for (const int j : dependent)
    for (int k = 0; k < system.m(); ++k)
      if (flow.system.argument_of_states[static_cast<std::size_t>(k)] && acts(j, k) &&
          is_vertical(branch(mode, k)))
        return false;
  const auto parts = connected_parts(dependent, acts);
  return known->second = std::all_of(parts.begin(), parts.end(), [&](const std::vector<int>& part) {
           return is_solved_uniquely(system, *D, part);
         });
}

/// Where λ is one function of the states, modes that differ only in laws of which it is one have
/// the same solution.
void Successors::refute_same_solutions(std::vector<Successor>& list) {
  for (const Successor& proved : list) {
    if (proved.verdict != Verdict::proved || !continues_all(proved)) continue;
    const auto& of_states =
        flows_.get(proved.mode, t_, box_, open_, proved.root).system.argument_of_states;
    for (Successor& one : list) {
      if (one.verdict != Verdict::open || one.mode.size() != proved.mode.size()) continue;
      bool is_same = true;
      for (std::size_t j = 0; j < one.mode.size(); ++j)
        is_same = is_same && (one.mode[j] == proved.mode[j] || !of_states[j]);
      if (!is_same || !has_unique_multipliers(proved.mode)) continue;
      one.verdict = Verdict::refuted;
      one.reason = "its multipliers are those of another mode, which continues them";
    }
  }
}

/// A mode that continues every member is the only one where solutions are unique.
void Successors::refute_others(std::vector<Successor>& list) {
  const auto is_proved = [](const Successor& one) { return one.verdict == Verdict::proved; };
  if (reset_ < 0) refute_same_solutions(list);
  const auto first = std::find_if(list.begin(), list.end(), is_proved);
  if (first == list.end() || std::count_if(list.begin(), list.end(), is_proved) > 1) return;
  if (reset_ >= 0 || !continues_all(*first)) return;
  std::vector<int> laws;
  bool is_open = false;
  for (const Successor& one : list) {
    if (one.verdict == Verdict::refuted) continue;
    is_open = is_open || one.verdict == Verdict::open;
    if (one.mode.size() != first->mode.size()) return;
    for (std::size_t j = 0; j < one.mode.size(); ++j)
      if (one.mode[j] != first->mode[j]) laws.push_back(static_cast<int>(j));
  }
  if (!is_open || !is_only_solution(first->mode, laws)) return;
  for (Successor& one : list)
    if (one.verdict == Verdict::open) {
      one.verdict = Verdict::refuted;
      one.reason = "the solutions are unique, and another mode continues them";
    }
}

/// On how many surfaces does the mode slide? λ that the states give tells itself whether its law is
/// held.
int Successors::held_surfaces(const ModeFlow& flow) const {
  int count = 0;
  for (int j = 0; j < static_cast<int>(flow.system.mode.size()); ++j)
    if (is_vertical(branch(flow.system.mode, j)) && !is_direct(j) &&
        has_argument_of_states(flow, j))
      ++count;
  return count;
}

}  // namespace perp::enclosure
