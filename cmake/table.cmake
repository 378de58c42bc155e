# Registration by generated tables: a file <folder>/<name>.cpp defines the object <name>, and this writes the
# list of all of them, so that a new file is a new entry and no list is edited.

# perp_table(SOURCES PATTERN HEADER NAMESPACE TYPE FUNCTION): for every file in the list SOURCES whose path
# matches PATTERN (its first group is the name), the object `extern const TYPE <name>` of NAMESPACE. Appends to
# SOURCES a file that defines what HEADER declares:  const std::vector<const TYPE*>& FUNCTION().
function(perp_table sources pattern header namespace type function)
  set(names "")
  foreach(source IN LISTS ${sources})
    if(source MATCHES "${pattern}")
      list(APPEND names ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY perp_${function} "${names}")  # for projects that add to them
  set(table ${PROJECT_BINARY_DIR}/${function}.cpp)
  perp_write_table(${table} ${header} ${namespace} ${type} ${function} ${names})
  if(NOT CMAKE_SCRIPT_MODE_FILE)  # alone, so that a test can replace it
    set_source_files_properties(${table} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  set(${sources} ${${sources}} ${table} PARENT_SCOPE)
endfunction()

# perp_write_table(FILE HEADER NAMESPACE TYPE FUNCTION NAME...): the table of these objects.
function(perp_write_table file header namespace type function)
  set(declarations "")
  set(entries "")
  foreach(name IN LISTS ARGN)
    string(APPEND declarations "extern const ${type} ${name};\n")
    string(APPEND entries "    &${name},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "// Written by cmake/table.cmake.
#include <@header@>

namespace @namespace@ {
@declarations@
const std::vector<const @type@*>& @function@() {
  static const std::vector<const @type@*> table{
@entries@  };
  return table;
}
}  // namespace @namespace@
" @ONLY)
endfunction()

# For projects that use perp: perp_add_schemes(TARGET FILE...), perp_add_solvers(TARGET FILE...). A file <name>.cpp of
# theirs defines `extern const perp::SchemeEntry <name>` in perp::scheme_files, or `extern const perp::MlcpSolvers <name>`
# in perp; in the program TARGET it has its name in model files like those of perp, whose table gives way to TARGET's.
function(perp_add_schemes target)
  perp_add_to_table(${target} perp/models/language/scheme_table.hpp perp::scheme_files SchemeEntry scheme_table ${ARGN})
endfunction()
function(perp_add_solvers target)
  perp_add_to_table(${target} perp/lcp/solver_table.hpp perp MlcpSolvers solver_table ${ARGN})
endfunction()
function(perp_add_to_table target header namespace type function)
  get_property(names GLOBAL PROPERTY perp_${function})
  foreach(source IN LISTS ARGN)
    cmake_path(GET source STEM name)
    list(APPEND names ${name})
  endforeach()
  set(table ${CMAKE_CURRENT_BINARY_DIR}/${target}_${function}.cpp)
  perp_write_table(${table} ${header} ${namespace} ${type} ${function} ${names})
  target_sources(${target} PRIVATE ${table} ${ARGN})
endfunction()

# Solvers: lcp/solvers/<name>.cpp defines `extern const perp::MlcpSolvers <name>`.
function(perp_solver_table sources)
  perp_table(${sources} "/lcp/solvers/([^/]+)\\.cpp$" perp/lcp/solver_table.hpp perp MlcpSolvers solver_table)
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()

# Schemes: analysis/schemes/<name>.cpp defines `extern const perp::SchemeEntry <name>` in perp::scheme_files.
function(perp_scheme_table sources)
  perp_table(${sources} "/analysis/schemes/([^/]+)\\.cpp$" perp/models/language/scheme_table.hpp perp::scheme_files
    SchemeEntry scheme_table)
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()

# Laws: core/laws/<name>.cpp defines `extern const perp::NamedLaws <name>` in perp::law_files.
function(perp_law_table sources)
  perp_table(${sources} "/core/laws/([^/]+)\\.cpp$" perp/core/laws/law_table.hpp perp::law_files NamedLaws law_table)
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()

# Analyses that a map shows: analysis/maps/quantities/<name>.cpp defines `extern const perp::MapQuantities <name>` in
# perp::quantity_files.
function(perp_quantity_table sources)
  perp_table(${sources} "/analysis/maps/quantities/([^/]+)\\.cpp$" perp/analysis/maps/quantity_table.hpp
    perp::quantity_files MapQuantities quantity_table)
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()

# Commands of the program: cli/<name>.cpp defines `extern const perp::cli::Command <name>`.
function(perp_command_table sources)
  list(FILTER ${sources} EXCLUDE REGEX "/cli/main\\.cpp$")
  perp_table(${sources} "/cli/([^/]+)\\.cpp$" perp/cli/command.hpp perp::cli Command command_table)
  set(${sources} ${${sources}} ${PROJECT_SOURCE_DIR}/cli/main.cpp PARENT_SCOPE)
endfunction()
