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
  Equilibria points{};           ///< with their modes and eigenvalues
  int virtual_points = 0;  ///< that `without_virtual` took out
  std::optional<std::vector<TangentPoint>> tangents{};  ///< where they were asked for
};

/// The points of rest of a model at time t, from its start and further ones: `options`, whose scale
/// becomes the nominal values of the variables, and from the model's data where there are none. `with_tangents`: also the points where a flow
/// touches a surface with sliding. Throws InvalidInput.
ModelEquilibria equilibria_of(const Model& model, double t, EquilibriumOptions options,
                              bool with_tangents);

/// The same without the points beyond the ends of the branches of their mode, at which no solution rests.
ModelEquilibria without_virtual(ModelEquilibria found);

}  // namespace perp
