#pragma once

namespace perp {

/// Heap allocations of this thread so far, by whatever name: malloc, operator new, Eigen,
/// libraries. The difference around a piece of code is what it allocates.
long allocations();

}  // namespace perp
