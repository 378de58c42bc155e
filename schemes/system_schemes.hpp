#pragma once

#include <memory>

#include <perp/core/system/system.hpp>
#include <perp/schemes/continuation/path_capturing.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

// Schemes on any system: by matrices where it has them.

/// See integrate.hpp.
Trajectory integrate(const System& system, const Vector& x0, Span span, const BackwardEuler& scheme,
                     const IntegrateOptions& options = {});
/// See integrate.hpp.
Trajectory integrate(const System& system, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options = {});
/// See integrate.hpp.
Trajectory integrate(const System& system, const Vector& x0, Span span, const Located& scheme,
                     const IntegrateOptions& options = {});

/// The event-capturing scheme with the selector of its options. Throws InvalidInput.
std::unique_ptr<Scheme> capturing_scheme(const System& system, const Theta& options);

/// See path_capturing.hpp; θ has a meaning for matrices alone, of other systems the path is that of backward Euler.
StepPath follow(const System& system, const Step& from, double h, double theta = 1);

}  // namespace perp
