#pragma once

#include <functional>

#include <perp/core/base/archive.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

/// What a watcher of a run knows is kept before the run's own state; where the run goes on from a state it is read back at
/// once, and the rest is left for the run. Throws ArchiveError: the state is of a run without this watcher.
void keep_beside(IntegrateOptions::KeptState& state, std::function<void(Archive& archive)> watcher);

}  // namespace perp
