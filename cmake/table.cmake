# Registration of solvers: lcp/solvers/<name>.cpp defines `extern const perp::MlcpSolvers <name>`, and
# this writes the table of all of them, so that a new file is a new solver and no list is edited.
function(perp_solver_table sources)
  set(declarations "")
  set(entries "")
  foreach(source IN LISTS ${sources})
    if(source MATCHES "/lcp/solvers/([^/]+)\\.cpp$")
      string(APPEND declarations "extern const MlcpSolvers ${CMAKE_MATCH_1};\n")
      string(APPEND entries "    &${CMAKE_MATCH_1},\n")
    endif()
  endforeach()
  set(table ${PROJECT_BINARY_DIR}/solver_table.cpp)
  file(CONFIGURE OUTPUT ${table} CONTENT "// Written by cmake/table.cmake from the files in lcp/solvers.
#include <perp/lcp/solver_table.hpp>

namespace perp {
@declarations@
const std::vector<const MlcpSolvers*>& solver_table() {
  static const std::vector<const MlcpSolvers*> table{
@entries@  };
  return table;
}
}  // namespace perp
" @ONLY)
  set(${sources} ${${sources}} ${table} PARENT_SCOPE)
endfunction()
