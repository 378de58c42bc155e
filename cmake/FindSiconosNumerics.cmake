# Siconos numerics as Debian packages it. Its own config file is not usable: it reports another version
# than the library and resets CMAKE_CXX_STANDARD.
find_path(SiconosNumerics_INCLUDE_DIR SiconosNumerics.h PATH_SUFFIXES siconos/numerics)
find_path(SiconosNumerics_CONFIG_DIR SiconosConfig.h PATH_SUFFIXES siconos siconos/externals)
find_library(SiconosNumerics_LIBRARY siconos_numerics)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SiconosNumerics
  REQUIRED_VARS SiconosNumerics_LIBRARY SiconosNumerics_INCLUDE_DIR HANDLE_VERSION_RANGE)

if(SiconosNumerics_FOUND AND NOT TARGET Siconos::numerics)
  add_library(Siconos::numerics UNKNOWN IMPORTED)
  get_filename_component(siconos_root ${SiconosNumerics_INCLUDE_DIR} DIRECTORY)
  set_target_properties(Siconos::numerics PROPERTIES
    IMPORTED_LOCATION ${SiconosNumerics_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${SiconosNumerics_INCLUDE_DIR};${siconos_root};${siconos_root}/externals")
endif()
