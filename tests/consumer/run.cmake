# Installs perp into an empty prefix, moves the prefix, builds and runs the consumer against it, and runs the
# installed program. Called by ctest with BUILD, WORK, GENERATOR, COMPILER, FLAGS and PYTHON.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH tests)
cmake_path(GET tests PARENT_PATH root)
set(example ${root}/examples/switching_dae)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
file(RENAME ${WORK}/installed ${WORK}/prefix)  # the package must not know where it was installed first
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra -Werror"
    -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -D EXAMPLE=${example}.cpp)
run(${CMAKE_COMMAND} --build ${WORK}/build)
if(GENERATOR STREQUAL Ninja)  # perp.hpp reaches Eigen and the standard library, nothing else
  find_program(ninja ninja REQUIRED)
  run(${ninja} -C ${WORK}/build -t deps)
  string(FIND "${output}" "/perp.hpp" position)
  if(position EQUAL -1 OR output MATCHES "/(boost|nlohmann|CLI|toml[+]+|fmt|gmp[.]h|hdf5|lapacke[.]h|btf[.]h)")
    message(FATAL_ERROR "perp.hpp includes what a user need not have: ${CMAKE_MATCH_0}\n${output}")
  endif()
endif()
run(${WORK}/build/consumer)
file(WRITE ${WORK}/output.txt "${output}")
run(${PYTHON} ${root}/scripts/compare_output.py ${example}.expected ${WORK}/output.txt)

# A scheme and a solver of a project's own, one file each: x = 1 - t at 0.5.
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/extensions -B ${WORK}/extensions -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra -Werror"
    -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${WORK}/extensions)
run(${WORK}/extensions/extensions)
string(REGEX REPLACE "[ \n]+$" "" output "${output}")
set(expected "3 states, solved, x = 0.5
5 states, solved, x = 0.5
9 states, solved, x = 0.5
m.toml:12:9: run.share is 0; expected a number > 0
m.toml:11:1: scheme backward_euler has no option 'share', which belongs to half_steps; it has h, petsc, policy, selector, solver, split_at_events, tol
")
string(FIND "${output}" "${expected}" position)
if(NOT position EQUAL 0)
  message(FATAL_ERROR "the scheme of a project's own gave\n${output}\nand not\n${expected}")
endif()
if(NOT output MATCHES "\n[0-9]+ states, not_solved[^\n]*\n3 states, solved, x = 0.5$")
  message(FATAL_ERROR "the solver of a project's own was not called, or judged:\n${output}")
endif()

run(${WORK}/prefix/bin/perp list models)
file(GLOB models RELATIVE ${root}/models ${root}/models/*.toml)
foreach(model IN LISTS models)
  string(REGEX REPLACE "\\.toml$" "" model ${model})
  string(FIND "${output}" "${model}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "the installed program does not list the model ${model}:\n${output}")
  endif()
  if(NOT EXISTS ${WORK}/prefix/share/perp/models/${model}.toml)
    message(FATAL_ERROR "the model ${model} is not installed")
  endif()
endforeach()
