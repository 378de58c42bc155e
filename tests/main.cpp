#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// Two of Siconos' methods keep memory that nobody can release; see lcp/solvers/siconos.cpp (which
// itself makes no matrix by NM_new).
extern "C" const char* __lsan_default_suppressions();   // NOLINT: name given by the sanitizer
extern "C" const char* __lsan_default_suppressions() {  // NOLINT
  return "leak:enum_init\nleak:mlcp_to_lcp\nleak:mlcp_lcp_lemke\nleak:NM_new\n";
}
