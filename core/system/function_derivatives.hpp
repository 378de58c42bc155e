#pragma once

#include <vector>

#include <perp/core/dcs.hpp>

namespace perp {

/// F and G on a tape of their own, with numbers for the parameters: its lines, F_1..n, then G_1..m.
struct BoundFunctions {
  Tape tape;
  std::vector<int> lines;
};
BoundFunctions bound_functions(const Dcs& system);

/// A first derivative that does not vanish by its form. Rows are F_1..n, then G_1..m; columns are the inputs t, ẋ, x, λ.
struct FunctionDerivative {
  int row = 0, column = 0;
  bool is_number = false;  ///< no function of the inputs
  double value = 0;        ///< at t, ẋ, x, λ = 0
};
/// Those of the functions, ordered by row and column: what one look at a system asks for, of which a DcsEvaluator makes
/// code for many.
std::vector<FunctionDerivative> derivatives_at_zero(const Dcs& system, BoundFunctions functions);

/// Indices of the variables whose derivative F or G holds by its form, increasing.
std::vector<int> differential_variables(const Dcs& system);

}  // namespace perp
