#pragma once

#include <functional>
#include <string>
#include <vector>

#include <perp/core/base/status.hpp>

namespace perp::io {}

namespace perp::cli {

class CommandLine;

using namespace io;  // a command prints what the library found

inline constexpr int exit_solved = 0;
inline constexpr int exit_internal_error = 1;  ///< a bug of ours
inline constexpr int exit_wrong_input = 2;
inline constexpr int exit_no_answer = 3;  ///< the mathematics said no; what was computed is written

/// 0 or 3.
inline int exit_status(Status status) {
  return status == Status::solved ? exit_solved : exit_no_answer;
}

/// What a command does once its arguments are read; returns the exit status. Wrong input is thrown
/// as InvalidInput or FileError.
using Action = std::function<int()>;

/// A command of the program: one constant per verb, in cli/<name>.cpp.
struct Command {
  const char* name;
  const char* purpose;                 ///< one line, as in `perp --help`
  const char* examples;                ///< lines below the options in `perp NAME --help`
  Action (*configure)(CommandLine& line);  ///< adds the command's options
};

/// All commands, from the table that the build makes of this folder.
const std::vector<const Command*>& command_table();

}  // namespace perp::cli
