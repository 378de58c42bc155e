#pragma once

#include <complex>
#include <vector>

#include <perp/core/lcs.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {

/// The system whose pencils  s E − A  are, mode by mode, the step matrices of the θ-method at h =
/// 1/(θ s), up to factors of rows: A is multiplied by θ h in the differential rows but B by h.
Lcs stepped(const StepEquations& equations);

/// The lengths h = 1/(θ s), s the eigenvalues of a pencil of `stepped`, at which the step matrix of
/// a mode is singular; those that are not real and positive tell how fast the solution of the step
/// may turn with h. Empty also where the matrix is singular for every h. Throws InvalidInput.
std::vector<std::complex<double>> step_poles(const Lcs& stepped, double theta, const Mode& mode);

}  // namespace perp
