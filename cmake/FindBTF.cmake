# BTF of SuiteSparse, matchings and block triangular forms of sparse patterns: target SuiteSparse::btf. Linked statically
# where its archive is there: a program that starts loads nothing for it.
find_path(BTF_INCLUDE_DIR btf.h PATH_SUFFIXES suitesparse)
find_library(BTF_LIBRARY NAMES libbtf.a btf)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BTF REQUIRED_VARS BTF_LIBRARY BTF_INCLUDE_DIR)
mark_as_advanced(BTF_INCLUDE_DIR BTF_LIBRARY)

if(BTF_FOUND AND NOT TARGET SuiteSparse::btf)
  add_library(SuiteSparse::btf UNKNOWN IMPORTED)
  set_target_properties(SuiteSparse::btf PROPERTIES IMPORTED_LOCATION "${BTF_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${BTF_INCLUDE_DIR}")
endif()
