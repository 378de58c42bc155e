#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include <perp/cli/command.hpp>
#include <perp/cli/input/command_line.hpp>
#include <perp/cli/manual/manual.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/ranks/ranks.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp::cli {
namespace {

using Arguments = std::vector<std::string>;

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command* command : command_table()) names.emplace_back(command->name);
  return names;
}

void print_help() {
  fmt::print(
      "perp: nonsmooth time stepping; complementarity systems, every solution of a step\n\n"
      "usage: perp COMMAND [ARGUMENTS]\n\ncommands:\n");
  for (const Command* command : command_table())
    fmt::print("  {:<10} {}\n", command->name, command->purpose);
  fmt::print(
      "\n  perp COMMAND --help   options and examples of a command\n"
      "  perp --version        the version\n"
      "  perp --man [COMMAND]  the manual page; perp --completion bash: for the shell\n\n"
      "MODEL is a file or a name of the zoo (perp list models). Data go to standard output, "
      "messages "
      "to\nstandard error. Exit status: 0 solved, 2 wrong input, 3 the mathematics said no "
      "(everything computed\nso far is written).\n");
}

const Command& find_command(const std::string& name) {
  for (const Command* command : command_table())
    if (name == command->name) return *command;
  const std::vector<std::string> names = command_names();
  throw InvalidInput(fmt::format("unknown command '{}'; expected one of {}{}", name,
                                 fmt::join(names, ", "), suggestion(name, names)));
}

int run_command(const Command& command, Arguments arguments) {
  CommandLine line(command);
  const Action action = command.configure(line);
  if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end()) {
    fmt::print("{}", line.help());
    return exit_solved;
  }
  line.read(std::move(arguments));
  return action();
}

int show(const std::string& text) {
  fmt::print("{}", text);
  return exit_solved;
}

/// Of a command, or of the program.
int show_help(const Arguments& topics) {
  if (!topics.empty()) return run_command(find_command(topics.front()), {"--help"});
  print_help();
  return exit_solved;
}

int dispatch(Arguments arguments) {
  if (arguments.empty())
    throw InvalidInput(fmt::format("a command is missing; expected one of {}; see perp --help",
                                   fmt::join(command_names(), ", ")));
  const std::string first = arguments.front();
  arguments.erase(arguments.begin());
  if (first == "--version") {
    fmt::print("perp {}\n", PERP_VERSION);
    return exit_solved;
  }
  if (first == "--man") return show(manual_page(arguments));
  if (first == "--completion") return show(completion(arguments));
  if (first == "--help" || first == "help") return show_help(arguments);
  if (first.starts_with('-')) {
    const Arguments known{"--help", "--version", "--man", "--completion"};
    throw InvalidInput(fmt::format("unknown option '{}'{}", first, suggestion(first, known)));
  }
  return run_command(find_command(first), std::move(arguments));
}

/// Whatever a message quotes, it stays one line.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return text;
}

/// To standard error, as far as that can be written.
void complain(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

/// Nobody reads on: what `program | head` expects is the end by the signal, without a word.
int end_by_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  return exit_wrong_input;  // where the signal is blocked
}

/// A standard stream that the caller closed must not become the number of a file that is opened
/// later: what is written there fails instead.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// What messages begin with: "perp run".
std::string name_of(const Arguments& arguments) {
  std::string name = "perp";
  if (!arguments.empty())
    for (const Command* command : command_table())
      if (arguments[0] == command->name) name += " " + arguments[0];
  return name;
}

/// The place comes first, as in compilers' messages, for the editors that jump there.
void complain_of_model(const ModelError& error) {
  complain(one_line(error.what()));
  if (!error.excerpt().empty() && isatty(STDERR_FILENO) != 0)
    complain(error.excerpt());
}

/// Tells what was thrown, which is being handled; the exit status.
int end_by_exception(const std::string& name) {
  try {
    throw;
  } catch (const ModelError& error) {
    complain_of_model(error);
    return exit_wrong_input;
  } catch (const InvalidInput& error) {
    complain(fmt::format("{}: {}", name, one_line(error.what())));
    return exit_wrong_input;
  } catch (const FileError& error) {
    complain(fmt::format("{}: {}", name, one_line(error.what())));
    return exit_wrong_input;
  } catch (const EndedElsewhere&) {
    return exit_solved;  // the status is that of the process which has failed; with another one this might end it before its word
  } catch (const Interrupted&) {
    complain(name + ": interrupted");
    return exit_no_answer;
  } catch (const std::bad_alloc&) {
    complain(name + ": the problem does not fit into memory");
    return exit_no_answer;
  } catch (const std::exception& error) {
    complain(fmt::format("{}: internal error: {}", name, one_line(error.what())));
    return exit_internal_error;
  }
}

int program(const Arguments& arguments) {
  const std::string name = name_of(arguments);
  try {
    const int status = dispatch(arguments);
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
    return status;
  } catch (const ClosedPipe&) {
    return end_by_closed_pipe();
  } catch (const std::system_error& error) {  // what fmt::print throws
    if (error.code().value() == EPIPE) return end_by_closed_pipe();
    complain(fmt::format("{}: standard output cannot be written: {}", name,
                         error.code().message()));
    return exit_wrong_input;
  } catch (...) {
    return end_by_exception(name);
  }
}

}  // namespace
}  // namespace perp::cli

int main(int argc, char** argv) {
  perp::cli::occupy_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // files are finished first, see end_by_closed_pipe
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is an error of writing
  return perp::cli::program({argv + (argc > 0 ? 1 : 0), argv + argc});
}
