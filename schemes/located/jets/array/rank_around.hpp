#pragma once

#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/located/jets/array/mode_array.hpp>

namespace perp {

/// Has the derivative array of a mode the rank that it has around this consistent and determined jet? Then solutions in the mode
/// are unique there (Kunkel and Mehrmann, the strangeness index); else several may begin, as 0 and (2t/3)^1.5 of `der(x) = z`,
/// `z^3 = x`. The rank at a point is at most that around it, which formulas without corners have at almost every point.
/// False also where no point around it has values.
bool has_rank_around(ModeArray& equations, const Jet& jet);

}  // namespace perp
