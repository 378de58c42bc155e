#include <fmt/format.h>
#include <cmath>

#include <perp/schemes/continuation/path_capturing.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/run.hpp>
#include <perp/schemes/run/run_end.hpp>
#include <perp/schemes/run/run_product.hpp>
#include <perp/schemes/system_parts.hpp>

namespace perp {
namespace {

/// The run of a system with all that it needs; since when it is of first order comes to `first_order`, unless
/// another one was so before it.
class LcsRun final : public StepwiseRun {
 public:
  LcsRun(Lcs lcs, const Vector& x0, Span span, const Theta& scheme, const IntegrateOptions& options,
         FirstOrder& first_order, StateTrace* trace = nullptr)
      : lcs_(std::move(lcs)),
        first_order_(first_order),
        poles_(lcs_),
        switches_(lcs_),
        scheme_(capturing_scheme(lcs_, scheme)),
        run_(stepwise_run(*scheme_, lcs_.laws, x0, span, scheme.h,
                          {scheme.refinements, scheme.split_at_events, poles_.empty() ? nullptr : &poles_,
                           switches_.empty() ? nullptr : &switches_},
                          options, trace)) {}

  void start() override { run_->start(); }
  void advance() override {
    run_->advance();
    tell_first_order();
  }
  [[nodiscard]] const Trajectory& result() const override { return run_->result(); }
  [[nodiscard]] bool has_started() const override { return run_->has_started(); }
  [[nodiscard]] double t() const override { return run_->t(); }
  [[nodiscard]] Step state() override { return run_->state(); }
  [[nodiscard]] Trajectory take() override {
    Trajectory result = run_->take();
    tell_first_order();
    return result;
  }

 private:
  void tell_first_order() {
    keep_earlier(scheme_->first_order(), first_order_);
  }

  Lcs lcs_;
  FirstOrder& first_order_;
  PoleWatch poles_;
  TimeSwitches switches_;
  std::unique_ptr<Scheme> scheme_;
  std::unique_ptr<StepwiseRun> run_;
};

/// Each part by its own steps; with one part, as it is.
Trajectory run_parts(const Lcs& lcs, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options, FirstOrder& first_order) {
  constexpr int ends = 2;  // between which the course of a step is a line
  std::vector<LcsPart> parts;
  if (x0.size() == lcs.n()) parts = independent_parts(lcs);
  if (parts.size() <= 1) {
    LcsRun run(lcs, x0, span, scheme, options, first_order);
    run.start();
    return run.take();
  }
  RunProduct product(options, lcs.n(), lcs.m(), span, ends, RunProduct::Clock::common);
  for (const LcsPart& part : parts)
    product.add({part.variables, part.laws}, [&](const IntegrateOptions& output, StateTrace* trace) {
      return std::make_unique<LcsRun>(part.lcs, x0(part.variables), span, scheme, output, first_order, trace);
    });
  return product();
}

}  // namespace

Trajectory integrate(const Lcs& lcs, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options) {
  FirstOrder first_order;
  Trajectory run = run_parts(lcs, x0, span, scheme, options, first_order);
  run.provenance["version"] = PERP_VERSION;
  run.provenance["scheme"] =
      scheme.theta == 1 ? "backward_euler" : fmt::format("theta = {}", scheme.theta);
  run.provenance["h"] = fmt::format("{}", scheme.h);
  run.provenance["selector"] = to_string(scheme.selector);
  run.provenance["norm"] = "||E (x+ - x)||_2";
  run.provenance["tol"] = fmt::format("{}", scheme.tol);
  if (!run.t.empty() && first_order.since < run.t.back())  // a part may have gone further than all together
    run.message = tell_first_order(first_order, scheme.h, to_string(scheme.selector), "", run.message, run);
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
