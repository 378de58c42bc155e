#pragma once

#include <cmath>

namespace perp {

/// Factor that brings a size near 1 without rounding errors; 1 for 0.
inline double reciprocal_power(double size) { return size > 0 ? std::exp2(-std::round(std::log2(size))) : 1; }

}  // namespace perp
