#pragma once

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/models/language/hybrid/hybrid_parts.hpp>

namespace perp {

/// The run of a model whose sets of signals do not act on each other: each of them is run as a model of its
/// own, see RunProduct. Throws InvalidInput as HybridRun does.
Trajectory run_hybrid_product(const Model& model, const HybridSchemes& schemes, const IntegrateOptions& output,
                              const IndependentSets& sets);

}  // namespace perp
