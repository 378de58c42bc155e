// Matrices that no numbers in their places make regular: asked of a [system] that is given by its entries.
#include <fmt/format.h>

#include <perp/core/base/index.hpp>
#include <perp/models/language/reader/equation_texts.hpp>
#include <perp/models/language/matrices/matrix_structure.hpp>
#include <perp/models/language/structure.hpp>

namespace perp::reader {
namespace {

void add_columns(std::span<const linear::SparseMatrix::Entry> row, int first, std::vector<int>& columns) {
  for (const auto& entry : row) columns.push_back(first + entry.column);
}

/// Rows of 0 = A x + B λ + b - E ẋ, then those of w = C x + D λ + q with their λ; columns x, λ.
Structure structure_of(const SparseLcs& lcs) {
  const int n = lcs.n(), m = lcs.m();
  Structure structure;
  structure.columns_of_row.resize(at(n + m));
  for (int i = 0; i < n; ++i) {
    std::vector<int>& columns = structure.columns_of_row[at(i)];
    add_columns(lcs.A.row(i), 0, columns);
    add_columns(lcs.E.row(i), 0, columns);
    add_columns(lcs.B.row(i), n, columns);
  }
  for (int i = 0; i < m; ++i) {
    std::vector<int>& columns = structure.columns_of_row[at(n + i)];
    columns.push_back(n + i);
    add_columns(lcs.C.row(i), 0, columns);
    add_columns(lcs.D.row(i), n, columns);
  }
  structure.matching = linear::maximum_matching(structure.columns_of_row, n + m);
  return structure;
}

/// "x2" or "lambda(3)"
std::string column_name(const Model& model, int column) {
  const int n = static_cast<int>(model.variables.size());
  return column < n ? model.variables[at(column)].name : fmt::format("lambda({})", column - n + 1);
}

std::string row_name(int row, int n) { return row < n ? fmt::format("row {}", row + 1) : fmt::format("law {}", row - n + 1); }

}  // namespace

void check_matrix_structure(const Context& context, const Value& table, const SparseLcs& lcs, const Model& model) {
  const Structure structure = structure_of(lcs);
  if (structure.matching.is_perfect()) return;
  const std::vector<int> rows = overdetermined_rows(structure), columns = columns_of(structure, rows);
  std::vector<std::string> row_names, column_names, free_names;
  for (const int row : rows) row_names.push_back(row_name(row, lcs.n()));
  for (const int column : columns) column_names.push_back(column_name(model, column));
  for (int j = 0; j < lcs.n() + lcs.m(); ++j)
    if (structure.matching.row_of_column[at(j)] < 0) free_names.push_back(column_name(model, j));
  context.document().fail(
      table, fmt::format("the system is structurally singular: {} hold{} only {}, and nothing determines {}", listed(row_names),
                         row_names.size() == 1 ? "s" : "", columns.empty() ? "zeros" : listed(column_names), listed(free_names)));
}

}  // namespace perp::reader
