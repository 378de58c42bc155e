#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <perp/core/expression/expression.hpp>
#include <perp/models/language/model.hpp>
#include <perp/models/language/reader/document.hpp>

namespace perp {

/// A model given by matrices that was read once, to be had for other numbers of some of its overrides, which give
/// parameters and starts: the entries of matrices that hold these parameters are evaluated, all else stays.
class Rebinding {
 public:
  /// `model` is what the document reads as; `changes`: of each of its overrides, may it be another one? Nothing where something
  /// else depends on these, or one of them is no plain number.
  static std::unique_ptr<const Rebinding> of(const reader::Document& document, const Model& model, const std::vector<bool>& changes);

  /// What the document reads as with these overrides, to the bit; nothing: who wants to know reads it.
  [[nodiscard]] std::optional<Model> model(const std::vector<Override>& overrides) const;

 private:
  /// An entry that holds a parameter which changes.
  struct Entry {
    Matrix Lcs::*matrix;
    Eigen::Index row, column;
    Expression formula;
  };
  /// What an override gives.
  struct Place {
    bool changes = false;
    bool is_start = false;  ///< of a variable, else a parameter
    std::size_t number = 0;
  };

  bool find_places(const std::vector<bool>& changes);
  void find_entries(const reader::Document& document);
  [[nodiscard]] std::optional<std::vector<double>> numbers_of(const std::vector<Override>& overrides) const;
  [[nodiscard]] bool put_entries(Model& model) const;

  Model base_;
  Digest digest_{};  // of the file
  std::vector<Override> overrides_;
  std::vector<Place> places_;          // one for each of them
  std::vector<std::string> names_;     // of the parameters and variables that change
  std::vector<Entry> entries_;
};

/// The models of one text that are read one after the other, with other numbers in overrides of the same keys. May be asked
/// by several threads at once.
class Rebindings {
 public:
  /// As a document with these overrides reads; nothing: it has to be read.
  [[nodiscard]] std::optional<Model> model(const std::vector<Override>& overrides);
  /// It was read: this model.
  void note(const reader::Document& document, const Model& model);

 private:
  std::mutex mutex_;
  std::vector<Override> last_;   // that a document was read with
  std::vector<bool> changes_;    // which of them have changed since
  std::shared_ptr<const Rebinding> rebinding_;
};

}  // namespace perp
