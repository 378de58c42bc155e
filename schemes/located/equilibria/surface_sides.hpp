#pragma once

#include <vector>

#include <perp/schemes/located/equilibria/equilibria.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>

namespace perp {

/// The sides of the surfaces that a point slides on.
struct SurfaceSides {
  std::vector<Equilibrium::Side> list{};  ///< those of which it is shown whether solutions leave or arrive
  bool complete = true;                   ///< it is shown of all
};

/// The sides of the surfaces that the laws `sliding` hold an equilibrium on, in lexicographic order of their modes, by
/// the Taylor series of each mode at the point. A flow along a surface or past a corner, and a mode without a solution
/// there, show nothing.
SurfaceSides surface_sides(ConsistentJets& jets, double t, const Equilibrium& point, const std::vector<int>& sliding);

/// What solutions next to the point do, by the flow in its mode and on its sides: some approach and some leave, a
/// saddle; else as in its mode, where all sides agree; unknown where a side is not shown that decides.
Stability with_sides(Stability in_mode, const SurfaceSides& sides);

}  // namespace perp
