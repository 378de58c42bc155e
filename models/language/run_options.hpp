#pragma once

#include <string>
#include <variant>
#include <vector>

#include <perp/models/language/model.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp {

struct IntegrateOptions;
struct Trajectory;

/// One option of a run. This table is where it is declared: the key of [run], `--set run.KEY`, the
/// flag --KEY with its line of --help, the checks of its value and the provenance are made from it.
struct RunOption {
  /// The numbers that it may be: an interval, open at ends where `open` says so.
  struct Allowed {
    double lower, upper;
    bool open;
    const char* text;  ///< "a number > 0"
  };
  using Member = std::variant<double RunOptions::*, bool RunOptions::*, std::string RunOptions::*>;

  const char* key;
  Member member;
  const char* placeholder;  ///< of its value in --help
  const char* meaning;
  Allowed allowed{};                                     ///< of a number
  std::vector<std::string> KnownNames::*names = nullptr;  ///< of a word

  /// Is it on or off?
  [[nodiscard]] bool is_flag() const { return std::holds_alternative<bool RunOptions::*>(member); }
};

/// All of them but `t`, which is a pair of numbers, in alphabetical order.
const std::vector<RunOption>& run_options();

/// Steps of an affine system with at most so many modes find their solutions in a table of all modes.
inline constexpr long most_tabled_modes = 256;

/// A key that a scheme reads for some models and selectors only.
struct ConditionalKey {
  const char* key;
  /// Empty where it has an effect, else why it has none.
  std::string (*without_effect)(const Model& model);
};

/// A scheme and the keys that it reads, in alphabetical order. `t` and `scheme` belong to all.
struct SchemeKeys {
  const char* name;
  std::vector<std::string> keys;
  std::vector<ConditionalKey> conditional{};  ///< of `keys`
};

/// A scheme as model files and the command line name it: one constant each, in
/// analysis/schemes/<name>.cpp.
struct SchemeEntry {
  const char* name;
  const char* meaning;  ///< one line for people
  std::vector<std::string> keys;              ///< see SchemeKeys
  std::vector<ConditionalKey> conditional{};  ///< of `keys`
  /// Integrates the model with the options of its [run] table.
  Trajectory (*run)(const Model& model, const IntegrateOptions& options);
  /// Weight θ of the new state in one step (1: backward Euler).
  double (*theta)(const RunOptions& options) = [](const RunOptions&) { return 1.0; };
  /// Throws InvalidInput where it cannot run the model; null: it runs all.
  void (*check)(const Model& model) = nullptr;
  bool lists_solutions = false;  ///< Can all solutions of a step be listed?
  bool runs_binaries = false;    ///< also those that no law of their own stands for?
  bool rebounds = false;         ///< Do contacts rebound by Newton's coefficient?
};

/// All of them, in alphabetical order.
const std::vector<const SchemeEntry*>& scheme_entries();

const std::vector<SchemeKeys>& scheme_keys();

/// Where laws do not say which values of binaries continue, a rule of its own does, and no selector.
std::string modes_by_rule(const Model& model);
/// A solver and its tolerance are of steps that are not found in the table of modes: why none is
/// called, empty where one is.
std::string no_solver_is_called(const Model& model);

/// Does the scheme read this key?
bool reads(const std::string& scheme, const std::string& key);

/// Does the scheme of this model's run read the key, for such a model with its selector?
bool has_effect(const Model& model, const std::string& key);

/// "backward_euler, theta": the schemes that read a key.
std::string schemes_reading(const std::string& key);

/// Does the scheme make contacts rebound by Newton's coefficient?
bool honours_restitution(const std::string& scheme);

}  // namespace perp
