#pragma once

#include <memory>
#include <vector>

#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/mode_passage.hpp>
#include <perp/schemes/run/stepwise_run.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// Runs a scheme through the span by steps of length h: the loop over the steps, with the safeguard
/// around changes of mode, resets, events and the record. Throws InvalidInput for a wrong span, h
/// or times.
Trajectory run(Scheme& scheme, const std::vector<Law>& laws, const Vector& x0, Span span, double h,
               const ModeChanges& changes, const IntegrateOptions& options);

/// The same piece by piece; `trace` gets the end of every step, null: nobody asks. All that it is given outlives it.
std::unique_ptr<StepwiseRun> stepwise_run(Scheme& scheme, const std::vector<Law>& laws, const Vector& x0,
                                          Span span, double h, const ModeChanges& changes,
                                          const IntegrateOptions& options, StateTrace* trace = nullptr);

/// The same from a state that is known with its multipliers and mode, without looking for a start.
Trajectory resume(Scheme& scheme, const std::vector<Law>& laws, const Step& from, double end,
                  double h, const ModeChanges& changes, const IntegrateOptions& options);

}  // namespace perp
