#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <perp/io/run_recorder.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp::io {

/// What a run is, name by name, for those who go on with it: the program's build, the model with its values, scheme, span, and
/// what is written and drawn.
using RunIdentity = std::vector<std::pair<std::string, std::string>>;
RunIdentity run_identity(const Model& model, const Destinations& destinations);

/// A file with this behind what says of which computation it is, and a digest of both: written beside its place and renamed.
/// Throws FileError.
void write_checkpoint(const std::string& file, RunIdentity identity, const std::string& state);
/// What such a file holds. Throws FileError, InvalidInput: it is none, damaged, or of another computation, with the difference.
std::string read_checkpoint(const std::string& file, const RunIdentity& identity);
/// "build of perp", and which one it is.
std::pair<std::string, std::string> identity_of_build();

/// A file from which a run goes on with the bits that it would have had: the state of the scheme between two steps, and
/// what was recorded by then. It is written beside its place and renamed, so that a good one is there whenever the program
/// ends. It is of one build of the program, and holds a digest of all it says.
class RunCheckpoint {
 public:
  RunCheckpoint(std::string file, RunIdentity identity) : file_(std::move(file)), identity_(std::move(identity)) {}

  /// The run writes the file every so many seconds. Both, and this, outlive the run.
  void write_every(double seconds, IntegrateOptions& options, RunRecorder& recorder);
  /// The run goes on from the file, and the recorder with its own. Throws FileError, InvalidInput: it is none, damaged, or
  /// of another run, with the difference.
  void go_on(IntegrateOptions& options, RunRecorder& recorder) const;

 private:
  void write(const std::string& state, RunRecorder& recorder) const;

  std::string file_;
  RunIdentity identity_;
  std::chrono::steady_clock::time_point written_;
};

}  // namespace perp::io
