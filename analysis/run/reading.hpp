#pragma once

#include <string>
#include <utility>
#include <vector>

#include <perp/models/language/read_model.hpp>

namespace perp {

struct HybridModel;

/// What a question depends on, of the model that it is asked of.
struct ReadingOptions {
  /// Keys of [run] on which the answer depends; others are errors in overrides. Empty: those of the scheme.
  std::vector<std::string> run_keys{};
  bool hybrid = false;  ///< the question knows models that need `Model::hybrid`
  bool exact = false;   ///< numbers are exact and may be intervals: see ReadOptions
  /// Equations without binaries and constraints are read as a hybrid model too.
  bool plain_equations = false;
};

/// What a reader of the model has to know.
ReadOptions read_options(const ReadingOptions& options);

/// A model to be computed with: h is never 0, as `text.read` leaves it where nothing says it. Throws ModelError.
Model read_for_run(const ModelText& text, const std::vector<Override>& overrides);

/// An override, and what messages call it: "--h 0.1" for {"run.h", "0.1"}.
struct WrittenOverride {
  Override item;
  std::string written;
};
/// Messages about an override speak of "--set KEY=VALUE:1:COLUMN"; here the user's own words stand instead.
std::string in_users_words(const std::string& message, const std::vector<WrittenOverride>& overrides);

/// Do two keys of overrides mean one, a name without its table that which it has? x, x(0) and variables.x do.
bool same_key(const std::string& a, const std::string& b);

/// The mode that consists of these branches, one for each law, by name or number (from 1). `what` names
/// them in messages. Throws InvalidInput.
Mode mode_of(const std::vector<std::string>& branches, const std::vector<Law>& laws, const std::string& what);

/// The value of each binary before: the one that is given, else its start, else NaN. Empty where none has one.
/// `what` names them in messages. Throws InvalidInput for names and numbers that are none.
std::vector<double> previous_values(const HybridModel& model,
                                    const std::vector<std::pair<std::string, double>>& given,
                                    const std::string& what);

}  // namespace perp
