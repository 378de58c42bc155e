#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// `--set NAME=VALUE`: a parameter, a variable's start, or a key with its table ("run.h").
struct Override {
  std::string key;    ///< what is replaced
  std::string value;  ///< as it would stand in the file
};

/// A model is wrong at a known place. The message is one line, complete by itself:
///     file:line:column: what was found; what was expected; nearest known name
class ModelError : public InvalidInput {
 public:
  /// A message and the lines that show the place.
  ModelError(const std::string& message, std::string excerpt)
      : InvalidInput(message), excerpt_(std::move(excerpt)) {}
  /// The line of the file and a caret under the place, two lines; may be empty.
  [[nodiscard]] const std::string& excerpt() const { return excerpt_; }

 private:
  std::string excerpt_;
};

struct SparseEntries;

/// What whoever reads a model makes of it.
struct ReadOptions {
  /// Keys of [run] that overrides may hold, because what is to be computed depends on them; empty:
  /// those of the scheme.
  std::vector<std::string> run_keys{};
  /// Whoever reads the model knows `Model::hybrid`; else a model that needs it is refused.
  bool hybrid = false;
  /// `ModelText::read_hybrid` takes equations without binaries and constraints too.
  bool plain_equations = false;
  /// The model is run by the scheme that it names: what that cannot honour is refused.
  bool runs_scheme = false;
  /// Numbers are kept as the decimal numbers that they are, parameters and starts may be intervals:
  /// the model has `exact_numbers`. Else the middle of an interval is taken.
  bool exact = false;
  /// Reads the matrix of that name ("S", "/model/F/state") from an HDF5 file, for [multilinear]; its
  /// rows are -1 where the file does not say how many there are. Nothing where the file has no such
  /// object; FileError, and InvalidInput where the object is no matrix. Empty: such files are refused.
  /// `io::read_sparse_hdf5` is one.
  std::function<std::optional<SparseEntries>(const std::string& file, const std::string& object)>
      sparse_hdf5{};
};

/// Reads a model file (TOML 1.0; the language is described in docs/language.md).
/// Overrides replace values of the file before any expression is evaluated; two for one key are an
/// error. An exact solution is dropped where an override changes a parameter, a start
/// value or the start time, because it holds for the file's values only. Throws ModelError, and
/// FileError if the file cannot be read.
Model read_model(const std::string& file, const std::vector<Override>& overrides = {},
                 const ReadOptions& known = {});

/// The same from text; `name` stands for the file in messages.
Model read_model_text(const std::string& text, const std::string& name,
                      const std::vector<Override>& overrides = {}, const ReadOptions& known = {});

namespace reader {
class Document;
}

struct HybridModel;

/// A model file that is parsed once, to be read many times with different overrides. `read` may be
/// called by several threads at once.
class ModelText {
 public:
  /// Throws ModelError where the text is no TOML.
  ModelText(std::string text, std::string name, ReadOptions known = {});
  /// As `read_model_text`.
  [[nodiscard]] Model read(const std::vector<Override>& overrides) const;
  /// Its equations, binaries and constraints as they stand there; nothing where the file has laws.
  [[nodiscard]] std::optional<HybridModel> read_hybrid(const std::vector<Override>& overrides) const;

 private:
  std::shared_ptr<const reader::Document> document_;
  ReadOptions known_;
  struct Known;
  std::shared_ptr<Known> from_reading_;  // of copies too
};

/// A model file parsed once. Throws ModelError, and FileError if it cannot be read.
ModelText read_model_file(const std::string& file, const ReadOptions& known = {});

/// MODEL of the command line: a path, or the name of a file of the zoo without ".toml". A path that
/// does not exist but ends in the name of a zoo file is that file, so that models/<name>.toml works
/// from any folder. Throws InvalidInput with the nearest known name.
std::string find_model(const std::string& model);

/// Names of the zoo's models, in alphabetical order.
std::vector<std::string> zoo();

}  // namespace perp
