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
