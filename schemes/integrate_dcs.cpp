#include <fmt/format.h>

#include <perp/core/error.hpp>
#include <perp/schemes/continuation/path_capturing.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run.hpp>

namespace perp {

Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const BackwardEuler& scheme,
                     const IntegrateOptions& options) {
  if (const std::optional<Lcs> lcs = as_lcs(system))
    return integrate(*lcs, x0, span, scheme, options);
  const std::unique_ptr<Scheme> capturing = capturing_scheme(system, scheme);
  Trajectory run =
      perp::run(*capturing, system.laws, x0, span, scheme.h,
                {scheme.refinements, scheme.split_at_events}, options);
  run.provenance["version"] = PERP_VERSION;
  run.provenance["scheme"] = "backward_euler";
  run.provenance["h"] = fmt::format("{}", scheme.h);
  run.provenance["selector"] = to_string(scheme.selector);
  run.provenance["norm"] = "||dF/dxdot (x+ - x)||_2";
  run.provenance["tol"] = fmt::format("{}", scheme.tol);
  run.provenance["solver"] = "newton";
  return run;
}

Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options) {
  if (const std::optional<Lcs> lcs = as_lcs(system))
    return integrate(*lcs, x0, span, scheme, options);
  if (scheme.theta != 1)
    throw InvalidInput(
        fmt::format("theta must be 1 (backward_euler) for a nonlinear system but is {}",
                    scheme.theta));
  return integrate(system, x0, span,
                   BackwardEuler{.h = scheme.h,
                                 .selector = scheme.selector,
                                 .tol = scheme.tol,
                                 .solver = scheme.solver,
                                 .refinements = scheme.refinements,
                                 .split_at_events = scheme.split_at_events},
                   options);
}

}  // namespace perp
