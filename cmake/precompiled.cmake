# g++ spends a tenth of its time to use a unit's memory again; with this it takes up to 1 GB for one instead.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=786432>)

# What nearly every unit includes is parsed once per level of effort: the standard library, Eigen, fmt, and the system that all
# else is about. Who changes one of these headers builds everything again, as without.
function(perp_precompile target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <cmath> <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <stdexcept> <string>
    <utility> <variant> <vector> <Eigen/Core> <fmt/format.h>
    <perp/core/base/archive.hpp> <perp/core/base/error.hpp> <perp/core/base/index.hpp> <perp/core/base/status.hpp>
    <perp/core/dcs.hpp> <perp/core/lcs.hpp> <perp/core/system/system.hpp> <perp/core/trajectory.hpp> ${ARGN})
endfunction()

# Levels of effort of the compiler: all for what is called once a step; less, in a third of the time less, for what is called
# once an event or a search; least for tests, also under sanitizers, where it takes three quarters of the time of -O1; small
# rather than fast for what reads and writes words.
set(PERP_SANITIZED FALSE)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(PERP_SANITIZED TRUE)
endif()
function(perp_less_effort target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()
function(perp_least_effort target)
  target_compile_options(${target} PRIVATE $<$<OR:$<CONFIG:Release>,$<BOOL:${PERP_SANITIZED}>>:-Og>)
endfunction()
function(perp_small target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
  perp_position_independent(${target})
  target_precompile_headers(${target} REUSE_FROM perp_words_header)
endfunction()

# Takes the sources of these two levels out of the list `sources` and puts them into `cold` and `words`. What keeps a state and
# reads it again, *_archive.cpp, is words: made small it takes a third of the room.
function(perp_cold_sources sources cold words)
  set(cold_folders "analysis/(hybrid(/roots)?|enclosure/laws)|lcp/exact|schemes/(poles|located/events)")
  # The last ones hold mathematics of questions that are asked once a command.
  set(word_folders "analysis(/(convergence|maps|measures|phase|run|schemes|solutions|sweep)(/.*)?)?")
  string(APPEND word_folders "|core/(expression(/fraction)?|laws)|models/language(/.*)?")
  string(APPEND word_folders "|core/expression/kinks|core/expression/rewriting|core/pencil|lcp/exact/polynomials|schemes/step/solvability|analysis/enclosure/(kept|parts|pieces|proof|section)|analysis/hybrid/proofs|analysis/hybrid/run|analysis/hybrid/ways|lcp/libraries|lcp/structure|lcp/forms|lcp/nearest|schemes/(box|continuation|events|jumps|mechanical|located/equilibria|located/passage|located/transition)")
  set(word_files "_archive|linear/least_squares|located/(curved|located)_rows|events/(hidden_pulses|rough_ends)|radau_sensitivities|nonlinear_(start|changes)|poles/(explicit_form|lines|divisors)|core/(dcs|law|lcs_as_dcs)|schemes/(system_parts|check_options|system_schemes)|run/(system_runs|run_end)|enclosure/(exact_model|exact_start|dependent_starts|enclose)")
  foreach(source IN LISTS ${sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    if(folder MATCHES "^(${word_folders})$" OR source MATCHES "(${word_files})\\.cpp$")
      list(APPEND is_words ${source})
    elseif(folder MATCHES "^(${cold_folders})$")
      list(APPEND is_cold ${source})
    else()
      list(APPEND is_hot ${source})
    endif()
  endforeach()
  set(${sources} ${is_hot} PARENT_SCOPE)
  set(${cold} ${is_cold} PARENT_SCOPE)
  set(${words} ${is_words} PARENT_SCOPE)
endfunction()
