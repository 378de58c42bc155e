#pragma once

#include <string>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/core/system/sparse_lcs.hpp>

namespace perp {

/// A law as λ in a box [lower, upper] and w at a corner in between:
///     side (w - corner) ∈ -N_[lower, upper](λ)
/// side = 1: λ = lower where w > corner, as of complementarity; -1: λ = upper there, as of sign.
struct BoxLaw {
  double corner = 0, lower = 0, upper = 0;
  int side = 1;
  int at_lower = -1, inside = -1, at_upper = -1;  ///< branches; -1: there is none
  /// The variable x_j whose own equation is the only one that holds λ, and which is all of w = c x_j + q: then the law bounds it,
  /// and λ is what is left of that equation. -1: λ is an unknown.
  int variable = -1;
  double c = 0;  ///< of x_j in w
  double b = 0;  ///< of λ in the equation of x_j
  /// Is the bound of that variable a lower one?
  [[nodiscard]] bool bounds_below() const { return c * (at_lower >= 0 ? side : -side) > 0; }
};

/// The laws of a system whose every variable has a rate of its own, as boxes.
struct BoxLaws {
  std::string unsupported{};  ///< why there are none; empty: all are
  std::vector<BoxLaw> list{};
};

/// See there.
BoxLaws box_laws(const SparseLcs& lcs);

}  // namespace perp
