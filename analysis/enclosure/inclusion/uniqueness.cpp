// At most one solution while laws that jump are open; asked at every step of inclusion phases.
#include <perp/analysis/enclosure/inclusion/uniqueness.hpp>
#include <perp/analysis/enclosure/modes/law_coupling.hpp>
#include <perp/analysis/enclosure/modes/successor.hpp>

namespace perp::enclosure {

namespace {

enum class Kind { lipschitz, monotone, neither };

/// Does its λ act as a monotone term? Where laws are nested, other laws act on it, or it on others.
bool is_monotone(const OpenFlow& flow, const OpenLaw& open, int number) {
  return !flow.is_nested() && open.graph.direction != 0 && flow.is_affine(number);
}

/// What the law is along solutions over the step: a Lipschitz term, or one that needs the others.
Kind kind_of(const OpenFlow& flow, const OpenLaw& open, int number, const Law& law) {
  if (open.graph.is_function) return Kind::lipschitz;
  if (law.memory || is_ambiguous(law) || !open.graph.is_curve) return Kind::neither;
  if (!flow.is_disturbed(number) && certain_sign(open.rate) != 0) return Kind::lipschitz;
  return is_monotone(flow, open, number) ? Kind::monotone : Kind::neither;
}

/// The sign of w' in all steps, the one from t too; 0: in some it has none.
int way_with(const OpenLaw& open, int sign, double t) {
  return open.since == t || open.way == sign ? sign : 0;
}

/// M = −(σ_i C_i B_k) of these laws, of a flow that is expanded.
IntervalMatrix coupling_of(const OpenFlow& flow, const std::vector<OpenLaw>& laws,
                           const std::vector<int>& numbers, int states) {
  const int count = static_cast<int>(numbers.size());
  IntervalMatrix M(count, count);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < count; ++k) {
      const int law = numbers[static_cast<std::size_t>(i)],
                other = numbers[static_cast<std::size_t>(k)];
      Interval sum;
      for (int j = 0; j < states; ++j) {
        const Interval &C = flow.argument_slope(law, j), &B = flow.slope(j, states + other);
        if (!C.is_zero() && !B.is_zero()) sum += C * B;
      }
      M(i, k) = laws[static_cast<std::size_t>(law)].graph.direction > 0 ? -sum : sum;
    }
  return M;
}

}  // namespace

Uniqueness uniqueness_of_step(OpenFlow& flow, const std::vector<OpenLaw>& laws, const Dcs& system,
                              const Interval& times, const Box& tube, const Box& lambda) {
  std::vector<int> rest;
  for (int a = 0; a < static_cast<int>(laws.size()); ++a) {
    const OpenLaw& open = laws[static_cast<std::size_t>(a)];
    const Kind kind = kind_of(flow, open, a, system.laws[static_cast<std::size_t>(open.law)]);
    if (kind == Kind::neither) return Uniqueness::open;
    if (kind == Kind::monotone) rest.push_back(a);
  }
  if (rest.empty()) return Uniqueness::lipschitz;
  if (!flow.expand(times, tube, lambda, 1, true)) return Uniqueness::open;
  const IntervalMatrix M = coupling_of(flow, laws, rest, static_cast<int>(tube.size()));
  return keeps_solutions_together(M) ? Uniqueness::contraction : Uniqueness::open;
}

void Inclusion::judge_step(OpenFlow& flow) {
  bool are_functions = true;
  for (std::size_t a = 0; a < laws_.size(); ++a) {
    OpenLaw& open = laws_[a];
    are_functions = are_functions && open.graph.is_function;
    const int sign = flow.is_disturbed(static_cast<int>(a)) ? 0 : certain_sign(open.rate);
    open.way = way_with(open, sign, t_);
    open.met.insert(open.graph.branches.begin(), open.graph.branches.end());
  }
  is_function_ = is_function_ && are_functions;
  if (is_unique_ && !are_functions) judge_jumps(flow);
}

/// While members come into a mode some are no solutions yet: then only laws without jumps tell.
void Inclusion::judge_jumps(OpenFlow& flow) {
  const Uniqueness why = is_settled() ? uniqueness_of_step(flow, laws_, flows_->flows().system(),
                                                           Interval(t_) + times_, tube_, lambda_)
                                      : Uniqueness::open;
  is_unique_ = why != Uniqueness::open;
  is_contracting_ = is_contracting_ || why == Uniqueness::contraction;
}

}  // namespace perp::enclosure
