#include <dlfcn.h>
#include <fmt/format.h>

#include <perp/lcp/libraries/petsc_library.hpp>
#include <perp/lcp/siconos_library.hpp>

namespace perp {
namespace {

SiconosLibrary load() {
  SiconosLibrary library;
  if (const char* other = other_mumps("Siconos"); other != nullptr) {
    library.missing = fmt::format("{} is loaded, and both bring a MUMPS of their own; expected a process of its own", other);
    return library;
  }
  void* const handle = dlopen(PERP_SICONOS_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  const auto fail = [&] {
    const char* const why = dlerror();
    library.missing = fmt::format("{} cannot be loaded: {}", PERP_SICONOS_LIBRARY,
                                  why != nullptr ? why : "it lacks a function");
  };
  if (handle == nullptr) {
    fail();
    return library;
  }
  const auto find = [&]<class Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr && library.missing.empty()) fail();
  };
  find(library.NM_fill, "NM_fill");
  find(library.NM_clear, "NM_clear");
  find(library.numerics_set_verbose, "numerics_set_verbose");
  find(library.solver_options_create, "solver_options_create");
  find(library.solver_options_delete, "solver_options_delete");
  find(library.linearComplementarity_driver, "linearComplementarity_driver");
  find(library.relay_driver, "relay_driver");
  find(library.mlcp_driver, "mlcp_driver");
  find(library.mlcp_lcp_lemke, "mlcp_lcp_lemke");
  find(library.mcp_driver, "mcp_driver");
  using SetThreads = void (*)(int);
  const auto set = reinterpret_cast<SetThreads>(dlsym(handle, "openblas_set_num_threads"));
  if (set != nullptr) set(1);
  return library;
}

}  // namespace

const SiconosLibrary& siconos_library() {
  static const SiconosLibrary library = load();
  return library;
}

}  // namespace perp
