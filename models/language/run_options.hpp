#pragma once

#include <string>
#include <variant>
#include <vector>

#include <perp/models/language/model.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp {

struct IntegrateOptions;
struct Trajectory;

/// One option of a scheme: the key of [run], `--set run.KEY`, the flag --KEY with its line of --help,
/// the checks of its value, `perp list schemes --options` and the provenance are made from it.
struct RunOption {
  /// The numbers that it may be: an interval, open at ends where `open` says so.
  struct Allowed {
    double lower = -inf, upper = inf;
    bool open = true;
    const char* text = "a number";  ///< "a number > 0"
  };
  /// A number that this scheme alone has: `RunOptions::own` under its key.
  struct Own {
    double fallback;  ///< where none is given
  };
  using Member = std::variant<double RunOptions::*, bool RunOptions::*, std::string RunOptions::*, Own>;

  const char* key;
  Member member;
  const char* placeholder;  ///< of its value in --help
  const char* meaning;      ///< for this scheme
  Allowed allowed{};        ///< of a number
  std::vector<std::string> (*names)() = nullptr;  ///< those that a word may be; null: any text
  /// Empty where it has an effect on runs of the model, else why it has none; null: it always has.
  std::string (*without_effect)(const Model& model) = nullptr;

  /// Is it on or off?
  [[nodiscard]] bool is_flag() const { return std::holds_alternative<bool RunOptions::*>(member); }
};

/// What lengths and tolerances may be.
inline constexpr RunOption::Allowed positive_number{0, inf, true, "a number > 0"};
/// What θ may be.
inline constexpr RunOption::Allowed theta_weight{0.5, 1, false, "a number in [0.5, 1]"};

/// A scheme as model files and the command line name it: one constant each, in
/// analysis/schemes/<name>.cpp.
struct SchemeEntry {
  const char* name;
  const char* meaning;  ///< one line for people
  std::vector<RunOption> options;  ///< in alphabetical order; `t` and `scheme` belong to all
  /// Integrates the model with the options of its [run] table.
  Trajectory (*run)(const Model& model, const IntegrateOptions& options);
  /// Weight θ of the new state in one step (1: backward Euler).
  double (*theta)(const RunOptions& options) = [](const RunOptions&) { return 1.0; };
  /// Throws InvalidInput where it cannot run the model; null: it runs all.
  void (*check)(const Model& model) = nullptr;
  /// Integrates several models together, each with the result of `run`; null: one after the other.
  std::vector<Trajectory> (*run_all)(const std::vector<const Model*>& models,
                                     const std::vector<const IntegrateOptions*>& options) = nullptr;
  bool lists_solutions = false;  ///< Can all solutions of a step be listed?
  bool runs_binaries = false;    ///< also those that no law of their own stands for?
  bool rebounds = false;         ///< Do contacts rebound by Newton's coefficient?
  bool keeps_state = false;      ///< Can a run be kept between two steps and gone on with, see KeptState?

  /// Its option of this key, null where it has none.
  [[nodiscard]] const RunOption* option(const std::string& key) const;
  /// The keys of its options.
  [[nodiscard]] std::vector<std::string> keys() const;
};

/// All of them, in alphabetical order.
const std::vector<const SchemeEntry*>& scheme_entries();

/// The scheme of this name, null where there is none.
const SchemeEntry* find_scheme(const std::string& name);

/// Every key that some scheme has, and `scheme`, in alphabetical order; an option that several
/// schemes have as the first of them declares it.
const std::vector<RunOption>& run_options();

/// What a key means for which schemes.
struct OptionMeaning {
  const char* text;
  std::vector<std::string> schemes;
};
std::vector<OptionMeaning> meanings_of(const std::string& key);
/// The same as text: "step length (schemes backward_euler, theta); distance of rows (scheme located)".
std::string meaning_of(const std::string& key);

/// Does the scheme have this option?
bool reads(const std::string& scheme, const std::string& key);

/// Does the scheme of this model's run have the option, for such a model with its selector?
bool has_effect(const Model& model, const std::string& key);

/// "backward_euler, theta": the schemes that have an option.
std::string schemes_reading(const std::string& key);

/// Does the scheme make contacts rebound by Newton's coefficient?
bool honours_restitution(const std::string& scheme);

}  // namespace perp
