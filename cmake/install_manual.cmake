# Manual pages and the completion of the shell, from the options that the program `perp_program` has. Its own lists say which commands
# there are.
function(write_output file)
  execute_process(COMMAND ${perp_program} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE $ENV{DESTDIR}${file} "${text}")
  message(STATUS "Installing: $ENV{DESTDIR}${file}")
endfunction()

write_output(${perp_man}/perp.1 --man)
file(READ $ENV{DESTDIR}${perp_man}/perp.1 page)
string(REGEX MATCHALL "\\\\fBperp\\\\-([a-z]+)" commands "${page}")
list(TRANSFORM commands REPLACE ".*-" "")
foreach(command IN LISTS commands)
  write_output(${perp_man}/perp-${command}.1 --man ${command})
endforeach()
write_output(${perp_completions}/perp --completion bash)
