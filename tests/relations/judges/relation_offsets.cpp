#include <algorithm>
#include <cmath>

#include <perp/tests/relations/models/transform.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

/// Calls f(j) for the variables of a sum.
template <class F>
void for_each_variable(const Sum& sum, const F& f) {
  for (const Term& term : sum)
    for (const Factor& factor : term.factors)
      if (factor.kind == Factor::Kind::variable) f(factor.index);
}

/// Velocities of contacts are counted from 0: the derivative of a position is to be one variable, else `located` takes the
/// impact for a jump, and says so.
void keep_velocities(const RandomModel& model, std::vector<double>& origins) {
  for (const RandomLaw& law : model.laws) {
    if (law.kind != LawKind::complementarity) continue;
    for_each_variable(law.argument, [&](int position) {
      for (const RandomEquation& equation : model.equations)
        if (equation.derivative == position)
          for_each_variable(equation.right, [&](int velocity) { origins[static_cast<std::size_t>(velocity)] = 0; });
    });
  }
}

}  // namespace

// x' = x + c, c a power of two times the size of x. What is rounded of x' is c/x times as much of x, and an error of `located`,
// which is relative to x', too.
Judgement judge_offsets(Subject& subject, SchemeName scheme, std::mt19937& random) {
  const RandomModel& model = subject.model();
  const int most = scheme == SchemeName::located ? 6 : 12;
  Correspondence by = identity(static_cast<int>(model.variables.size()));
  for (const RandomVariable& variable : model.variables) {
    const int k = std::uniform_int_distribution<int>(-1, most)(random);
    const double size = std::max(std::abs(variable.start), variable.nominal);
    by.origins.push_back(std::ldexp(random() % 2 == 0 ? 1 : -1, k + std::ilogb(size)));
  }
  keep_velocities(model, by.origins);
  const std::string other = text(from_origins(model, by.origins));
  std::ranges::for_each(by.origins, [](double& origin) { origin = -origin; });
  Judgement judgement = compared(subject, scheme, other, by, Closeness{1e-6, 1e-6});
  if (judgement.verdict != Verdict::different) return judgement;
  // Arguments that are multiples of each other share a law as long as both are counted from 0.
  const Outcome& here = subject.outcome(scheme);
  if (judgement.has_choice || std::ranges::any_of(here.laws, is_shared)) judgement.verdict = Verdict::choice;
  return judgement;
}

}  // namespace perp::relations
