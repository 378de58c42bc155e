#pragma once

#include <functional>
#include <string>
#include <vector>

namespace perp::io {

/// The rows of a CSV file below its header; empty lines and lines that begin with '#' are none.
class CsvFile {
 public:
  struct Row {
    std::string place;  ///< "FILE:LINE:1"
    std::vector<std::string> fields;
  };

  /// Throws InvalidInput unless the first column is `first_column`; FileError.
  CsvFile(const std::string& file, const std::string& first_column);

  /// Index of a column, -1 where it does not exist.
  [[nodiscard]] int column(const std::string& name) const;
  /// Calls `take` for every row. Throws InvalidInput where a row has more or fewer fields than the
  /// header.
  void read(const std::function<void(const Row& row)>& take) const;

 private:
  std::string file_, text_;
  std::vector<std::string> header_;
  std::size_t rows_at_ = 0;  // byte after the header
  int rows_from_ = 0;        // line of the header
};

}  // namespace perp::io
