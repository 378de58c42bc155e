#pragma once

#include <memory>
#include <string>
#include <vector>

#include <perp/cli/output/provenance.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/model.hpp>

namespace perp::cli {

/// A trajectory as HDF5, N rows:
///     /t [N], /x [N×n], /lambda, /w [N×m], /mode [N×m] (branch indices from 0; -1 unknown),
///     /events/{t, t_before, t_after, type, law, from, to, size, note, x_before, x_after}
/// with the names of the columns as attributes "columns", the branches of law i as attribute
/// "branches <i>" of /mode, and the provenance as attributes of the root. Rows are appended in
/// chunks and flushed every second, so that the file can be read whatever stops the program.
class Hdf5Writer {
 public:
  Hdf5Writer(const std::string& file, const Model& model);
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  ~Hdf5Writer();

  void row(const Step& step);
  /// Writes the rest: the last rows, the events, the provenance. Throws FileError.
  void close(const std::vector<Event>& events, const Json& provenance);

 private:
  class File;
  std::unique_ptr<File> file_;
};

}  // namespace perp::cli
