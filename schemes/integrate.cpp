#include <fmt/format.h>

#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/run_end.hpp>
#include <perp/schemes/run/system_runs.hpp>

namespace perp {

Trajectory integrate(const Lcs& lcs, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options) {
  return integrate_affine(sparse(lcs), x0, span, scheme, options);
}

void tell_affine(const Theta& scheme, const CapturingFacts& facts, Trajectory& run) {
  run.provenance["version"] = PERP_VERSION;
  run.provenance["scheme"] =
      scheme.theta == 1 ? "backward_euler" : fmt::format("theta = {}", scheme.theta);
  run.provenance["h"] = fmt::format("{}", scheme.h);
  run.provenance["selector"] = to_string(scheme.selector);
  run.provenance["norm"] = "||E (x+ - x)||_2";
  run.provenance["tol"] = fmt::format("{}", scheme.tol);
  if (!run.t.empty() && facts.first_order.since < run.t.back())  // a part may have gone further than all together
    run.message = tell_first_order(facts.first_order, scheme.h, scheme.selector, "", run.message, run);
}

Trajectory integrate_affine(const SparseLcs& lcs, const Vector& x0, Span span, const Theta& scheme,
                            const IntegrateOptions& options) {
  CapturingFacts facts;
  Trajectory run = run_parts(lcs, x0, span, scheme, options, facts);
  tell_affine(scheme, facts, run);
  return run;
}

Trajectory integrate(const Lcs& lcs, const Vector& x0, Span span, const BackwardEuler& scheme,
                     const IntegrateOptions& options) {
  return integrate(lcs, x0, span, as_theta(scheme), options);
}

}  // namespace perp
