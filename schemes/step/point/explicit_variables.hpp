#pragma once

#include <vector>

#include <perp/core/law.hpp>
#include <perp/schemes/step/point/energy_form.hpp>

namespace perp {

/// The form of a step of backward Euler without algebraic variables y that a row without a rate gives explicitly (a force with a
/// name), one after the other:
///     0 = a Δy + A_y Δx + B_y Δλ,   so that A - c A_y / a and B - c B_y / a are those of a row that reads c Δy,
/// alike C and D of a law. A is rounded once; B, C and D are exact. False where there is no such variable, where exact entries
/// are no doubles, or where Δx = 0 of the others leaves Δy open. `laws`: monotone ones.
bool make_form_without_explicit(const EnergyForm& whole, const std::vector<Law>& laws, EnergyForm& form);

}  // namespace perp
