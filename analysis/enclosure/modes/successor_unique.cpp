// That no other mode can follow since solutions are unique; called where the next mode is proved.
#include <algorithm>

#include <perp/analysis/enclosure/inclusion/law_graph.hpp>
#include <perp/analysis/enclosure/modes/law_coupling.hpp>
#include <perp/analysis/enclosure/modes/successor.hpp>

namespace perp::enclosure {
namespace {

bool has_vertical_branch(const Law& law) {
  return std::any_of(law.branches.begin(), law.branches.end(),
                     [](const Branch& branch) { return branch.b == 0; });
}

}  // namespace

/// The solutions from every point of the box are unique while no other law than these, and those
/// that are on a vertical branch in the mode, changes its branch: with w = C x + c(t),
/// x' = … + B λ and monotone graphs, σ_i Δw_i Δλ_i ≥ 0, if −(σ_i C_i B_k) is made symmetric and
/// positive definite by D = diag(d) > 0. The difference e of two solutions then has (eᵀ P e)' ≤
/// 2 L eᵀ P e, where P > 0 is such that P B_k = −σ_k d_k C_kᵀ. C and B are constant: that holds for
/// as long as no other law changes its branch.
bool Successors::is_only_solution(const Mode& mode, std::vector<int> laws) {
  const Dcs& system = flows_.system();
  if (!open_.laws.empty() || !flows_.space().disturbances.empty()) return false;
  OpenLaws open;
  std::vector<int> directions;
  for (int j = 0; j < system.m(); ++j) {
    const Law& law = system.laws[static_cast<std::size_t>(j)];
    if (is_ambiguous(law)) return false;
    const bool may_change = is_vertical(branch(mode, j)) ||
                            std::find(laws.begin(), laws.end(), j) != laws.end();
    if (!may_change) continue;
    const LawGraph graph = graph_over(law, Interval(-directed::infinity, directed::infinity));
    if (graph.is_function) continue;  // a Lipschitz term
    if (!has_vertical_branch(law) || !graph.is_curve || graph.direction == 0) return false;
    open.laws.push_back(j);
    open.values.emplace_back(0.0);
    directions.push_back(graph.direction);
  }
  Mode others = mode;
  for (const int law : open.laws) others[static_cast<std::size_t>(law)] = 0;
  ModeFlow& flow = flows_.get(others, t_, box_, open);
  if (flow.system.outcome != ModeSystem::Outcome::made || flow.system.roots > 1) return false;
  const auto& of_states = flow.system.argument_of_states;
  if (std::find(of_states.begin(), of_states.end(), false) != of_states.end()) return false;
  std::optional<IntervalMatrix> M =
      law_coupling(flow, system, flows_.space(), open, t_, box_);
  if (!M) return false;
  for (int i = 0; i < M->rows(); ++i)
    if (directions[static_cast<std::size_t>(i)] > 0)
      for (int k = 0; k < M->columns(); ++k) (*M)(i, k) = -(*M)(i, k);
  return has_symmetric_scaling(*M);
}

/// A mode that continues every member is the only one where solutions are unique.
void Successors::refute_others(std::vector<Successor>& list) {
  const auto is_proved = [](const Successor& one) { return one.verdict == Verdict::proved; };
  const auto first = std::find_if(list.begin(), list.end(), is_proved);
  if (first == list.end() || std::count_if(list.begin(), list.end(), is_proved) > 1) return;
  if (reset_ >= 0) return;
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

}  // namespace perp::enclosure
