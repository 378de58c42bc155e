# Siconos numerics as Debian packages it (4.4.0; its headers do not tell their version). Its own config file is
# not usable: it reports another version than the library and resets CMAKE_CXX_STANDARD.
find_path(SiconosNumerics_INCLUDE_DIR SiconosNumerics.h PATH_SUFFIXES siconos/numerics)
find_path(SiconosNumerics_CONFIG_DIR SiconosConfig.h PATH_SUFFIXES siconos)
find_library(SiconosNumerics_LIBRARY siconos_numerics)
mark_as_advanced(SiconosNumerics_INCLUDE_DIR SiconosNumerics_CONFIG_DIR SiconosNumerics_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SiconosNumerics
  REQUIRED_VARS SiconosNumerics_LIBRARY SiconosNumerics_INCLUDE_DIR SiconosNumerics_CONFIG_DIR)

# By this name the library is found at run time.
if(SiconosNumerics_FOUND AND NOT SiconosNumerics_SONAME)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${SiconosNumerics_LIBRARY} OUTPUT_VARIABLE SiconosNumerics_dynamic)
  string(REGEX MATCH "SONAME +([^ \n]+)" SiconosNumerics_dynamic "${SiconosNumerics_dynamic}")
  set(SiconosNumerics_SONAME ${CMAKE_MATCH_1})
  if(NOT SiconosNumerics_SONAME)
    get_filename_component(SiconosNumerics_SONAME ${SiconosNumerics_LIBRARY} NAME)
  endif()
endif()

if(SiconosNumerics_FOUND AND NOT TARGET Siconos::numerics)
  add_library(Siconos::numerics UNKNOWN IMPORTED)
  set_target_properties(Siconos::numerics PROPERTIES
    IMPORTED_LOCATION ${SiconosNumerics_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${SiconosNumerics_INCLUDE_DIR};${SiconosNumerics_CONFIG_DIR}")
endif()
