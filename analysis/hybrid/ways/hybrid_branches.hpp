#pragma once

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/schemes/located/transition/solution_branches.hpp>

namespace perp {

/// The solutions of a hybrid run: where several values of the binaries continue, at the start or at
/// an event, each of them is followed by a run of its own, at most `most` runs. The one of the rule
/// nearest_mode is the first.
SolutionBranches hybrid_branches(const Model& model, const HybridSchemes& schemes,
                                 const IntegrateOptions& options, std::size_t most = 64);

}  // namespace perp
