# Batches of sources of one folder are compiled as one unit, where CMAKE_UNITY_BUILD asks for it: most of a unit's time
# is what its headers instantiate. So no two files of a folder share a name in an anonymous namespace.
function(perp_unity target)
  set(batch_size 16)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND in_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    set(count 0)
    foreach(source IN LISTS in_${folder})
      math(EXPR batch "${count} / ${batch_size}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${batch})
      math(EXPR count "${count} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  if(CMAKE_UNITY_BUILD)  # g++ takes a source within a batch for a header, whose types must not be a unit's own; clang++
    # complains of a local name that is one of another source's namespace-scope names.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
      $<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>)
  endif()
endfunction()
