#include <perp/schemes/located/jets/array/mode_array.hpp>
#include <perp/schemes/newton/rank_newton.hpp>
#include <perp/schemes/located/radau/branch_forms.hpp>
#include <perp/schemes/located/transition/nearest_in_mode.hpp>

namespace perp {

// First the rates that belong to x, then all together by the shortest way: what the constraints do not
// move stays.
std::optional<Vector> nearest_in_mode(const Dcs& system, const ConsistentJets& jets,
                                      const Mode& mode, double t, const Vector& x,
                                      const Vector& lambda) {
  BranchForms forms(system);
  ModeArray equations(forms.any() ? forms.of(mode, {}).system : system, jets.levels());
  equations.set_scales(jets.scales());
  RankNewton rates, all(RankNewton::Open::nearest);
  if (!equations.begin(mode, t, x, lambda, {}) || !rates.run(equations)) return std::nullopt;
  if (!equations.free_variables() || !all.run(equations)) return std::nullopt;
  if (!(equations.relative_residual() <= jets.tolerance())) return std::nullopt;
  return Vector(equations.x().col(0));
}

}  // namespace perp
