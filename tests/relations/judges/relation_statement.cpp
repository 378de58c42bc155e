// Company, chains behind, order and words: the same equations in another statement.
#include <fmt/format.h>
#include <algorithm>
#include <variant>
#include <vector>

#include <perp/models/language/hybrid/hybrid_parts.hpp>
#include <perp/schemes/events/time_switches.hpp>
#include <perp/schemes/system_parts.hpp>
#include <perp/tests/relations/models/generate.hpp>
#include <perp/tests/relations/models/transform.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

constexpr int chain_length = 72;  ///< steps of so many unknowns are made without maps of modes

bool has_time_switches(const Model& model) {
  if (model.hybrid != nullptr) return false;
  if (const Lcs* lcs = model.system.affine()) return !TimeSwitches(sparse(*lcs)).empty();
  return !TimeSwitches(model.system.functions(), TimeSwitches::Of::jumps).empty();
}

/// How many systems that do not act on each other.
std::size_t parts_of(const Model& model) {
  if (model.hybrid != nullptr)
    return static_cast<std::size_t>(independent_sets(*model.hybrid, structure_of(*model.hybrid)).parts());
  if (const Lcs* lcs = model.system.affine()) return independent_parts(sparse(*lcs)).size();
  return independent_parts(model.system.functions()).size();
}

}  // namespace

Judgement judge_company(Subject& subject, SchemeName scheme, std::mt19937& random) {
  // A capturing step ends where any law changes its branch: only company without events of its own,
  // or with the same ones, leaves the steps what they are.
  const bool is_copy = random() % 4 == 0 && subject.model().laws.size() <= 3;
  const bool has_binaries = is_hybrid(subject.model());
  const unsigned which = scheme == SchemeName::located || subject.read().hybrid != nullptr ? random() : 2U;
  const RandomModel other = is_copy ? subject.model() : has_binaries ? hybrid_companion(which) : companion(which);
  Correspondence by = identity(static_cast<int>(subject.model().variables.size()));
  by.all_events = false;
  const std::string both = text(joined(subject.model(), other));
  // Laws stand for binaries where they do for all of them.
  by.same_laws = !has_binaries || (read_random_model(both).hybrid == nullptr) == (subject.read().hybrid == nullptr);
  return compared(subject, scheme, both, by, closeness_of(scheme));
}

Judgement judge_chain(Subject& subject, SchemeName scheme, std::mt19937& random) {
  if (scheme == SchemeName::located || !has_matrices(subject.model())) return {};
  RandomModel longer = subject.model();
  const auto first = static_cast<int>(longer.variables.size());
  int driver = static_cast<int>(random() % longer.variables.size());
  for (int k = 0; k < chain_length; ++k) {
    const Factor before{.index = driver}, own{.index = first + k};
    longer.variables.push_back({.name = fmt::format("chain{}", k + 1)});
    longer.equations.push_back({.derivative = first + k, .right = {{1, {before}}, {-1, {own}}}});
    driver = first + k;
  }
  Correspondence by = identity(first);
  Judgement judgement = compared(subject, scheme, text(longer), by, closeness_of(scheme));
  if (judgement.verdict == Verdict::different && judgement.has_choice)
    judgement.verdict = Verdict::choice;
  return judgement;
}

Judgement judge_order(Subject& subject, SchemeName scheme, std::mt19937& random) {
  const Order order = random_order(subject.model(), random);
  Correspondence by = identity(static_cast<int>(subject.model().variables.size()));
  by.variables = order.variables;
  by.same_laws = subject.read().hybrid == nullptr;  // an event of several binaries names the first declared
  Judgement judgement = compared(subject, scheme, text(permuted(subject.model(), order)), by,
                                 closeness_of(scheme));
  if (judgement.verdict == Verdict::different && judgement.has_choice)
    judgement.verdict = Verdict::choice;
  return judgement;
}

Judgement judge_words(Subject& subject, SchemeName scheme, std::mt19937& random) {
  const RandomModel& model = subject.model();
  Correspondence by = identity(static_cast<int>(model.variables.size()));
  by.same_laws = false;
  std::string other;
  const unsigned form = random() % 5;
  if (form == 0) {
    other = text(with_clock(model));
  } else if (form == 1) {
    const double shift = static_cast<double>(random() % 1000) / 256 - 2;
    other = text(shifted(model, shift));
    by.time_shift = shift;
  } else if (form == 2 && has_matrices(model)) {
    other = matrix_text(model);
  } else {
    other = text(reworded(model, random));
  }
  // A capturing step ends where a function of time switches, wherever a state that is the clock would, and parts that the
  // clock joins end their steps together: pieces of steps may be others then, and with them the error of the scheme.
  const bool has_other_steps = form == 0 && scheme == SchemeName::backward_euler &&
                               (has_time_switches(subject.read()) ||
                                parts_of(read_random_model(other)) < parts_of(subject.read()));
  const Closeness closeness = has_other_steps ? Closeness{1e-3, 1e-3} : closeness_of(scheme);
  // Where laws stand for binaries, in the model or a part of it, a start that constraints exclude is told by a warning.
  by.same_start_events = !is_hybrid(model);
  Judgement judgement = compared(subject, scheme, other, by, closeness);
  if (judgement.verdict != Verdict::different) return judgement;
  // Forms that share a law slide with one multiplier; a law that is stated beside them has its own.
  const std::vector<Law> there = read_random_model(other).laws();
  const bool may_share = std::ranges::any_of(subject.outcome(scheme).laws, is_shared) || std::ranges::any_of(there, is_shared);
  if (judgement.has_choice || may_share) judgement.verdict = Verdict::choice;
  return judgement;
}

}  // namespace perp::relations
