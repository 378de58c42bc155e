#pragma once

#include <perp/schemes/step/point/energy_form.hpp>

namespace perp {

/// The form without variables that are integrals of others (positions), e_x ẋ = A_xv v with B_x = 0:
///     Δx = h θ a Δv,   a = A_xv / e_x,   and Q = A_vx a of the others.
/// A law that reads them, by C_x, reads nothing else, or a multiple ρ >= 0 of its own C_x a (a spring with a damper that both
/// push): its Δw is a positive multiple, h θ or h θ + ρ, of C_x a Δv + a multiple of D Δλ, and C_x a stands for it. What would
/// compare multiples that differ, D between two laws, keeps their variables. C is exact. False where there is no such variable.
bool make_form_without_integrals(const EnergyForm& whole, EnergyForm& form);

}  // namespace perp
