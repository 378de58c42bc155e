#pragma once

#include <optional>
#include <string>

#include <perp/models/language/multilinear/linearization.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp::reader {

/// The matrices of a [multilinear] table: S, Phi_f, Phi_g, or as the MTI toolbox splits them,
/// F = { stateDerivative, state, input, algebraic, boolean } and phi = { equality, inequality }. Each
/// is the name of a Matrix Market file, "file.h5" or "file.h5:/group/S", or { rows, columns, entries
/// }; or all of them are the objects of these names in `file`, below `group`.
class MatrixSource {
 public:
  /// `model`: to whose hash and data files the matrices of files are added.
  MatrixSource(const Context& context, const Value& table, SignalCounts counts, Model& model)
      : context_(context), document_(context.document()), table_(table), counts_(counts), model_(model) {}

  /// Checked: the rows of S and Phi_f, the columns of all. Throw ModelError.
  ///@{
  [[nodiscard]] SparseEntries S() const;
  [[nodiscard]] SparseEntries phi_f(int columns) const;
  [[nodiscard]] SparseEntries phi_g(int columns) const;
  ///@}

 private:
  struct Found {
    SparseEntries matrix{};
    const Value* place = nullptr;  ///< null: there is none
  };
  [[nodiscard]] Found find(const std::string& whole, const std::string& table,
                           const std::string& part) const;
  [[nodiscard]] Found in_file(const std::string& object) const;
  [[nodiscard]] SparseEntries matrix(const Value& value, const std::string& name,
                                     const std::string& object) const;
  [[nodiscard]] SparseEntries inline_matrix(const Value& value, const std::string& name) const;
  [[nodiscard]] SparseEntries of_file(const Value& place, const std::string& given,
                                      const std::string& object, const std::string& name) const;
  [[nodiscard]] std::optional<SparseEntries> of_hdf5(const Value& place, const std::string& given,
                                                     const std::string& object) const;
  [[nodiscard]] SparseEntries split_S() const;
  /// Throws where part F.NAME has not so many rows, or not so many columns (-1: any number).
  void check_size(const Found& part, const char* name, int rows, int columns) const;
  void append(const char* name, int rows, SparseEntries& S) const;
  [[nodiscard]] int size_of(const Value& value, const char* key) const;
  [[nodiscard]] std::string path_of(const std::string& given) const;
  void check_columns(const Found& phi, const std::string& name, int columns) const;

  const Context& context_;
  const Document& document_;
  const Value& table_;
  SignalCounts counts_;
  Model& model_;
};

}  // namespace perp::reader
