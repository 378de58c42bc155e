// What laws allow while it is not known on which branch they are; called by inclusion phases.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <perp/analysis/enclosure/inclusion/law_graph.hpp>

namespace perp::enclosure {
namespace {

Interval argument_range(const Branch& branch) {
  if (branch.b == 0) return Interval(branch.c) / Interval(branch.a);
  return {branch.w.lower, branch.w.upper};
}

/// λ = (c − a w)/b of a branch that is not vertical.
Interval line_over(const Branch& branch, const Interval& w) {
  const Interval sloped = branch.a == 0 ? Interval(0) : Interval(branch.a) * w;
  return (Interval(branch.c) - sloped) / Interval(branch.b);
}

/// May λ be any number?
bool is_free(const Branch& branch) {
  return branch.lambda.lower == -directed::infinity && branch.lambda.upper == directed::infinity;
}

/// λ of a branch over w, which is part of its range: that of its line within its own bounds.
std::optional<Interval> values(const Branch& branch, const Interval& w) {
  const Interval all(branch.lambda.lower, branch.lambda.upper);
  if (branch.b == 0) return all;
  const Interval line = line_over(branch, w);
  return line.has_value() ? intersection(line, all) : all;
}

/// Numbers have bounds, those of an unbounded branch are none.
Interval bounded(const Interval& a) {
  return std::isfinite(a.lo) && std::isfinite(a.hi) ? a : Interval::none();
}

/// Two sloped branches, the one of lower w first: does the other one begin where it ends, with the same λ?
bool meet(const Branch& before, const Branch& here) {
  const Interval end(here.w.lower);
  const auto value = values(here, end), other = values(before, end);
  if (here.w.lower != before.w.upper) return false;
  return value && other && value->is_point() && *value == *other;
}

/// Does the line of a sloped branch stay within its λ, for all w that are its own?
bool keeps_range(const Branch& branch, const Interval& w) {
  if (branch.a == 0 || is_free(branch)) return true;
  const auto inside = intersection(w, argument_range(branch));
  if (!inside) return false;
  const Interval line = line_over(branch, *inside);
  return !(line.lo < branch.lambda.lower || line.hi > branch.lambda.upper);
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
    if (k > 0 && !meet(at(branches[k - 1]), here)) return false;
    if (!keeps_range(here, w)) return false;
    until = here.w.upper;
  }
  return !branches.empty() && w.hi <= until;
}

/// The λ of a branch that is not vertical, next to a corner.
std::optional<double> value_at(const Branch& branch, double w) {
  const auto value = values(branch, Interval(w));
  return value && value->is_point() ? std::optional(value->lo) : std::nullopt;
}

/// Follows a graph from its lowest w to its highest: each branch begins where the one before ends.
class Curve {
 public:
  Curve(const Law& law, std::vector<int> branches) : law_(law), branches_(std::move(branches)) {
    std::stable_sort(branches_.begin(), branches_.end(), [&](int i, int j) {
      const Interval x = argument_range(at(i)), y = argument_range(at(j));
      return x.lo < y.lo || (x.lo == y.lo && x.hi < y.hi);
    });
  }

  /// Is it one curve over all of w?
  bool covers(const Interval& w) {
    if (branches_.empty()) return false;
    first_ = argument_range(at(branches_.front())).lo;
    last_ = argument_range(at(branches_.back())).hi;
    for (std::size_t k = 0; k < branches_.size(); ++k) {
      const Interval range = argument_range(at(branches_[k]));
      if (k > 0 && range.lo != argument_range(at(branches_[k - 1])).hi) return false;
      if (!(at(branches_[k]).b == 0 ? add_vertical(k, range) : add_sloped(k, range))) return false;
    }
    return first_ <= w.lo && w.hi <= last_;
  }

  [[nodiscard]] int direction() const { return falls_ ? (rises_ ? 0 : -1) : 1; }

 private:
  [[nodiscard]] const Branch& at(int k) const {
    return law_.branches[static_cast<std::size_t>(k)];
  }

  /// From the λ of the branch before to that of the next one; at an end of the graph without bound,
  /// so that w does not go further there.
  bool add_vertical(std::size_t k, const Interval& range) {
    if (!range.is_point()) return false;
    const std::optional<Ends> ends = ends_of_vertical(k, range.lo);
    return ends && spans(at(branches_[k]), *ends) &&
           extend_vertical(*ends, k == 0, k + 1 == branches_.size());
  }

  /// λ where the curve enters and leaves a vertical branch.
  struct Ends {
    double from, to;
  };

  /// None: the next branch does not begin at w with one λ, or there is no other branch.
  [[nodiscard]] std::optional<Ends> ends_of_vertical(std::size_t k, double w) const {
    const Branch& here = at(branches_[k]);
    const bool is_first = k == 0, is_last = k + 1 == branches_.size();
    if (is_first && is_last) return std::nullopt;
    if (is_last) return Ends{lambda_, other_end(here, lambda_)};
    const Branch& next = at(branches_[k + 1]);
    const auto to = next.b == 0 ? std::nullopt : value_at(next, w);
    if (!to) return std::nullopt;
    return Ends{is_first ? other_end(here, *to) : lambda_, *to};
  }

  static bool spans(const Branch& branch, const Ends& ends) {
    return std::min(ends.from, ends.to) == branch.lambda.lower &&
           std::max(ends.from, ends.to) == branch.lambda.upper;
  }

  /// The end of a vertical branch from which it comes to `lambda`.
  static double other_end(const Branch& branch, double lambda) {
    return lambda == branch.lambda.lower ? branch.lambda.upper : branch.lambda.lower;
  }

  bool extend_vertical(const Ends& ends, bool is_first, bool is_last) {
    if ((is_first && std::isfinite(ends.from)) || (is_last && std::isfinite(ends.to))) return false;
    if (is_first) first_ = -directed::infinity;
    if (is_last) last_ = directed::infinity;
    (ends.to > ends.from ? rises_ : falls_) = true;
    lambda_ = ends.to;
    return true;
  }

  /// Are its λ within the bounds of the branch?
  static bool allows(const Branch& branch, const Interval& line) {
    return is_free(branch) || (branch.lambda.lower <= line.lo && line.hi <= branch.lambda.upper);
  }

  bool add_sloped(std::size_t k, const Interval& range) {
    const Branch& here = at(branches_[k]);
    if (!allows(here, line_over(here, range))) return false;
    if (k > 0 && value_at(here, range.lo) != std::optional(lambda_)) return false;
    if (here.a != 0) ((here.a > 0) == (here.b > 0) ? falls_ : rises_) = true;
    if (k + 1 == branches_.size()) return true;
    const auto value = value_at(here, range.hi);
    lambda_ = value.value_or(0);
    return value.has_value();
  }

  const Law& law_;
  std::vector<int> branches_;
  double lambda_ = 0, first_ = 0, last_ = 0;  // λ where the branch before ended; ends of w
  bool rises_ = false, falls_ = false;
};

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
  Curve curve(law, graph.branches);
  graph.is_curve = !law.memory && curve.covers(w);
  if (graph.is_curve) graph.direction = curve.direction();
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
