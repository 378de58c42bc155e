# `cmake --install`: library, headers, program, models, manual pages, and what find_package(perp) and pkg-config read. The
# components `program` and `development` can be installed alone; scripts/package makes packages of them.
include(CMakePackageConfigHelpers)
set(perp_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/perp)

install(TARGETS perp EXPORT perpTargets COMPONENT development FILE_SET HEADERS COMPONENT development)
install(EXPORT perpTargets NAMESPACE perp:: DESTINATION ${perp_config_dir} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/perp/models COMPONENT program
  FILES_MATCHING PATTERN "*.toml")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# The program tells of its own options.
install(CODE "set(perp_program $<TARGET_FILE:perp_program>)
set(perp_man \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1)
set(perp_completions \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions)" COMPONENT program)
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_manual.cmake COMPONENT program)

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
  DESTINATION ${perp_config_dir} COMPONENT development)

# Whoever links a static library links what it uses: by the names of Debian's packages.
configure_file(${PROJECT_SOURCE_DIR}/cmake/perp.pc.in ${PROJECT_BINARY_DIR}/perp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/perp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
