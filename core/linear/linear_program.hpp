#pragma once

#include <perp/core/base/types.hpp>

namespace perp {

/// How the interior of a polyhedron {θ : G θ + g ≥ 0} is judged, with a checked certificate.
struct InteriorTest {
  enum class Verdict {
    interior,  ///< a point with all rows positive may exist (or nothing could be proved)
    flat,      ///< proved: no such point; the rows with y_j > 0 vanish on the whole polyhedron
    empty      ///< proved: the polyhedron is empty
  };
  Verdict verdict = Verdict::interior;
  Vector y;  ///< certificate: y ≥ 0, Σ y = 1, Gᵀ y = 0, gᵀ y = 0 (flat) or < 0 (empty)
};

/// By the theorem of alternatives: minimises gᵀ y over y ≥ 0, Σ y = 1, Gᵀ y = 0 by the simplex
/// method (Bland's rule). Rows should have norm about 1. A verdict other than `interior` is only
/// given with a certificate whose equations hold to rounding.
InteriorTest test_interior(const Matrix& G, const Vector& g);

}  // namespace perp
