#include <fmt/format.h>

#include <perp/schemes/continuation/path_capturing.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/run.hpp>
#include <perp/schemes/run/run_end.hpp>

namespace perp {

Trajectory integrate(const Lcs& lcs, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options) {
  PoleWatch poles(lcs);
  TimeSwitches switches(lcs);
  const std::unique_ptr<Scheme> capturing = capturing_scheme(lcs, scheme);
  Trajectory run = perp::run(*capturing, lcs.laws, x0, span, scheme.h,
                             {scheme.refinements, scheme.split_at_events,
                              poles.empty() ? nullptr : &poles, switches.empty() ? nullptr : &switches},
                             options);
  run.provenance["version"] = PERP_VERSION;
  run.provenance["scheme"] =
      scheme.theta == 1 ? "backward_euler" : fmt::format("theta = {}", scheme.theta);
  run.provenance["h"] = fmt::format("{}", scheme.h);
  run.provenance["selector"] = to_string(scheme.selector);
  run.provenance["norm"] = "||E (x+ - x)||_2";
  run.provenance["tol"] = fmt::format("{}", scheme.tol);
  run.message = tell_first_order(capturing->first_order(), scheme.h, scheme.selector, "", run.message, run);
  return run;
}

Trajectory integrate(const Lcs& lcs, const Vector& x0, Span span, const BackwardEuler& scheme,
                     const IntegrateOptions& options) {
  return integrate(lcs, x0, span,
                   Theta{.h = scheme.h,
                         .theta = 1,
                         .selector = scheme.selector,
                         .tol = scheme.tol,
                         .solver = scheme.solver,
                         .refinements = scheme.refinements,
                         .split_at_events = scheme.split_at_events},
                   options);
}

}  // namespace perp
