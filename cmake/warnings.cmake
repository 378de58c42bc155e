# Warnings of perp's own targets; errors with PERP_WERROR (on in every preset).
function(perp_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${PERP_WERROR}>:-Werror>)
endfunction()
