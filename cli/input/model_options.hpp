#pragma once

#include <map>
#include <string>
#include <vector>

#include <perp/analysis/run/reading.hpp>
#include <perp/cli/input/command_line.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp::io {
class FilesOfCommand;
}

namespace perp::cli {

/// The options of every command that takes a MODEL: they override keys of its file.
struct ModelOptions {
  std::string model;  ///< a file, a name of the zoo, or - for standard input
  std::vector<std::string> set;
  std::string set_file;  ///< more of them, which `set` overrides
  /// Values of flags by the key of [run] that they override: "h" for --h; empty where not given.
  std::map<std::string, std::string> run;
  /// Keys of [run] on which the command's answer depends; others are errors as flags and in --set.
  /// Empty: those of the scheme.
  std::vector<std::string> run_keys;
  bool hybrid = false;  ///< the command knows models that need `Model::hybrid`
  bool plain_equations = false;  ///< equations without binaries and constraints are read as such a model too
  bool exact = false;  ///< numbers are exact and may be intervals: see ReadOptions

  void add_to(CommandLine& line);       ///< MODEL and --set
  void add_optional_to(CommandLine& line);  ///< the same where the command may do without MODEL
  void add_set_to(CommandLine& line);   ///< --set and --set-file alone
  void add_span_to(CommandLine& line);  ///< --t
  /// The flags of these keys of [run].
  void add_run_to(CommandLine& line, const std::vector<std::string>& keys);
  /// The flags of all options of the schemes but --h.
  void add_scheme_to(CommandLine& line);

  /// What --set and --set-file give, each with what messages call it. Throws InvalidInput, FileError.
  [[nodiscard]] std::vector<WrittenOverride> assignments() const;
  /// Those of flags.
  [[nodiscard]] std::vector<WrittenOverride> of_flags() const;
  /// What --set and --set-file give as texts "NAME=VALUE", for provenance.
  [[nodiscard]] std::vector<std::string> assignment_texts() const;
  /// Is a model given, or a value of one?
  [[nodiscard]] bool is_given() const { return !(model.empty() && set.empty() && set_file.empty()); }
  /// The files that are read. Throws InvalidInput.
  void declare(io::FilesOfCommand& files) const;
  /// The same with the files that the model names.
  void declare(io::FilesOfCommand& files, const Model& read) const;
};

/// The files that a model names are read. Throws InvalidInput, FileError: see FilesOfCommand.
void declare_data(io::FilesOfCommand& files, const Model& read);

/// "--cross-check" of the key cross_check.
std::string flag_of(const std::string& key);

/// The file of MODEL, parsed once, with the overrides of the options.
class ModelReader {
 public:
  /// Throws ModelError, InvalidInput, FileError.
  explicit ModelReader(const ModelOptions& options);

  /// The model; overrides in `set` count after those of all options, `more` are start values of
  /// variables given by the option `more_option`. h is never 0 in the result. Errors in an option
  /// name the option as the user wrote it. May be called by several threads at once. Throws
  /// ModelError, InvalidInput.
  [[nodiscard]] Model operator()(const std::vector<Override>& set,
                                 const std::vector<Override>& more,
                                 const std::string& more_option) const;

  /// The same with its binaries and constraints as they stand there; nothing where the file has laws.
  [[nodiscard]] std::optional<HybridModel> hybrid(const std::vector<Override>& more,
                                                  const std::string& more_option) const;

 private:
  [[nodiscard]] std::vector<WrittenOverride> written(const std::vector<Override>& more,
                                                     const std::string& more_option) const;
  template <class Read>
  auto in_users_words(const std::vector<Override>& set, const std::vector<Override>& more,
                      const std::string& more_option, const Read& read) const;

  std::vector<WrittenOverride> set_;
  std::vector<WrittenOverride> shortcuts_;  // of flags
  ModelText text_;
};

/// The model with all overrides; last come `more`, start values of variables given by the option
/// `more_option`. h is never 0 in the result. Errors in an option name the option as the user wrote
/// it. Throws ModelError, InvalidInput, FileError.
Model read(const ModelOptions& options, const std::vector<Override>& more = {},
           const std::string& more_option = "--at");

}  // namespace perp::cli
