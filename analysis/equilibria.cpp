// Points of rest of a model: `perp equilibria` asks it.
#include <perp/analysis/equilibria.hpp>
#include <perp/analysis/run/schemes.hpp>

namespace perp {

ModelEquilibria equilibria_of(const Model& model, double t, EquilibriumOptions options,
                              bool with_tangents) {
  const Dcs system = equations_of(model);
  options.scale = located_options(model).scale;
  ModelEquilibria found{.t = t, .options = options};
  found.points = find_equilibria(system, t, model.x0(), options);
  if (with_tangents) found.tangents = find_tangent_points(system, t, model.x0(), options);
  return found;
}

ModelEquilibria without_virtual(ModelEquilibria found) {
  found.virtual_points += static_cast<int>(std::erase_if(found.points.found, [](const Equilibrium& point) {
    return point.kind == EquilibriumKind::outside;
  }));
  return found;
}

}  // namespace perp
