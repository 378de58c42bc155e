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
};

}  // namespace perp::io
