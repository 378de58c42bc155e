#pragma once

#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

/// What a run is differentiated by: q = (x_j(0) of `starts`, p_k of `parameters`), in this order.
struct SensitivityRequest {
  std::vector<int> starts{};      ///< indices of variables
  std::vector<int> parameters{};  ///< indices into Dcs::parameters
  Matrix directions{};            ///< combinations of q that are asked for, as columns; empty: each q by itself

  /// Number of entries of q.
  [[nodiscard]] int columns() const { return static_cast<int>(starts.size() + parameters.size()); }
};

}  // namespace perp
