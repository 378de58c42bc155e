# KLU of SuiteSparse, factorizations of sparse matrices without much fill, with what it calls: target SuiteSparse::klu.
# Linked statically where the archives are there.
find_path(KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
set(klu_libraries "")
foreach(part klu btf amd colamd suitesparseconfig)
  find_library(KLU_${part}_LIBRARY NAMES lib${part}.a ${part})
  mark_as_advanced(KLU_${part}_LIBRARY)
  list(APPEND klu_libraries ${KLU_${part}_LIBRARY})
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(KLU REQUIRED_VARS KLU_klu_LIBRARY KLU_amd_LIBRARY KLU_colamd_LIBRARY
  KLU_btf_LIBRARY KLU_suitesparseconfig_LIBRARY KLU_INCLUDE_DIR)
mark_as_advanced(KLU_INCLUDE_DIR)

if(KLU_FOUND AND NOT TARGET SuiteSparse::klu)
  add_library(SuiteSparse::klu INTERFACE IMPORTED)
  set_target_properties(SuiteSparse::klu PROPERTIES INTERFACE_LINK_LIBRARIES "${klu_libraries}"
    INTERFACE_INCLUDE_DIRECTORIES "${KLU_INCLUDE_DIR}")
endif()
