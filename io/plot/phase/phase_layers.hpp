#pragma once

#include <vector>

#include <perp/analysis/equilibria.hpp>
#include <perp/analysis/phase/phase_plane.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// What a phase picture shows beside the run.
struct PhaseLayers {
  std::vector<Model> starts{};  ///< the same model from other starts: their runs too
  bool arrows = false;          ///< the flow, see phase_plane
  bool surfaces = false;        ///< on which laws switch
  bool equilibria = false;      ///< by what solutions next to them do
  bool virtual_equilibria = false;  ///< those of a mode outside of it, where no solution rests
};

}  // namespace perp::io
