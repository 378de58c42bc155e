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
