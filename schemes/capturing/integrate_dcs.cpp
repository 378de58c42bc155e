#include <fmt/format.h>

#include <perp/schemes/continuation/path_capturing.hpp>

#include <perp/schemes/integrate.hpp>
#include <perp/schemes/newton/mode_newton.hpp>
#include <perp/schemes/run/run.hpp>
#include <perp/schemes/run/run_end.hpp>

namespace perp {

namespace {

Trajectory run_nonlinear(Scheme& capturing, const Dcs& system, const Vector& x0, Span span,
                         const BackwardEuler& scheme, const IntegrateOptions& options) {
  PoleWatch poles(system);
  TimeSwitches switches(system, TimeSwitches::Of::jumps);
  Trajectory run =
      perp::run(capturing, system.laws, x0, span, scheme.h,
                {scheme.refinements, scheme.split_at_events, poles.empty() ? nullptr : &poles,
                 switches.empty() ? nullptr : &switches},
                options);
  run.provenance["version"] = PERP_VERSION;
  run.provenance["scheme"] = "backward_euler";
  run.provenance["h"] = fmt::format("{}", scheme.h);
  run.provenance["selector"] = to_string(scheme.selector);
  run.provenance["norm"] = "||dF/dxdot (x+ - x)||_2";
  run.provenance["residual"] = fmt::format("{:.3g}", capturing.residual());
  run.provenance["gate"] = fmt::format("|F_i| <= {} e_i, the bound of its rounding", gate);
  run.provenance["solver"] = "newton";
  return run;
}

}  // namespace

Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const BackwardEuler& scheme,
                     const IntegrateOptions& options) {
  if (const std::optional<Lcs> lcs = as_lcs(system))
    return integrate(*lcs, x0, span, scheme, options);
  const std::unique_ptr<Scheme> capturing = capturing_scheme(system, scheme);
  return run_nonlinear(*capturing, system, x0, span, scheme, options);
}

Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options) {
  if (const std::optional<Lcs> lcs = as_lcs(system))
    return integrate(*lcs, x0, span, scheme, options);
  const BackwardEuler steps{.h = scheme.h,
                            .selector = scheme.selector,
                            .tol = scheme.tol,
                            .solver = scheme.solver,
                            .refinements = scheme.refinements,
                            .split_at_events = scheme.split_at_events};
  if (scheme.theta == 1) return integrate(system, x0, span, steps, options);
  const std::unique_ptr<Scheme> capturing = capturing_scheme(system, scheme);
  Trajectory run = run_nonlinear(*capturing, system, x0, span, steps, options);
  run.provenance["scheme"] = fmt::format("theta = {}", scheme.theta);
  run.message = tell_first_order(capturing->first_order(), scheme.h, to_string(scheme.selector), "", run.message, run);
  return run;
}

}  // namespace perp
