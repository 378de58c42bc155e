include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS perp EXPORT perpTargets FILE_SET HEADERS)
install(EXPORT perpTargets NAMESPACE perp:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/perp)
