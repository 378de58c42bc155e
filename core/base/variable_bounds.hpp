#pragma once

#include <string>

#include <perp/core/base/types.hpp>

namespace perp {

/// Bounds of one variable, l <= x_j <= u: a surface x_j = l or x_j = u is watched like that of a
/// reset. It is passed where x_j goes beyond it by more than the errors of x_j; a law may hold x_j
/// on it.
struct VariableBounds {
  int variable = -1;
  Range range{};          ///< at least one end finite
  std::string name{};     ///< of the variable, in messages; empty: "x1", ...
  bool ends_run = true;   ///< false: a passage is an event and the run goes on
};

}  // namespace perp
