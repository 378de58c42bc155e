// Stopping on the way and going on from there.
#include <algorithm>
#include <cmath>

#include <perp/analysis/solutions/step_answer.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

/// The values of the binaries in the last row as those before the start. False: one slides. `model` has the starts of
/// the variables already.
bool start_with(const Outcome& first, Model& model) {
  if (model.hybrid == nullptr) return true;
  HybridModel hybrid = *model.hybrid;
  for (int i = 0; i < hybrid.q(); ++i) {
    const double z = first.run.lambda.back()[i];
    if (z != 0 && z != 1) return false;
    hybrid.binaries[static_cast<std::size_t>(i)].start = static_cast<int>(z);
  }
  hybrid.head.variables = model.variables;
  model.hybrid = std::make_shared<const HybridModel>(std::move(hybrid));
  return true;
}

/// On the grid of the steps, at no round number, where an event may be.
double middle_of(const Model& model) {
  const double steps = (model.run.span.end - model.run.span.start) / model.run.h;
  return model.run.span.start + std::floor(0.43 * steps) * model.run.h;
}

/// Has the step from this state several solutions, of x⁺ or of the multipliers alone? Which of them goes on is told by the
/// mode before, which a file does not hold.
bool has_several_solutions(Model model, double t, const Vector& x) {
  if (model.hybrid != nullptr || x.size() == 0) return false;
  model.run.scheme = to_string(SchemeName::backward_euler);
  StepQuestion question;
  question.t = t;
  return answer_step(model, x, question).solutions.listed.size() > 1;
}

/// The second part of the span as a model of its own, from the last state of the first part.
Outcome in_two_parts(const Model& model, SchemeName scheme) {
  Model part = model;
  const double middle = middle_of(model);
  part.run.span.end = middle;
  Outcome whole = run(part, scheme);
  whole.span = model.run.span;
  if (whole.is_slow || !whole.refusal.empty() || whole.run.status != Status::solved) return whole;
  part.run.span = {middle, model.run.span.end};
  for (std::size_t j = 0; j < part.variables.size(); ++j)
    part.variables[j].start = whole.run.x.back()[static_cast<Eigen::Index>(j)];
  whole.is_slow = !start_with(whole, part);  // judged by nobody
  if (whole.is_slow) return whole;
  const Outcome rest = run(part, scheme);
  whole.run.provenance.insert(rest.run.provenance.begin(), rest.run.provenance.end());
  whole.is_slow = rest.is_slow;
  whole.refusal = rest.refusal;
  whole.run.status = rest.run.status;
  whole.run.message = rest.run.message;
  // The first row is the state that was written; an algebraic variable of index 2 is there the limit
  // of short steps, not that of the last step of length h.
  for (std::size_t k = 1; k < rest.run.size(); ++k)
    whole.run.append({rest.run.t[k], rest.run.x[k], rest.run.lambda[k], rest.run.w[k], rest.run.mode[k]});
  whole.run.events.insert(whole.run.events.end(), rest.run.events.begin(), rest.run.events.end());
  return whole;
}

bool is_of_first_order(const Outcome& outcome) {
  return outcome.run.provenance.contains("first order from");
}

}  // namespace

Judgement judge_time(Subject& subject, SchemeName scheme, std::mt19937& /*random*/) {
  Judgement judgement;
  judgement.other = subject.name();
  const Outcome& here = subject.outcome(scheme);
  if (!here.refusal.empty() || here.is_slow) return judgement;
  const Model& model = subject.read();
  // A file does not say which branch a law with memory was on.
  if (model.hybrid == nullptr && std::any_of(model.laws().begin(), model.laws().end(),
                  [](const Law& law) { return law.memory; }))
    return judgement;
  const Outcome there = in_two_parts(model, scheme);
  if (there.is_slow) return judgement;
  // The located scheme goes on by itself from where it was of first order when it was not stopped.
  if (is_of_first_order(here) || is_of_first_order(there)) return judgement;
  const Closeness closeness =
      scheme == SchemeName::located ? Closeness{1e-6, 1e-6} : Closeness{1e-9, 1e-6};
  judgement.what =
      difference(here, there, identity(static_cast<int>(model.variables.size())), closeness);
  judgement.verdict = Verdict::same;
  if (judgement.what.empty()) return judgement;
  judgement.verdict = Verdict::different;
  if (here.has_choice() || there.has_choice()) judgement.verdict = Verdict::choice;
  else if (subject.is_at_tie(scheme, closeness)) judgement.verdict = Verdict::tie;
  else if (has_several_solutions(model, middle_of(model), there.at(middle_of(model)))) judgement.verdict = Verdict::choice;
  return judgement;
}

}  // namespace perp::relations
