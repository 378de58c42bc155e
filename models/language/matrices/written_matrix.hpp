#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <perp/models/language/data/matrix_market.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp::reader {

/// An entry of a matrix as it is written: in the model's file, or in one of its own.
struct WrittenEntry {
  int row = 0, column = 0;
  const Value* value = nullptr;                ///< null: in a file of its own
  const MarketMatrix::Entry* of_file = nullptr;
};

/// A file of [system] and what it says.
struct MatrixFile {
  std::string name, text{};
  MarketMatrix matrix{};
};

/// A matrix or vector of [system] as it is written, of which the shape is right and no place is given twice: full rows
/// [[1, 0], [0, "k"]]; { entries = [[1, 1, 1], [2, 2, "k"]] }; or { file = "A.mtx" }. A vector is a list of numbers,
/// { entries = [[2, "k"]] }, or a file with one column.
class WrittenMatrix {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int columns() const { return columns_; }
  /// Is it given by its entries?
  [[nodiscard]] bool is_sparse() const { return is_sparse_; }

  /// The entries of a row that are written, with increasing columns.
  [[nodiscard]] std::vector<WrittenEntry> row(int i) const;
  /// "A(1,2)", "b(3)"
  [[nodiscard]] std::string place(const WrittenEntry& entry) const;
  /// An expression that is the entry, to the digit.
  [[nodiscard]] std::string text(const Context& context, const WrittenEntry& entry) const;
  /// What it is. Throws ModelError where it is no number of parameters.
  [[nodiscard]] double number(const Context& context, const WrittenEntry& entry) const;
  /// At the entry in the model's file, or at the name of the matrix's own.
  [[noreturn]] void fail(const Context& context, const WrittenEntry& entry, std::size_t offset, const std::string& message) const;

 private:
  friend class WrittenMatrices;
  WrittenMatrix(const Value& value, std::string name, int rows, int columns, bool is_vector)
      : value_(&value), name_(std::move(name)), rows_(rows), columns_(columns), is_vector_(is_vector) {}
  [[nodiscard]] std::size_t common_length(const Context& context, const std::string& what) const;
  void check_rows(const Context& context) const;
  void check_list(const Context& context) const;
  void take_entries(const Context& context);
  [[nodiscard]] WrittenEntry entry_of(const Context& context, const Value& item) const;
  [[nodiscard]] int index(const Context& context, const Value& value, const char* what, int most) const;
  void take_file(const Context& context, std::shared_ptr<const MatrixFile> file);
  void sort(const Context& context);
  [[noreturn]] void refuse_second(const Context& context, const WrittenEntry& first, const WrittenEntry& second) const;

  const Value* value_;
  std::string name_;
  int rows_, columns_;
  bool is_vector_, is_sparse_ = false;
  std::shared_ptr<const MatrixFile> file_{};
  std::vector<WrittenEntry> entries_{};       // row by row; of a sparse one
  std::vector<std::size_t> start_{};          // of each row among them, and their number
};

/// Those of one [system].
class WrittenMatrices {
 public:
  /// `model`: to whose hash and data files the files of matrices are added.
  WrittenMatrices(const Context& context, const Value& table, Model& model) : context_(context), table_(table), model_(model) {}

  /// Null where the table has no such key. Throws ModelError for what is wrong with its shape or a place. `columns` < 0: a vector.
  const WrittenMatrix* find(const char* name, int rows, int columns);
  /// Is a matrix, no vector, of those found so far given by its entries?
  [[nodiscard]] bool is_sparse() const;

 private:
  WrittenMatrix written(const Value& value, const char* name, int rows, int columns);
  std::shared_ptr<const MatrixFile> file(const Value& place, const char* name);

  const Context& context_;
  const Value& table_;
  Model& model_;
  std::map<std::string, WrittenMatrix> known_;
  std::map<std::string, std::shared_ptr<const MatrixFile>> files_;
};

}  // namespace perp::reader
