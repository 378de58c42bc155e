#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <perp/tests/relations/compare.hpp>
#include <perp/tests/relations/models/random_model.hpp>

namespace perp::relations {

enum class Verdict {
  same,
  different,
  /// The model's own outcome changes by as much when its numbers change in their last digits: a
  /// decision at a tie. Counted, not judged.
  tie,
  choice,   ///< a norm chose between several solutions, and its weights are units
  unusable  ///< the relation does not apply, or the model is refused whatever its words
};

const char* to_string(Verdict verdict);

/// What one relation says of one model under one scheme.
struct Judgement {
  Verdict verdict = Verdict::unusable;
  std::string what{};   ///< the difference in a sentence
  std::string other{};  ///< text of the model on the other side
  bool same_bits = false;
  bool has_choice = false;  ///< of several solutions or continuations, on either side
};

/// A model with its runs, made when they are first asked for.
class Subject {
 public:
  explicit Subject(RandomModel model) : model_(std::move(model)) {}
  /// A model that was read; relations between texts do not apply to it. The seed draws the other
  /// sides of relations.
  Subject(Model model, unsigned seed) : read_(std::move(model)) { model_.seed = seed; }
  [[nodiscard]] const RandomModel& model() const { return model_; }
  [[nodiscard]] std::string name() const { return read_ ? read_->name : text(model_); }
  /// Throws InvalidInput where the text is refused.
  const Model& read();
  const Outcome& outcome(SchemeName scheme);
  /// Does the outcome change by more than this when numbers change in their last digits?
  bool is_at_tie(SchemeName scheme, const Closeness& closeness);

 private:
  [[nodiscard]] Outcome perturbed_outcome(SchemeName scheme, std::mt19937& random, double amount);

  RandomModel model_;
  std::optional<Model> read_;
  std::map<SchemeName, Outcome> outcomes_;
};

struct Relation {
  const char* name;
  Judgement (*judge)(Subject& subject, SchemeName scheme, std::mt19937& random);
};

/// Every relation, in the order of the table.
const std::vector<Relation>& relations();

/// `relation` of the model of a seed: random choices depend on seed, relation and scheme alone.
Judgement judge(const Relation& relation, Subject& subject, SchemeName scheme);

// One file each ---------------------------------------------------------------------------------
Judgement judge_binary_units(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_decimal_units(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_company(Subject& subject, SchemeName scheme, std::mt19937& random);
/// Many states behind one another, the first driven by the model: its steps have many unknowns.
Judgement judge_chain(Subject& subject, SchemeName scheme, std::mt19937& random);
/// Every variable measured from another point.
Judgement judge_offsets(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_order(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_words(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_schemes(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_solvers(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_roots(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_time(Subject& subject, SchemeName scheme, std::mt19937& random);
/// Matrices by rows, by entries, and with a parameter that is bound anew: the same bits.
Judgement judge_system(Subject& subject, SchemeName scheme, std::mt19937& random);
/// Rows of every K-th step are those of the whole run, to the bit.
Judgement judge_every(Subject& subject, SchemeName scheme, std::mt19937& random);
/// The runs of a sweep over the start of a variable are those of its values alone, to the bit.
Judgement judge_sweep(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_enclosures(Subject& subject, SchemeName scheme, std::mt19937& random);

/// Units, company and order of a model that was read, on its tape.
Judgement judge_read_units(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_read_decimal_units(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_read_company(Subject& subject, SchemeName scheme, std::mt19937& random);
Judgement judge_read_order(Subject& subject, SchemeName scheme, std::mt19937& random);

/// The relations that apply to models that were read.
const std::vector<Relation>& relations_of_read_models();

/// Runs the other text under the scheme and compares with the subject's outcome.
Judgement compared(Subject& subject, SchemeName scheme, const std::string& other,
                   const Correspondence& by, const Closeness& closeness);
Judgement compared(Subject& subject, SchemeName scheme, const Outcome& there,
                   const Correspondence& by, const Closeness& closeness);

}  // namespace perp::relations
