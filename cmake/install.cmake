# `cmake --install`: library, headers, program, models, and what find_package(perp) reads.
include(CMakePackageConfigHelpers)
set(perp_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/perp)

install(TARGETS perp EXPORT perpTargets FILE_SET HEADERS)
install(EXPORT perpTargets NAMESPACE perp:: DESTINATION ${perp_config_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/perp/models
  FILES_MATCHING PATTERN "*.toml")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

get_property(perp_scheme_table GLOBAL PROPERTY perp_scheme_table)
get_property(perp_solver_table GLOBAL PROPERTY perp_solver_table)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/perp-config.cmake.in
  ${PROJECT_BINARY_DIR}/perp-config.cmake INSTALL_DESTINATION ${perp_config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/perp-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/perp-config.cmake ${PROJECT_BINARY_DIR}/perp-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindGMP.cmake ${PROJECT_SOURCE_DIR}/cmake/FindLAPACKE.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindBTF.cmake ${PROJECT_SOURCE_DIR}/cmake/find_c_library.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindKLU.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindMPFR.cmake ${PROJECT_SOURCE_DIR}/cmake/table.cmake
  DESTINATION ${perp_config_dir})
