// Events of other laws while branches of laws are not known; called by the pieces of enclosures.
#include <algorithm>
#include <optional>

#include <perp/analysis/enclosure/inclusion/inclusion.hpp>

namespace perp::enclosure {
namespace {

constexpr int widenings = 12;  ///< of E and Λ

/// A share of its width more on both sides.
Interval wider(const Interval& x, double share) {
  return x + symmetric(share * width(x) + 0x1p-50 * magnitude(x) + 0x1p-1000);
}

/// As far from the reference solutions as members get, e ⊂ int E: so they cannot leave E.
///@{
bool holds(const Interval& E, const Interval& e) { return e.is_zero() || is_inside(e, E); }
bool holds(const Box& E, const Box& e) {
  for (std::size_t i = 0; i < E.size(); ++i)
    if (!holds(E[i], e[i])) return false;
  return true;
}
///@}

/// E and Λ so that what was found for them may be inside the next time.
///@{
void widen(Box& E, const Box& e) {
  for (std::size_t i = 0; i < E.size(); ++i)
    if (!holds(E[i], e[i])) E[i] = wider(hull(E[i], e[i]), 0.5);
}
void widen(OpenLaws& Lambda, const Box& values) {
  for (std::size_t a = 0; a < values.size(); ++a)
    if (!(values[a] == Lambda.values[a])) Lambda.values[a] = wider(values[a], 0x1p-5);
}
///@}

}  // namespace

/// Null where arguments hold λ of open laws: when an event is depends on these.
OpenFlow* Inclusion::flow_without_nesting() {
  OpenFlow* equations = flow();
  return equations != nullptr && equations->is_nested() ? nullptr : equations;
}

OpenLaws Inclusion::references() const {
  OpenLaws open;
  for (const OpenLaw& one : laws_) {
    open.laws.push_back(one.law);
    open.values.emplace_back(one.reference);
  }
  return open;
}

/// The λ that the open laws allow in the set that was expanded, with those of Λ; nothing: one is no function there.
std::optional<Box> Inclusion::allowed_values(OpenFlow& equations, const OpenLaws& Lambda,
                                             bool& inside) const {
  Box values = Lambda.values;
  for (std::size_t a = 0; a < laws_.size(); ++a) {
    const Law& law = flows_->flows().system().laws[static_cast<std::size_t>(laws_[a].law)];
    const LawGraph graph = graph_over(law, equations.argument(static_cast<int>(a)));
    if (!graph.is_function || !graph.lambda.has_value()) return std::nullopt;
    inside = inside && Lambda.values[a].contains(graph.lambda);
    values[a] = hull(Lambda.values[a], graph.lambda);
  }
  return values;
}

/// [0, times] · (∂f/∂λ (values − λ of the references) + ∂f/∂x E): how far members get from the references.
Box Inclusion::members_beside(OpenFlow& equations, const Interval& times, const Box& values,
                              const Box& E) const {
  const int n = set_.states();
  Box next(E.size());
  for (int i = 0; i < n; ++i) {
    Interval rate;
    for (std::size_t a = 0; a < laws_.size(); ++a) {
      const Interval& slope = equations.slope(i, n + static_cast<int>(a));
      if (!slope.is_zero()) rate += slope * (values[a] - Interval(laws_[a].reference));
    }
    for (int j = 0; j < n; ++j)
      if (!equations.slope(i, j).is_zero() && !E[static_cast<std::size_t>(j)].is_zero())
        rate += equations.slope(i, j) * E[static_cast<std::size_t>(j)];
    next[static_cast<std::size_t>(i)] = hull(times, Interval(0)) * rate;
  }
  return next;
}

// e' ∈ A e + B (Λ − c), and e = 0 at one of the times: e ∈ [times] (B (Λ − c) + A E) ⊂ int E holds
// as long as both solutions are in `reference` + E − E; so e cannot leave E.
bool Inclusion::disturb(const Interval& times, const Box& reference, Box& E, OpenLaws& Lambda) {
  OpenFlow* equations = flow_without_nesting();
  if (equations == nullptr) return false;
  const Interval all = Interval(t_) + times;
  Lambda = references();
  E.assign(static_cast<std::size_t>(set_.states()), Interval(0));
  for (int trial = 0; trial < widenings; ++trial) {
    const Box both = reference + (E - E);
    if (!is_bounded(both) || !equations->expand(all, both, Lambda.values, 1, true)) return false;
    bool inside = true;
    const std::optional<Box> values = allowed_values(*equations, Lambda, inside);
    if (!values) return false;
    const Box next = members_beside(*equations, times, *values, E);
    if (inside && holds(E, next)) {
      E = next;
      return true;
    }
    widen(E, next);
    widen(Lambda, *values);
  }
  return false;
}

bool Inclusion::falls_alone(const Interval& t, const Box& box, const OpenLaws& Lambda, int gap) {
  OpenFlow* equations = flow();
  if (equations == nullptr || !equations->expand(t, box, Lambda.values, 2, false)) return false;
  for (int k = 0; k < static_cast<int>(equations->system.gaps.size()); ++k) {
    const bool is_reset = equations->system.gaps[static_cast<std::size_t>(k)].reset >= 0;
    const int sign = certain_sign(equations->gap(k));
    if (k == gap ? certain_sign(equations->gap_rate(k)) >= 0 : is_reset ? sign == 0 : sign <= 0)
      return false;
  }
  return true;
}

bool Inclusion::enter(const Mode& mode, const Doubleton& set, const std::vector<Gap>& rising,
                      double settled) {
  mode_ = mode;
  set_ = set;
  rising_ = rising;
  settled_ = settled;
  OpenFlow* equations = flow_without_nesting();
  if (equations == nullptr ||
      !equations->expand(Interval(t_), set_.box(), references().values, 1, false))
    return false;
  for (std::size_t a = 0; a < laws_.size(); ++a) {
    laws_[a].w = equations->argument(static_cast<int>(a));
    const Law& law = flows_->flows().system().laws[static_cast<std::size_t>(laws_[a].law)];
    if (!graph_over(law, laws_[a].w).is_function) return false;
  }
  return true;
}

/// All members have come in: gaps that are positive now are watched like others.
void Inclusion::settle(OpenFlow& flow) {
  if (rising_.empty() ||
      !flow.expand(Interval(t_), set_.box(), lambda_now(), 1, false))
    return;
  for (int k = 0; k < static_cast<int>(flow.system.gaps.size()); ++k) {
    const Gap& gap = flow.system.gaps[static_cast<std::size_t>(k)];
    if (certain_sign(flow.gap(k)) <= 0) continue;
    std::erase_if(rising_, [&](const Gap& one) {
      return one.law == gap.law && one.of_multiplier == gap.of_multiplier &&
             one.end == gap.end && one.side == gap.side;
    });
  }
}

bool Inclusion::is_rising(const Gap& gap) const {
  return std::any_of(rising_.begin(), rising_.end(), [&](const Gap& one) {
    return one.law == gap.law && one.of_multiplier == gap.of_multiplier && one.end == gap.end &&
           one.side == gap.side && gap.reset < 0;
  });
}

/// λ over the tube. As long as members come in, some are reference solutions still.
Interval Inclusion::allowed(const OpenLaw& open) const {
  const Interval& lambda = open.graph.lambda;
  return is_settled() || !lambda.has_value() ? lambda : hull(lambda, Interval(open.reference));
}

bool Inclusion::observe(const Interval& t, const Box& x, const OpenLaws& Lambda, Box& values) {
  OpenFlow* equations = flow();
  return equations != nullptr && equations->observe(t, x, Lambda.values, values);
}

}  // namespace perp::enclosure
