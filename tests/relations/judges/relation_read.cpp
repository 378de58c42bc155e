// Units, company and order of models that were read, as the zoo is.
#include <algorithm>
#include <numeric>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/relations/models/generate.hpp>
#include <perp/tests/relations/models/model_transform.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

std::vector<int> shuffled(std::size_t size, std::mt19937& random) {
  std::vector<int> places(size);
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), random);
  return places;
}

/// A norm chose between several solutions: with other numbers, or another order of equal ones, it is
/// free to choose another one.
Judgement unless_chosen(Judgement judgement, Subject& subject, SchemeName scheme) {
  if (judgement.verdict == Verdict::different && subject.outcome(scheme).has_choice())
    judgement.verdict = Verdict::choice;
  return judgement;
}

Judgement in_other_units(Subject& subject, SchemeName scheme, const SystemUnits& units,
                         const Closeness& closeness) {
  Correspondence by = identity(static_cast<int>(subject.read().variables.size()));
  by.factors = units.variables;
  by.time_factor = units.time;
  return unless_chosen(
      compared(subject, scheme, run(in_units(subject.read(), units), scheme), by, closeness),
      subject, scheme);
}

}  // namespace

Judgement judge_read_units(Subject& subject, SchemeName scheme, std::mt19937& random) {
  return in_other_units(subject, scheme, units_in_powers(subject.read(), random, 2, 30),
                        {1e-9, 1e-9});
}

Judgement judge_read_decimal_units(Subject& subject, SchemeName scheme, std::mt19937& random) {
  return in_other_units(subject, scheme, units_in_powers(subject.read(), random, 10, 9),
                        {1e-8, 1e-8});
}

Judgement judge_read_company(Subject& subject, SchemeName scheme, std::mt19937& random) {
  const Model& model = subject.read();
  const unsigned which = scheme == SchemeName::located ? random() : 2U;
  const Model other = read_model_text(text(companion(which)), "companion.toml");
  Correspondence by = identity(static_cast<int>(model.variables.size()));
  by.all_events = false;
  return compared(subject, scheme, run(joined(model, other), scheme), by, closeness_of(scheme));
}

Judgement judge_read_order(Subject& subject, SchemeName scheme, std::mt19937& random) {
  const Model& model = subject.read();
  const std::size_t n = model.variables.size();
  Correspondence by = identity(static_cast<int>(n));
  by.variables = shuffled(n, random);
  const Model other = permuted(model, by.variables, shuffled(n, random),
                               shuffled(model.laws().size(), random));
  return unless_chosen(compared(subject, scheme, run(other, scheme), by, closeness_of(scheme)),
                       subject, scheme);
}

const std::vector<Relation>& relations_of_read_models() {
  static const std::vector<Relation> table{
      {"units", judge_read_units},     {"decimal_units", judge_read_decimal_units},
      {"company", judge_read_company}, {"order", judge_read_order},
      {"schemes", judge_schemes},      {"solvers", judge_solvers},
      {"time", judge_time},
  };
  return table;
}

}  // namespace perp::relations
