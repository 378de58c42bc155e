# ccache where it is found, unless the caller names a launcher: objects are shared between checkouts (paths relative
# to the checkout) and beside precompiled headers, whose macros and times of day it must not compare. Times of headers it
# does: one that changes while its unit is compiled would leave a wrong object in the cache.
find_program(PERP_CCACHE ccache)
mark_as_advanced(PERP_CCACHE)
if(PERP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${PERP_CCACHE})
endif()
