# find_c_library(NAME TARGET HEADER LIBRARY...): the body of a find module of a library that is one header and one archive
# or shared object, the first of the LIBRARY names that is found. Makes the imported target TARGET.
include(FindPackageHandleStandardArgs)
macro(find_c_library name target header)
  find_path(${name}_INCLUDE_DIR ${header} PATH_SUFFIXES suitesparse)
  find_library(${name}_LIBRARY NAMES ${ARGN})
  find_package_handle_standard_args(${name} REQUIRED_VARS ${name}_LIBRARY ${name}_INCLUDE_DIR)
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
  if(${name}_FOUND AND NOT TARGET ${target})
    add_library(${target} UNKNOWN IMPORTED)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${${name}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
  endif()
endmacro()
