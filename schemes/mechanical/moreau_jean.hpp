#pragma once

#include <vector>

namespace perp {

/// Moreau and Jean's time stepping of velocities, for mechanical systems with unilateral contacts
/// and Newton's restitution, without friction, [M], [J]:
///     M (v⁺ − v) = h f_θ + Gᵀ P,   q⁺ = q + h (θ v⁺ + (1−θ) v),
///     0 ≤ U_i⁺ + ē_i U_i ⊥ P_i ≥ 0   for every contact that would be violated without P,
/// else P_i = 0. U = G v + g_t is the velocity of the gap g(t, q), f_θ the force at (t, q, v)_θ,
/// all contacts are solved at once. Any number of impacts in one step, hence their accumulation
/// too; close to an accumulation the order below shows where h resolves the time between impacts.
///     ē_i = e_i   for an impact, −U_i > τ_i
///     ē_i = 0     for a slower approach: such a contact is closed
///     ē_i = 1     where the contact opens, U_i > 0: the usual e_i would let P do work there
/// τ_i is the velocity that forces without contacts and the turn of the obstacle bring about in one
/// step.
/// For constant M and constant forces, at fixed obstacles and ½ ≤ θ ≤ 1/(1 + max e), energy never
/// grows: the work of P is Σ P_i (θ U_i⁺ + (1−θ) U_i) ≤ 0. The multiplier is λ = P/h. First order;
/// second order where nothing touches and θ = ½.
struct MoreauJean {
  double h = 1e-3;                    ///< step, in the model's unit of time; > 0
  double theta = 0.5;                 ///< in [1/2, 1]
  std::vector<double> restitution{};  ///< e, one per law, in [0, 1]; empty: 0 for all
  double tol = 1e-10;                 ///< largest accepted residual of the impact problem, relative
};

}  // namespace perp
