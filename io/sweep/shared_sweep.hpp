#pragma once

#include <perp/io/ranks/ranks.hpp>
#include <perp/io/sweep/sweep_store.hpp>

namespace perp::io {

/// Makes the runs of a sweep on all ranks, each the next ones that nobody has, and keeps them in the folder of the store that the
/// request uses. Returns when no rank makes any more. A rank that is stopped, or whose run ends early where that ends the sweep,
/// stops all. Throws what `sweep` throws on the rank whose runs come first, EndedElsewhere on the others.
void make_together(Ranks& ranks, SweepStore& store, SweepRequest request);

}  // namespace perp::io
