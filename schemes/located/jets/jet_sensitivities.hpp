#pragma once

#include <perp/schemes/located/jets/array/mode_array.hpp>

namespace perp {

/// The linearised derivative array, see ConsistentJets::sensitivities.
/// `equations` stand at the jet; `outer` is the same array with derivatives by t and the
/// parameters, evaluated there; `changes`: (1 + parameters)×q, of t and the parameters.
JetSensitivities differentiate_jet(const ModeArray& equations, const DerivativeArray& outer,
                                   const Jet& jet, const Matrix& dx_dq, const Matrix& changes);

}  // namespace perp
