#include <perp/core/base/error.hpp>
#include <perp/tests/relations/models/transform.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::same: return "same";
    case Verdict::different: return "different";
    case Verdict::tie: return "tie";
    case Verdict::choice: return "choice";
    case Verdict::unusable: return "unusable";
  }
  return "";
}

const Model& Subject::read() {
  if (!read_) read_ = read_random_model(text(model_));
  return *read_;
}

const Outcome& Subject::outcome(SchemeName scheme) {
  const auto [place, is_new] = outcomes_.try_emplace(scheme);
  if (!is_new) return place->second;
  try {
    place->second = run(read(), scheme);
  } catch (const InvalidInput& error) {
    place->second.refusal = error.what();
  }
  return place->second;
}

Outcome Subject::perturbed_outcome(SchemeName scheme, std::mt19937& random, double amount) {
  if (!model_.variables.empty()) return run(text(perturbed(model_, random, amount)), scheme);
  std::uniform_real_distribution<double> relative(-amount, amount);
  Model other = read();
  for (Variable& variable : other.variables) variable.start *= 1 + relative(random);
  return run(other, scheme);
}

bool Subject::is_at_tie(SchemeName scheme, const Closeness& closeness) {
  // Changes of the last digits, and for a scheme with errors of its own of the size of these.
  const double amount = scheme == SchemeName::located ? 1e-10 : 1e-12;
  const Correspondence by = identity(static_cast<int>(read().variables.size()));
  std::mt19937 random(model_.seed);
  for (int k = 0; k < 3; ++k)
    if (!difference(outcome(scheme), perturbed_outcome(scheme, random, amount), by, closeness)
             .empty())
      return true;
  return false;
}

const std::vector<Relation>& relations() {
  static const std::vector<Relation> table{
      {"units", judge_binary_units},  {"decimal_units", judge_decimal_units},
      {"company", judge_company},     {"order", judge_order},
      {"words", judge_words},         {"schemes", judge_schemes},
      {"solvers", judge_solvers},     {"time", judge_time},
      {"roots", judge_roots},         {"enclosures", judge_enclosures},
      {"chain", judge_chain},         {"offsets", judge_offsets},
      {"system", judge_system},       {"every", judge_every},
      {"sweep", judge_sweep},
  };
  return table;
}

Judgement judge(const Relation& relation, Subject& subject, SchemeName scheme) {
  std::seed_seq seeds{subject.model().seed, static_cast<unsigned>(relation.name[0]),
                      static_cast<unsigned>(relation.name[1]), static_cast<unsigned>(scheme)};
  std::mt19937 random(seeds);
  return relation.judge(subject, scheme, random);
}

Judgement compared(Subject& subject, SchemeName scheme, const std::string& other,
                   const Correspondence& by, const Closeness& closeness) {
  Judgement judgement;
  if (!subject.outcome(scheme).is_slow)
    judgement = compared(subject, scheme, run(other, scheme), by, closeness);
  judgement.other = other;
  return judgement;
}

Judgement compared(Subject& subject, SchemeName scheme, const Outcome& there,
                   const Correspondence& by, const Closeness& closeness) {
  const Outcome& here = subject.outcome(scheme);
  Judgement judgement;
  if (here.is_slow || there.is_slow || (!here.refusal.empty() && !there.refusal.empty()))
    return judgement;
  judgement.has_choice = here.has_choice() || there.has_choice();
  judgement.what = difference(here, there, by, closeness);
  judgement.same_bits = judgement.what.empty() && same_bits(here, there, by);
  judgement.verdict = Verdict::same;
  if (judgement.what.empty()) return judgement;
  judgement.verdict = Verdict::different;
  if (subject.is_at_tie(scheme, closeness)) judgement.verdict = Verdict::tie;
  // not_solved claims nothing: that no mode continues is proved where the statement is affine.
  const auto is_end = [](const Outcome& run) {
    return run.run.status == Status::no_solution || run.run.status == Status::not_solved;
  };
  if (is_hybrid(subject.model()) && here.run.status != there.run.status && is_end(here) && is_end(there))
    judgement.verdict = Verdict::unusable;
  return judgement;
}

}  // namespace perp::relations
