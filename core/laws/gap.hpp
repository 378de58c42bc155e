#pragma once

#include <perp/core/law.hpp>

namespace perp {

/// λ = 0 for w <= lower, 1 for w >= upper, no value between: a hysteresis whose ends are in the other
/// order. With memory; solutions end where they enter the gap. Throws InvalidInput unless lower <
/// upper, both finite.
Law gap(double lower, double upper);

}  // namespace perp
