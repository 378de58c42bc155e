#pragma once

#include <string>

#include <LinearComplementarityProblem.h>
#include <MCP_Solvers.h>
#include <MLCP_Solvers.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>

namespace perp {

/// What is used of Siconos numerics, loaded when a method of it is first asked for: the program itself
/// starts without it and the forty libraries behind it. Members have the names of its functions.
struct SiconosLibrary {
  std::string missing;  ///< why it could not be loaded; empty: all members are set

  decltype(&::NM_fill) NM_fill = nullptr;
  decltype(&::NM_clear) NM_clear = nullptr;
  decltype(&::numerics_set_verbose) numerics_set_verbose = nullptr;
  decltype(&::solver_options_create) solver_options_create = nullptr;
  decltype(&::solver_options_delete) solver_options_delete = nullptr;
  decltype(&::linearComplementarity_driver) linearComplementarity_driver = nullptr;
  decltype(&::relay_driver) relay_driver = nullptr;
  decltype(&::mlcp_driver) mlcp_driver = nullptr;
  decltype(&::mlcp_lcp_lemke) mlcp_lcp_lemke = nullptr;
  decltype(&::mcp_driver) mcp_driver = nullptr;
};

/// The one of this process; it stays loaded. Its BLAS may be OpenBLAS, whose threads make results
/// depend on their number and wait in loops that take the processor from others: it is told to use one.
const SiconosLibrary& siconos_library();

}  // namespace perp
