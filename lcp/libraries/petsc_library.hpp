#pragma once

#include <string>

#include <perp/lcp/libraries/petsc_module.hpp>

namespace perp {

/// PETSc behind its module, loaded when it is first asked for. Throws InvalidInput where it is missing, or where Siconos, whose
/// MUMPS is another one, is loaded already.
const PerpPetsc& petsc_library();

/// Of the two libraries that bring a MUMPS along the first that asks is loaded; null, or the other one's name.
const char* other_mumps(const char* who);

}  // namespace perp
