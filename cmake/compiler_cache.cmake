# ccache where it is found, unless the caller names a launcher: objects are shared between checkouts (paths relative
# to the checkout) and beside precompiled headers, whose macros and times it must not compare.
find_program(PERP_CCACHE ccache)
mark_as_advanced(PERP_CCACHE)
if(PERP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${PERP_CCACHE})
endif()
