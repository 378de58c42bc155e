#pragma once

#include <string>
#include <vector>

#include <perp/models/lowering.hpp>

namespace perp {

/// Which unknowns can be found from which equations, by their places alone. Rows: the equations,
/// then the stated laws; columns: the variables x (x_j or ẋ_j), then the multipliers of those laws.
/// Operators count as functions: their laws and multipliers are no rows and columns.
struct Structure {
  std::vector<std::vector<int>> columns_of_row;
  std::vector<int> column_of_row;  ///< of a maximum matching; -1: none
  std::vector<int> row_of_column;

  [[nodiscard]] bool is_regular() const;
};

/// There may be more or fewer equations than variables.
Structure structure_of(const EquationModel& model);

/// The rows that together have fewer columns than there are rows: those that alternating paths join
/// to the rows without a partner (Hall). Increasing; empty where every row has a partner.
std::vector<int> overdetermined_rows(const Structure& structure);

/// The columns that occur in these rows, increasing.
std::vector<int> columns_of(const Structure& structure, const std::vector<int>& rows);

}  // namespace perp
