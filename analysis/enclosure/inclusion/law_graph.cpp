// What laws allow while it is not known on which branch they are; called by inclusion phases.
#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/analysis/enclosure/inclusion/law_graph.hpp>

namespace perp::enclosure {
namespace {

Interval argument_range(const Branch& branch) {
  if (branch.b == 0) return Interval(branch.c) / Interval(branch.a);
  return {branch.w.lower, branch.w.upper};
}

/// λ of a branch over w, which is part of its range: λ = (c − a w)/b within its own bounds.
std::optional<Interval> values(const Branch& branch, const Interval& w) {
  const Interval all(branch.lambda.lower, branch.lambda.upper);
  if (branch.b == 0) return all;
  const Interval sloped = branch.a == 0 ? Interval(0) : Interval(branch.a) * w;
  const Interval line = (Interval(branch.c) - sloped) / Interval(branch.b);
  return line.has_value() ? intersection(line, all) : all;
}

/// Numbers have bounds, those of an unbounded branch are none.
Interval bounded(const Interval& a) {
  return std::isfinite(a.lo) && std::isfinite(a.hi) ? a : Interval::none();
}

/// Branches that are sloped and meet each other at their ends, from below w to above it.
bool is_function_over(const Law& law, std::vector<int> branches, const Interval& w) {
  const auto at = [&](int k) -> const Branch& { return law.branches[static_cast<std::size_t>(k)]; };
  std::sort(branches.begin(), branches.end(),
            [&](int i, int j) { return at(i).w.lower < at(j).w.lower; });
  double until = w.lo;
  for (std::size_t k = 0; k < branches.size(); ++k) {
    const Branch& here = at(branches[k]);
    if (here.b == 0 || !(here.w.lower <= until)) return false;
    if (k > 0) {
      const Interval end(here.w.lower);
      const auto value = values(here, end), other = values(at(branches[k - 1]), end);
      if (here.w.lower != at(branches[k - 1]).w.upper) return false;
      if (!value || !other || !value->is_point() || *value != *other) return false;
    }
    const Interval free(-directed::infinity, directed::infinity);
    if (here.a != 0 && Interval(here.lambda.lower, here.lambda.upper) != free) {
      const auto inside = intersection(w, argument_range(here));
      if (!inside) return false;
      const Interval line = (Interval(here.c) - Interval(here.a) * *inside) / Interval(here.b);
      if (line.lo < here.lambda.lower || line.hi > here.lambda.upper) return false;
    }
    until = here.w.upper;
  }
  return !branches.empty() && w.hi <= until;
}

/// The λ of a branch that is not vertical, next to a corner.
std::optional<double> value_at(const Branch& branch, double w) {
  const auto value = values(branch, Interval(w));
  return value && value->is_point() ? std::optional(value->lo) : std::nullopt;
}

/// From below w to above it each branch begins where the one before it ends.
void trace_curve(const Law& law, std::vector<int> branches, const Interval& w, LawGraph& graph) {
  const auto at = [&](int k) -> const Branch& { return law.branches[static_cast<std::size_t>(k)]; };
  const auto range = [&](int k) { return argument_range(at(k)); };
  std::stable_sort(branches.begin(), branches.end(), [&](int i, int j) {
    const Interval x = range(i), y = range(j);
    return x.lo < y.lo || (x.lo == y.lo && x.hi < y.hi);
  });
  bool rises = false, falls = false;
  std::optional<double> lambda;  // where the branch before ended
  for (std::size_t k = 0; k < branches.size(); ++k) {
    const Branch& here = at(branches[k]);
    const Interval w_here = range(branches[k]);
    if (k > 0 && w_here.lo != range(branches[k - 1]).hi) return;
    if (here.b == 0) {
      // between two others: from the λ of the one to that of the other
      if (!w_here.is_point() || !lambda || k + 1 == branches.size()) return;
      const auto next = value_at(at(branches[k + 1]), w_here.lo);
      if (!next || at(branches[k + 1]).b == 0 || std::min(*lambda, *next) != here.lambda.lower ||
          std::max(*lambda, *next) != here.lambda.upper)
        return;
      (*next > *lambda ? rises : falls) = true;
      lambda = next;
      continue;
    }
    if (here.lambda.lower != -directed::infinity || here.lambda.upper != directed::infinity) {
      const Interval sloped = here.a == 0 ? Interval(0) : Interval(here.a) * w_here;
      const Interval line = (Interval(here.c) - sloped) / Interval(here.b);
      if (!(here.lambda.lower <= line.lo && line.hi <= here.lambda.upper)) return;
    }
    if (k > 0 && value_at(here, w_here.lo) != lambda) return;
    if (here.a != 0) ((here.a > 0) == (here.b > 0) ? falls : rises) = true;
    lambda = value_at(here, w_here.hi);
    if (!lambda && k + 1 < branches.size()) return;
  }
  if (branches.empty() || w.lo < range(branches.front()).lo || w.hi > range(branches.back()).hi)
    return;
  graph.is_curve = true;
  graph.direction = rises == falls ? (rises ? 0 : 1) : (rises ? 1 : -1);
}

}  // namespace

LawGraph graph_over(const Law& law, const Interval& w) {
  LawGraph graph{.lambda = Interval::none()};
  for (int k = 0; k < static_cast<int>(law.branches.size()); ++k) {
    const Branch& branch = law.branches[static_cast<std::size_t>(k)];
    const auto here = intersection(w, argument_range(branch));
    if (!here) continue;
    const auto lambda = values(branch, *here);
    if (!lambda) continue;
    graph.lambda = graph.branches.empty() ? *lambda : hull(graph.lambda, *lambda);
    graph.branches.push_back(k);
  }
  graph.lambda = bounded(graph.lambda);
  graph.is_function = !law.memory && is_function_over(law, graph.branches, w);
  if (!law.memory) trace_curve(law, graph.branches, w, graph);
  return graph;
}

Interval lambda_beside(const Law& law, double corner, int side, const Interval& w) {
  Interval all = Interval::none();
  for (const Branch& branch : law.branches) {
    const auto here = intersection(w, argument_range(branch));
    if (!here || (side > 0 ? here->hi <= corner : here->lo >= corner)) continue;
    const Interval part = side > 0 ? Interval(std::max(here->lo, corner), here->hi)
                                   : Interval(here->lo, std::min(here->hi, corner));
    const auto lambda = values(branch, part);
    if (lambda) all = all.has_value() ? hull(all, *lambda) : *lambda;
  }
  return bounded(all);
}

}  // namespace perp::enclosure
