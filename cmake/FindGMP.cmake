# GMP, the GNU multiple precision arithmetic library: target GMP::gmp.
include(${CMAKE_CURRENT_LIST_DIR}/find_c_library.cmake)
find_c_library(GMP GMP::gmp gmp.h gmp)
