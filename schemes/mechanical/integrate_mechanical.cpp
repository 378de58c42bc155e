#include <fmt/format.h>

#include <perp/schemes/integrate.hpp>
#include <perp/schemes/mechanical/velocity_stepping.hpp>
#include <perp/schemes/run/run.hpp>

namespace perp {

Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const MoreauJean& scheme,
                     const IntegrateOptions& options) {
  VelocityStepping stepping(system, scheme);
  Trajectory run =
      perp::run(stepping, stepping.system().laws(), x0, span, scheme.h, {}, options);
  run.provenance["version"] = PERP_VERSION;
  run.provenance["scheme"] = fmt::format("moreau_jean, theta = {}", scheme.theta);
  run.provenance["h"] = fmt::format("{}", scheme.h);
  run.provenance["tol"] = fmt::format("{}", scheme.tol);
  run.provenance["impact residual"] = fmt::format("{:.2g}", stepping.impact_residual());
  run.provenance["deepest penetration"] = fmt::format("{:.6g}", stepping.penetration());
  return run;
}

}  // namespace perp
