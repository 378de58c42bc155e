# Static libraries that a shared object links, the Python module for one. As an option, not as the property: an executable
# that uses the precompiled header of such a library is compiled alike. Functions of a unit are still inlined.
function(perp_position_independent target)
  target_compile_options(${target} PRIVATE -fPIC -fno-semantic-interposition)
endfunction()
