#pragma once

#include <memory>

#include <perp/core/system/sparse_lcs.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/stepwise_run.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// What runs by event capturing tell besides their trajectory.
struct CapturingFacts {
  FirstOrder first_order{};  ///< since when they are of first order, and why: the earliest
  double residual = 0;       ///< of functions: the largest |F_i| in bounds of its rounding
};

// A run piece by piece that owns its system, for runs beside each other; what else it is given
// outlives it. The options of `integrate`, see there. Throw InvalidInput.

/// By event capturing; `trace` gets the end of every step, null: nobody asks.
std::unique_ptr<StepwiseRun> capturing_run(SparseLcs system, const Vector& x0, Span span,
                                           const Theta& scheme, const IntegrateOptions& options,
                                           CapturingFacts& facts, StateTrace* trace = nullptr);
/// The same of functions, affine or not.
std::unique_ptr<StepwiseRun> capturing_run(Dcs system, const Vector& x0, Span span,
                                           const Theta& scheme, const IntegrateOptions& options,
                                           CapturingFacts& facts, StateTrace* trace = nullptr);
/// Event-located.
std::unique_ptr<StepwiseRun> located_run(Dcs system, const Vector& x0, Span span,
                                         const Located& scheme, const IntegrateOptions& options);

// The whole run: parts that share no equation each by their own steps, one part as it is.

Trajectory run_parts(const SparseLcs& system, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options, CapturingFacts& facts);
/// Of a system that is not affine.
Trajectory run_parts(const Dcs& system, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options, CapturingFacts& facts);
/// With its provenance. With sensitivities all parts are one.
Trajectory integrate_parts(const Dcs& system, const Vector& x0, Span span, const Located& scheme,
                           const IntegrateOptions& options);

/// What a run of functions tells of how it was made.
void tell_capturing(const Theta& scheme, const CapturingFacts& facts, Trajectory& run);

/// What a run of an affine system tells of how it was made.
void tell_affine(const Theta& scheme, const CapturingFacts& facts, Trajectory& run);

/// `integrate` of an affine system by its entries.
Trajectory integrate_affine(const SparseLcs& lcs, const Vector& x0, Span span, const Theta& scheme,
                            const IntegrateOptions& options);

/// Backward Euler as the θ-method with θ = 1.
inline Theta as_theta(const BackwardEuler& scheme) {
  return {.h = scheme.h,
          .theta = 1,
          .selector = scheme.selector,
          .tol = scheme.tol,
          .solver = scheme.solver,
          .refinements = scheme.refinements,
          .split_at_events = scheme.split_at_events,
          .petsc = scheme.petsc};
}

}  // namespace perp
