#pragma once

#include <array>
#include <cstdio>
#include <string>

#include <perp/models/language/multilinear/multilinear_form.hpp>

namespace perp::test {

/// "{ rows = 1, columns = 2, entries = [[1, 2, 0.5]] }"
inline std::string inline_matrix(const SparseEntries& matrix) {
  std::string entries;
  for (const SparseEntry& entry : matrix.entries) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s[%d, %d, %.17g]", entries.empty() ? "" : ", ", entry.row + 1,
                  entry.column + 1, entry.value);
    entries += text.data();
  }
  return "{ rows = " + std::to_string(matrix.rows) + ", columns = " + std::to_string(matrix.columns) +
         ", entries = [" + entries + "] }\n";
}

}  // namespace perp::test
