# Functions of intervals (exp, sin, …) are made of pairs of doubles with proved errors. PERP_INTERVAL_FUNCTIONS=mpfr takes them from
# MPFR instead, some twenty times slower: where a processor or a compiler breaks what the proofs rest on, as
# core/interval/interval_guard.cpp finds out, and to compare.
set(PERP_INTERVAL_FUNCTIONS own CACHE STRING "own: functions of intervals from pairs of doubles; mpfr: from MPFR")
set_property(CACHE PERP_INTERVAL_FUNCTIONS PROPERTY STRINGS own mpfr)

# perp_interval_functions(SOURCES): leaves the functions at points that were asked for in the list SOURCES.
function(perp_interval_functions sources)
  if(PERP_INTERVAL_FUNCTIONS STREQUAL mpfr)
    find_package(MPFR REQUIRED)
    list(FILTER ${sources} EXCLUDE REGEX "/core/interval/point_functions\\.cpp$")
  elseif(PERP_INTERVAL_FUNCTIONS STREQUAL own)
    list(FILTER ${sources} EXCLUDE REGEX "/core/interval/point_functions_mpfr\\.cpp$")
  else()
    message(FATAL_ERROR "PERP_INTERVAL_FUNCTIONS is '${PERP_INTERVAL_FUNCTIONS}'; expected own or mpfr")
  endif()
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()
