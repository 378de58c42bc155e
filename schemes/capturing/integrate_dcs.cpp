#include <fmt/format.h>

#include <perp/schemes/integrate.hpp>
#include <perp/schemes/newton/mode_newton.hpp>
#include <perp/schemes/run/run_end.hpp>
#include <perp/schemes/run/system_runs.hpp>

namespace perp {

void tell_capturing(const Theta& scheme, const CapturingFacts& facts, Trajectory& run) {
  run.provenance["version"] = PERP_VERSION;
  run.provenance["scheme"] = scheme.theta == 1 ? "backward_euler" : fmt::format("theta = {}", scheme.theta);
  run.provenance["h"] = fmt::format("{}", scheme.h);
  run.provenance["selector"] = to_string(scheme.selector);
  run.provenance["norm"] = "||dF/dxdot (x+ - x)||_2";
  run.provenance["residual"] = fmt::format("{:.3g}", facts.residual);
  run.provenance["gate"] = fmt::format("|F_i| <= {} e_i, the bound of its rounding", gate);
  run.provenance["solver"] = "newton";
  if (!run.t.empty() && facts.first_order.since < run.t.back())
    run.message = tell_first_order(facts.first_order, scheme.h, scheme.selector, "", run.message, run);
}

Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options) {
  if (const std::optional<SparseLcs> lcs = as_sparse_lcs(system))
    return integrate_affine(*lcs, x0, span, scheme, options);
  CapturingFacts facts;
  Trajectory run = run_parts(system, x0, span, scheme, options, facts);
  tell_capturing(scheme, facts, run);
  return run;
}

Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const BackwardEuler& scheme,
                     const IntegrateOptions& options) {
  return integrate(system, x0, span, as_theta(scheme), options);
}

}  // namespace perp
