#pragma once

#include <string>
#include <vector>

#include <perp/core/linear/structure.hpp>
#include <perp/models/language/lowering/lowering.hpp>

namespace perp {

/// Which unknowns can be found from which equations, by their places alone. Rows: the equations,
/// then the stated laws; columns: the variables x (x_j or ẋ_j), then the multipliers of those laws.
/// Operators count as functions: their laws and multipliers are no rows and columns.
struct Structure {
  linear::Pattern columns_of_row;
  linear::Matching matching;  ///< a largest one; perfect where the system is structurally regular
};

/// There may be more or fewer equations than variables.
Structure structure_of(const EquationModel& model);

/// The rows that together have fewer columns than there are rows: those that alternating paths join
/// to the rows without a partner (Hall). Increasing; empty where every row has a partner.
std::vector<int> overdetermined_rows(const Structure& structure);

/// The columns that occur in these rows, increasing.
std::vector<int> columns_of(const Structure& structure, const std::vector<int>& rows);

/// "a, b and 3 more"
std::string listed(const std::vector<std::string>& names);

}  // namespace perp
