#pragma once

#include <optional>

#include <perp/core/dcs.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>

namespace perp {

/// The state next to x, in units of the variables, at which a solution in the mode starts:
///     F_[k] = 0,   w_[k] of the vertical branches = c/a δ_k0,   k = 0..levels
/// for an x that is known up to a small error, as the limit of events. Empty: Newton's method finds none.
std::optional<Vector> nearest_in_mode(const Dcs& system, const ConsistentJets& jets,
                                      const Mode& mode, double t, const Vector& x,
                                      const Vector& lambda);

}  // namespace perp
