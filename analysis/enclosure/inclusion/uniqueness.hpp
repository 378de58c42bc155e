#pragma once

#include <vector>

#include <perp/analysis/enclosure/inclusion/inclusion.hpp>

namespace perp::enclosure {

/// Why a system has at most one solution from every start over a step.
enum class Uniqueness {
  open,        ///< it may have more
  lipschitz,   ///< the laws are Lipschitz terms along every solution
  contraction  ///< laws that jump bring two solutions together, in some norm
};

/// Has  x' ∈ f(t, x, Λ)  with these laws at most one solution from every start over a step? A
/// sufficient condition; `w_rates` are those over its tube, where every solution stays.
///
/// Two solutions agree until some time s. Of every law one of these holds over the step:
/// * λ is a function of w without jumps: a Lipschitz term.
/// * w' ≠ 0: both leave the corner, where they are at s, to the same side at once, and λ is a
///   Lipschitz term until the next corner.
/// * w = C x + c(t) and x' = … + B λ with constant C and B, the graphs are monotone,
///   σ Δw Δλ ≥ 0, and M = −(σ_i C_i B_k) keeps solutions together.
/// A law without jumps may hold the λ of others in its argument, of the second kind too.
/// The same holds for any measurable disturbance, which is the same one for both.
Uniqueness uniqueness_of_step(OpenFlow& flow, const std::vector<OpenLaw>& laws, const Dcs& system,
                              const Interval& times, const Box& tube, const Box& lambda);

}  // namespace perp::enclosure
