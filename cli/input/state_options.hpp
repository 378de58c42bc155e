#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <perp/cli/input/command_line.hpp>
#include <perp/cli/input/model_options.hpp>

namespace perp::cli {

/// The options of commands that look at a model at one state and time.
struct StateOptions {
  std::string at, time, mode;

  /// --at and --t.
  void add_to(CommandLine& line, const std::string& state, const std::string& time_of);
  void add_mode_to(CommandLine& line, const std::string& meaning);  ///< --mode

  /// The model with the state of --at as its start. Throws ModelError, InvalidInput (--t and --set t
  /// too), FileError.
  [[nodiscard]] Model read(const ModelOptions& options) const;
  /// --t, or the model's start. Throws InvalidInput.
  [[nodiscard]] double t(const Model& model) const;
  /// --mode, a branch for each law, by name or by number from 1; empty without it. Throws
  /// InvalidInput.
  [[nodiscard]] Mode present(const std::vector<Law>& laws) const;
  void check_time(const ModelOptions& options) const;
};

/// The assignments "x1=0,x2=-1" of one --at, or another option. Throws InvalidInput: an unknown variable.
std::vector<Override> parse_state(std::string_view text, const std::vector<std::string>& variables,
                                  const std::string& option = "--at");

}  // namespace perp::cli
