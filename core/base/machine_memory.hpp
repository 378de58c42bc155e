#pragma once

namespace perp {

/// Bytes that this process may have: those of the machine, or its own limit where that is less.
double machine_memory();

}  // namespace perp
