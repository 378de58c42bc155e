# GMP, the GNU multiple precision arithmetic library: target GMP::gmp. Programs take it from its archive where that is there: a
# start loads nothing for it, and they hold what they use of it alone. Its code has fixed places, so shared objects cannot.
include(${CMAKE_CURRENT_LIST_DIR}/find_c_library.cmake)
find_c_library(GMP GMP::shared_gmp gmp.h gmp)
find_library(GMP_ARCHIVE libgmp.a)
mark_as_advanced(GMP_ARCHIVE)
if(GMP_FOUND AND NOT TARGET GMP::gmp)
  add_library(GMP::gmp INTERFACE IMPORTED)
  set(is_program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  if(GMP_ARCHIVE)
    set_target_properties(GMP::gmp PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${GMP_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES "$<IF:${is_program},${GMP_ARCHIVE},${GMP_LIBRARY}>")
  else()
    set_target_properties(GMP::gmp PROPERTIES INTERFACE_LINK_LIBRARIES GMP::shared_gmp)
  endif()
endif()
