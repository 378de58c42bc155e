#pragma once

#include <string>
#include <vector>

namespace perp::io {

/// Columns of text, as wide as they need; widths count code points.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Every line begins with `indent`; columns are two blanks apart.
  [[nodiscard]] std::string text(const std::string& indent = {}) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A number for a table: up to 10 significant digits.
std::string short_number(double value);

}  // namespace perp::io
