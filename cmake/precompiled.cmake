# g++ spends a tenth of its time to use a unit's memory again; with this it takes up to 1 GB for one instead.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=786432>)

# What nearly every unit includes is parsed once per target: the standard library, Eigen and fmt.
function(perp_precompile target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <cmath> <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <string>
    <utility> <vector> <Eigen/Core> <fmt/format.h> ${ARGN})
endfunction()

# What reads and writes words is no hot loop, nor are tests: they are compiled with less effort, in a third of the time
# less.
function(perp_less_effort target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# What is asked for once a command: small rather than fast.
function(perp_small target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
endfunction()

# Takes out of the list `sources` what is asked for once a run, an event or a search, not once a step, and puts it into
# `cold`.
function(perp_cold_sources sources cold)
  set(folders "analysis|analysis/(convergence|hybrid/(proofs|roots|ways)|maps|measures|run|schemes|solutions|sweep)(/.*)?")
  string(APPEND folders "|core/(expression|laws|pencil)|lcp/(exact|forms|nearest|structure)|models/language(/.*)?")
  string(APPEND folders "|schemes/(continuation|events|jumps|mechanical|poles|located/(equilibria|events|passage|transition))")
  set(more_folders "analysis/(enclosure/laws|enclosure/parts|enclosure/proof|hybrid|hybrid/run|phase)|core/expression/fraction|lcp/exact/polynomials")
  string(APPEND more_folders "|schemes/step/solvability")
  foreach(source IN LISTS ${sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    if(folder MATCHES "^(${folders})$" OR folder MATCHES "^(${more_folders})$")
      list(APPEND is_cold ${source})
    else()
      list(APPEND is_hot ${source})
    endif()
  endforeach()
  set(${sources} ${is_hot} PARENT_SCOPE)
  set(${cold} ${is_cold} PARENT_SCOPE)
endfunction()
