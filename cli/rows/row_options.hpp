#pragma once

#include <string>

#include <perp/cli/input/command_line.hpp>
#include <perp/core/base/types.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/run_recorder.hpp>

namespace perp::cli {

/// Which states of a run are rows of its file, and how these are written.
struct RowOptions {
  std::string times;
  long every = 0;  ///< 0: not given
  bool is_compressed = false;

  /// --times, --every and --compress.
  void add_to(CommandLine& line);
  /// As the run's recorder takes them. Throws InvalidInput: a time outside of the span, an option without an effect on the
  /// file of `destinations`.
  void put_into(io::Destinations& destinations, Span span) const;
  /// The file of times.
  void declare(io::FilesOfCommand& files) const;
};

}  // namespace perp::cli
