#include <perp/tests/relations/models/transform.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

Judgement in_other_units(Subject& subject, SchemeName scheme, Units units,
                         const Closeness& closeness, bool to_the_bit) {
  const RandomModel other = in_units(subject.model(), units);
  Correspondence by = identity(static_cast<int>(units.variables.size()));
  by.factors = units.variables;
  by.time_factor = units.time;
  Judgement judgement = compared(subject, scheme, text(other), by, closeness);
  if (to_the_bit && judgement.verdict == Verdict::same && !judgement.same_bits) {
    judgement.verdict = Verdict::different;
    judgement.what = "not the same to the bit";
  }
  if (judgement.verdict == Verdict::different && judgement.has_choice)
    judgement.verdict = Verdict::choice;
  return judgement;
}

}  // namespace

Judgement judge_binary_units(Subject& subject, SchemeName scheme, std::mt19937& random) {
  const int k = random() % 4 == 0 ? 30 : 6;
  const bool to_the_bit = scheme == SchemeName::backward_euler;  // nothing is rounded in between
  return in_other_units(subject, scheme, binary_units(subject.model(), random, k), {1e-9, 1e-9},
                        to_the_bit);
}

Judgement judge_decimal_units(Subject& subject, SchemeName scheme, std::mt19937& random) {
  const double k = random() % 4 == 0 ? 9 : 2;
  return in_other_units(subject, scheme, decimal_units(subject.model(), random, k), {1e-8, 1e-8},
                        false);
}

}  // namespace perp::relations
