// Runs of systems piece by piece, and of systems that are several without coupling, each by its own
// steps: `integrate` and hybrid products call them.
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/schemes/check_options.hpp>
#include <perp/schemes/continuation/path_capturing.hpp>
#include <perp/schemes/events/time_switches.hpp>
#include <perp/schemes/located/located_run.hpp>
#include <perp/schemes/poles/pole_watch.hpp>
#include <perp/schemes/run/run.hpp>
#include <perp/schemes/run/run_product.hpp>
#include <perp/schemes/run/system_runs.hpp>
#include <perp/schemes/system_parts.hpp>

namespace perp {
namespace {

constexpr int ends_of_line = 2;  ///< nodes of the course of a step of Euler's method
constexpr int nodes_of_stages = 16;  ///< of a step of Radau IIA, whose polynomial is of degree 7; what equations give at each time is none

TimeSwitches switches_of(const SparseLcs& system) { return TimeSwitches(system); }
TimeSwitches switches_of(const Dcs& system) {
  return TimeSwitches(system, TimeSwitches::Of::jumps);
}

/// A run by event capturing with all that it needs.
template <class System>
class CapturingRun final : public StepwiseRun {
 public:
  CapturingRun(System system, const Vector& x0, Span span, const Theta& scheme,
               const IntegrateOptions& options, CapturingFacts& facts, StateTrace* trace)
      : system_(std::move(system)),
        facts_(facts),
        poles_(system_),
        switches_(switches_of(system_)),
        scheme_(capturing_scheme(system_, scheme)),
        run_(stepwise_run(
            *scheme_, system_.laws, x0, span, scheme.h,
            {scheme.refinements, scheme.split_at_events, poles_.empty() ? nullptr : &poles_,
             switches_.empty() ? nullptr : &switches_},
            options, trace)) {}

  void start() override { run_->start(); }
  void advance() override {
    run_->advance();
    tell_facts();
  }
  [[nodiscard]] std::optional<Offer> offer() override { return run_->offer(); }
  void leap(long steps) override { run_->leap(steps); }
  [[nodiscard]] const Trajectory& result() const override { return run_->result(); }
  [[nodiscard]] bool has_started() const override { return run_->has_started(); }
  [[nodiscard]] double t() const override { return run_->t(); }
  [[nodiscard]] Step state() override { return run_->state(); }
  [[nodiscard]] std::string kept() override { return run_->kept(); }
  [[nodiscard]] Trajectory take() override {
    Trajectory result = run_->take();
    tell_facts();
    return result;
  }

 private:
  void tell_facts() {
    const FirstOrder own = scheme_->first_order();
    if (!std::isnan(own.since) && !(facts_.first_order.since <= own.since))
      facts_.first_order = own;
    facts_.residual = std::max(facts_.residual, scheme_->residual());
  }

  System system_;
  CapturingFacts& facts_;
  PoleWatch poles_;
  TimeSwitches switches_;
  std::unique_ptr<Scheme> scheme_;
  std::unique_ptr<StepwiseRun> run_;
};

/// An event-located run with all that it needs.
class OwnLocatedRun final : public StepwiseRun {
 public:
  OwnLocatedRun(const Dcs& system, const Vector& x0, Span span, const Located& scheme,
                const IntegrateOptions& options)
      : x0_(x0), span_(span), run_(system, scheme, options) {}

  void start() override { run_.start(x0_, span_); }
  void advance() override { run_.advance(); }
  [[nodiscard]] const Trajectory& result() const override { return run_.result(); }
  [[nodiscard]] bool has_started() const override { return !run_.result().t.empty(); }
  [[nodiscard]] double t() const override { return run_.now().t; }
  [[nodiscard]] Step state() override { return run_.now(); }
  [[nodiscard]] std::string kept() override { return run_.kept(); }
  [[nodiscard]] Trajectory take() override { return run_.take(); }

 private:
  Vector x0_;
  Span span_;
  LocatedRun run_;
};

/// A part alone would be run as the matrices it is.
std::unique_ptr<StepwiseRun> run_of_part(const SparseLcs& system, const Vector& x0, Span span,
                                         const Theta& scheme, const IntegrateOptions& options,
                                         CapturingFacts& facts, StateTrace* trace) {
  return std::make_unique<CapturingRun<SparseLcs>>(system, x0, span, scheme, options, facts, trace);
}
std::unique_ptr<StepwiseRun> run_of_part(const Dcs& system, const Vector& x0, Span span,
                                         const Theta& scheme, const IntegrateOptions& options,
                                         CapturingFacts& facts, StateTrace* trace) {
  return capturing_run(system, x0, span, scheme, options, facts, trace);
}

template <class System>
Trajectory capture_parts(const System& system, const Vector& x0, Span span, const Theta& scheme,
                         const IntegrateOptions& options, CapturingFacts& facts) {
  auto parts = independent_parts(system);
  if (x0.size() != system.n()) parts.clear();
  if (parts.size() <= 1) {
    CapturingRun<System> run(system, x0, span, scheme, options, facts, nullptr);
    run.start();
    return run.take();
  }
  RunProduct product(options, system.n(), system.m(), span, ends_of_line,
                     RunProduct::Clock::common);
  for (const auto& part : parts)
    product.add(
        {part.variables, part.laws}, [&](const IntegrateOptions& output, StateTrace* trace) {
          return run_of_part(part.system, x0(part.variables), span, scheme, output, facts, trace);
        });
  return product();
}

/// Of single variables and laws.
Located options_of(const DcsPart& part, const Located& whole) {
  Located own = whole;
  if (whole.scale.size() > 0) own.scale = whole.scale(part.variables);
  own.names.clear();
  if (!whole.names.empty())
    for (const int j : part.variables)
      own.names.push_back(whole.names[static_cast<std::size_t>(j)]);
  own.restitution.clear();
  if (!whole.restitution.empty())
    for (const int i : part.laws)
      own.restitution.push_back(whole.restitution[static_cast<std::size_t>(i)]);
  return own;
}

}  // namespace

std::unique_ptr<StepwiseRun> capturing_run(SparseLcs system, const Vector& x0, Span span,
                                           const Theta& scheme, const IntegrateOptions& options,
                                           CapturingFacts& facts, StateTrace* trace) {
  return std::make_unique<CapturingRun<SparseLcs>>(std::move(system), x0, span, scheme, options, facts,
                                             trace);
}

std::unique_ptr<StepwiseRun> capturing_run(Dcs system, const Vector& x0, Span span,
                                           const Theta& scheme, const IntegrateOptions& options,
                                           CapturingFacts& facts, StateTrace* trace) {
  if (std::optional<SparseLcs> matrices = as_sparse_lcs(system))
    return capturing_run(*std::move(matrices), x0, span, scheme, options, facts, trace);
  return std::make_unique<CapturingRun<Dcs>>(std::move(system), x0, span, scheme, options, facts,
                                             trace);
}

std::unique_ptr<StepwiseRun> located_run(Dcs system, const Vector& x0, Span span,
                                         const Located& scheme, const IntegrateOptions& options) {
  return std::make_unique<OwnLocatedRun>(system, x0, span, scheme, options);
}

Trajectory run_parts(const SparseLcs& system, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options, CapturingFacts& facts) {
  return capture_parts(system, x0, span, scheme, options, facts);
}

Trajectory run_parts(const Dcs& system, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options, CapturingFacts& facts) {
  return capture_parts(system, x0, span, scheme, options, facts);
}

Trajectory integrate_parts(const Dcs& system, const Vector& x0, Span span, const Located& scheme,
                           const IntegrateOptions& options) {
  std::vector<DcsPart> parts;
  if (x0.size() == system.n() && scheme.sensitivities.columns() == 0)
    parts = independent_parts(system);
  if (parts.size() <= 1) return integrate(system, x0, span, scheme, options);
  RunProduct product(options, system.n(), system.m(), span, nodes_of_stages,
                     RunProduct::Clock::own);
  for (const DcsPart& part : parts)
    product.add({part.variables, part.laws}, [&](const IntegrateOptions& output, StateTrace*) {
      return located_run(part.system, x0(part.variables), span, options_of(part, scheme), output);
    });
  Trajectory run = product();
  tell_scheme(scheme, run);
  return run;
}

}  // namespace perp
