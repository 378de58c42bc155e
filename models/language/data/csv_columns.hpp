#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perp::reader {

/// The columns of a text with a header line: fields between commas, semicolons or tabs, whichever
/// the header has, with or without quotes; empty lines and lines that begin with '#' are none.
class CsvColumns {
 public:
  /// `name` stands for the file in messages. Throws InvalidInput "NAME:LINE:1: ..." where a line has
  /// more or fewer fields than the header, and where there is no line below it.
  CsvColumns(std::string text, std::string name);
  CsvColumns(const CsvColumns&) = delete;  // fields are parts of its text
  CsvColumns& operator=(const CsvColumns&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  [[nodiscard]] int rows() const { return static_cast<int>(lines_.size()); }
  /// The line of the file in which a row stands, from 1.
  [[nodiscard]] int line(int row) const { return lines_[static_cast<std::size_t>(row)]; }

  /// The numbers of a column. Throws InvalidInput "NAME:LINE:1: ..." at what is no finite number.
  [[nodiscard]] std::vector<double> numbers(int column) const;

 private:
  std::string text_, name_;
  std::vector<std::string> header_;
  std::vector<int> lines_;                 // of each row
  std::vector<std::string_view> fields_;   // row by row
};

}  // namespace perp::reader
