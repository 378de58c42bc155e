# LAPACKE with the reference LAPACK and BLAS, linked statically: results depend neither on the processor nor on a number
# of threads, and the program starts without loading them. PERP_LAPACK=shared takes what the system has (OpenBLAS, say).
set(PERP_LAPACK static CACHE STRING "static: reference LAPACK; shared: the system's")
set_property(CACHE PERP_LAPACK PROPERTY STRINGS static shared)

find_path(LAPACKE_INCLUDE_DIR lapacke.h)
if(PERP_LAPACK STREQUAL static)
  # In its own folder where alternatives may stand in for it.
  find_library(LAPACKE_LIBRARY liblapacke.a)
  find_library(LAPACKE_LAPACK liblapack.a PATH_SUFFIXES lapack)
  find_library(LAPACKE_BLAS libblas.a PATH_SUFFIXES blas)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgfortran.a
    OUTPUT_VARIABLE LAPACKE_FORTRAN OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libquadmath.a
    OUTPUT_VARIABLE LAPACKE_QUADMATH OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${LAPACKE_FORTRAN}")  # another compiler's: the shared run-time library of Fortran
    find_library(LAPACKE_FORTRAN_SHARED NAMES gfortran libgfortran.so.5)
    set(LAPACKE_FORTRAN ${LAPACKE_FORTRAN_SHARED})
    set(LAPACKE_QUADMATH "")
  endif()
  # A shared object cannot hold the static run-time library, whose variables of threads have fixed places.
  set(LAPACKE_RUN_TIME ${LAPACKE_FORTRAN} ${LAPACKE_QUADMATH})
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgfortran.so
    OUTPUT_VARIABLE LAPACKE_FORTRAN_OF_MODULES OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${LAPACKE_FORTRAN_OF_MODULES}")
    set(is_program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
    list(TRANSFORM LAPACKE_RUN_TIME REPLACE "(.+)" "$<${is_program}:\\1>")
    list(APPEND LAPACKE_RUN_TIME $<$<NOT:${is_program}>:${LAPACKE_FORTRAN_OF_MODULES}>)
  endif()
  set(LAPACKE_LIBRARIES ${LAPACKE_LIBRARY} ${LAPACKE_LAPACK} ${LAPACKE_BLAS} ${LAPACKE_RUN_TIME} m)
else()
  find_library(LAPACKE_LIBRARY lapacke)
  find_library(LAPACKE_LAPACK lapack)
  find_library(LAPACKE_BLAS blas)
  set(LAPACKE_LIBRARIES ${LAPACKE_LIBRARY} ${LAPACKE_LAPACK} ${LAPACKE_BLAS})
endif()
mark_as_advanced(LAPACKE_INCLUDE_DIR LAPACKE_LIBRARY LAPACKE_LAPACK LAPACKE_BLAS LAPACKE_FORTRAN_SHARED)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LAPACKE
  REQUIRED_VARS LAPACKE_LIBRARY LAPACKE_LAPACK LAPACKE_BLAS LAPACKE_INCLUDE_DIR)
if(LAPACKE_FOUND AND NOT TARGET LAPACKE::lapacke)
  add_library(LAPACKE::lapacke INTERFACE IMPORTED)
  set_target_properties(LAPACKE::lapacke PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${LAPACKE_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES "${LAPACKE_LIBRARIES}")
endif()
