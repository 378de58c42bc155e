#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <perp/models/language/data/sparse_entries.hpp>

namespace perp {

/// A matrix as a file has it, what symmetry stands for written out.
struct MarketMatrix {
  struct Entry {
    int row = 0, column = 0;
    double value = 0;
    std::size_t at = 0;     ///< where in the text its number begins, or its line where it is a place only
    bool is_image = false;  ///< on the other side of the diagonal
  };
  int rows = 0, columns = 0;
  bool is_pattern = false;  ///< places only, whose numbers are 1
  bool is_skew = false;     ///< images have the other sign
  std::vector<Entry> entries{};

  /// The number of an entry as an expression, to the digit.
  [[nodiscard]] std::string digits(std::string_view text, const Entry& entry) const;
};

/// A matrix in the Matrix Market format: coordinate or array; real, integer or pattern; general, symmetric or
/// skew-symmetric; rows and columns from 1. `name` stands for the file in messages. Throws InvalidInput
/// "NAME:LINE:COLUMN: ...".
MarketMatrix read_matrix_market(std::string_view text, const std::string& name);
/// The same without the places.
SparseEntries parse_matrix_market(std::string_view text, const std::string& name);

/// The matrix in that format, coordinate, numbers with as many digits as they need.
std::string to_matrix_market(const SparseEntries& matrix, const std::string& comment);

}  // namespace perp
