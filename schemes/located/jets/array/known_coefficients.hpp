#pragma once

#include <perp/core/linear/rank_elimination.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/located/jets/array/mode_array.hpp>

namespace perp {

/// How many leading coefficients of a jet the equations determine, and whether it is determined: what no vector of the null
/// space of their last matrix moves. `elimination` is that of `equations.matrix()`, `jet` has their coefficients.
void read_known(const ModeArray& equations, const RankElimination& elimination, Jet& jet);

}  // namespace perp
