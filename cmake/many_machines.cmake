# What many machines need is optional, and a module each that the program loads when it is asked for: perp_mpi shares a sweep
# among the processes that mpirun starts, perp_petsc makes the steps of one large system on all of them. AUTO: built where it is found; ON: it must be there.
set(PERP_MPI AUTO CACHE STRING "the module for sweeps on many machines (needs MPI): AUTO, ON or OFF")
set(PERP_PETSC AUTO CACHE STRING "the module of solver petsc (needs PETSc and MPI): AUTO, ON or OFF")
set_property(CACHE PERP_MPI PERP_PETSC PROPERTY STRINGS AUTO ON OFF)

# perp_module(NAME FILE...): a module of the program, where it looks for it: beside the program in the build tree (see
# BUILD_RPATH), in lib/perp when installed.
function(perp_module name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX lib CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/modules)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/include)
  perp_warnings(${name})
  set_property(GLOBAL APPEND PROPERTY perp_modules ${name})
  set_target_properties(perp PROPERTIES BUILD_RPATH ${PROJECT_BINARY_DIR}/modules)  # a shared one looks there itself
  install(TARGETS ${name} LIBRARY DESTINATION lib/perp COMPONENT program)
endfunction()

if(PERP_MPI OR PERP_PETSC)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(PERP_MPI STREQUAL ON AND NOT MPI_C_FOUND)
  message(FATAL_ERROR "PERP_MPI: MPI was not found; scripts/setup mpi installs it")
endif()
if(PERP_MPI AND MPI_C_FOUND)
  find_package(Threads REQUIRED)
  perp_module(perp_mpi io/ranks/module/mpi_ranks.cpp)
  target_link_libraries(perp_mpi PRIVATE MPI::MPI_C Threads::Threads)
endif()

if(PERP_PETSC AND MPI_C_FOUND)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(PETSC QUIET IMPORTED_TARGET PETSc>=3.18)
  endif()
endif()
if(PERP_PETSC STREQUAL ON AND NOT PETSC_FOUND)
  message(FATAL_ERROR "PERP_PETSC: PETSc 3.18 or later, or MPI, was not found; scripts/setup mpi installs them")
endif()
if(PERP_PETSC AND PETSC_FOUND)
  perp_module(perp_petsc lcp/libraries/module/petsc_box.cpp)
  target_link_libraries(perp_petsc PRIVATE PkgConfig::PETSC MPI::MPI_C)
endif()
