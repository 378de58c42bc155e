# MPFR, correctly rounded functions of any precision: target MPFR::mpfr. For tests, and for PERP_INTERVAL_FUNCTIONS=mpfr; before it, GMP.
include(${CMAKE_CURRENT_LIST_DIR}/find_c_library.cmake)
find_c_library(MPFR MPFR::mpfr mpfr.h mpfr)
if(MPFR_FOUND)
  set_target_properties(MPFR::mpfr PROPERTIES INTERFACE_LINK_LIBRARIES "${GMP_LIBRARY}")
endif()
