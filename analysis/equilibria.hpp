#pragma once

#include <optional>
#include <vector>

#include <perp/models/language/model.hpp>
#include <perp/schemes/located/equilibria/equilibria.hpp>

namespace perp {

/// Where a model is at rest.
struct ModelEquilibria {
  double t = 0;                  ///< at which its equations were looked at
  EquilibriumOptions options{};  ///< as they were used
  Equilibria points{};
  std::optional<std::vector<TangentPoint>> tangents{};  ///< where they were asked for
};

/// The points of rest of a model at time t, from its start and further ones: `options`, whose scale
/// becomes the nominal values of the variables. `with_tangents`: also the points where a flow
/// touches a surface with sliding. Throws InvalidInput.
ModelEquilibria equilibria_of(const Model& model, double t, EquilibriumOptions options,
                              bool with_tangents);

}  // namespace perp
