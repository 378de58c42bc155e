#pragma once

#include <vector>

#include <perp/schemes/scheme.hpp>

namespace perp {

/// Scheme::start, and where x0 violates the constraints or has to jump, once more from the state that it is led to: the
/// run begins there, with the algebraic variables and multipliers that continue, not with the impulses of the way. The
/// event, `inconsistent_start` or `jump`, has x0 and that state. Where nothing starts from there it is as Scheme::start left it.
Attempt consistent_start(Scheme& scheme, double t, const Vector& x0, double h, std::vector<Event>& events);

}  // namespace perp
