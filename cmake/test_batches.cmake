# Batches of tests, compiled as one unit where CMAKE_UNITY_BUILD asks for it. Each source stands in a namespace of its own, so
# that helpers of the same name do not meet; what the sources include comes before, outside of it. Sources that open
# namespaces of perp or define macros are compiled alone.
set(PERP_TEST_BATCH ${CMAKE_CURRENT_LIST_FILE})
set(PERP_TEST_BATCHES ${CMAKE_UNITY_BUILD} CACHE BOOL "compile tests in batches")

# perp_test_batches(SOURCES): puts the batches into the place of the sources in this list. They are written when they are built:
# a new include in a test needs no new configuration.
function(perp_test_batches list_of_sources)
  if(NOT PERP_TEST_BATCHES)
    return()
  endif()
  set(batch_size 8)
  set(compiled "")
  set(together "")
  foreach(source IN LISTS ${list_of_sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    file(STRINGS ${source} own_names REGEX "^ *#define|^namespace perp")
    if(own_names)
      list(APPEND compiled ${source})
    else()
      list(APPEND together ${source})
    endif()
  endforeach()

  set(number 0)
  while(together)
    list(SUBLIST together 0 ${batch_size} members)
    list(REMOVE_ITEM together ${members})
    set(batch ${CMAKE_CURRENT_BINARY_DIR}/batches/${folder}_${number}.cpp)
    add_custom_command(OUTPUT ${batch} DEPENDS ${members} ${PERP_TEST_BATCH}
      COMMAND ${CMAKE_COMMAND} -D BATCH=${batch} -D "SOURCES=${members}" -P ${PERP_TEST_BATCH} VERBATIM)
    list(APPEND compiled ${batch})
    math(EXPR number "${number} + 1")
  endwhile()
  set_source_files_properties(${compiled} PROPERTIES COMPILE_OPTIONS
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")  # g++ takes a member of a batch for a header
  set(${list_of_sources} ${compiled} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL PERP_TEST_BATCH)
  cmake_path(SET root NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../tests)
  set(includes "")
  set(members "")
  foreach(source IN LISTS SOURCES)
    file(STRINGS ${source} lines REGEX "^#include")
    list(APPEND includes ${lines})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${root} OUTPUT_VARIABLE path)
    string(MAKE_C_IDENTIFIER "${path}" name)
    string(APPEND members "namespace ${name} {\n#include <perp/tests/${path}>\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "\n" includes)
  file(WRITE ${BATCH} "// Written by cmake/test_batches.cmake.\n${includes}\n${members}")
endif()
