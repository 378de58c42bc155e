#pragma once

#include <memory>
#include <string>
#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/io/provenance.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp::io {

/// A trajectory as HDF5, N rows:
///     /t [N], /x [N×n], /lambda, /w [N×m], /mode [N×m] (branch indices from 0),
///     /events/{t, t_before, t_after, type, law, from, to, size, note, x_before, x_after}
/// with the names of the columns as attributes "columns", the branches of law i as attribute
/// "branches <i>" of /mode, and the provenance as attributes of the root. The file is made
/// with the first row; rows are appended in chunks. The same run gives the same bytes.
class Hdf5Writer {
 public:
  /// The model must outlive the writer. Compressed: the numbers are packed without loss (shuffle and deflate), which every
  /// reader of HDF5 undoes.
  Hdf5Writer(const std::string& file, const Model& model, bool is_compressed = false);
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  ~Hdf5Writer();

  /// `outputs`: their values at this state.
  void row(const Step& step, const Vector& outputs);
  /// Rows of a model without outputs.
  void rows(const IntegrateOptions::StepsInMode& steps);
  /// Writes the rest: the last rows, the events, the provenance. Throws FileError.
  void close(const std::vector<Event>& events, const Json& provenance);

 private:
  class File;
  File& file();

  std::string name_;
  const Model& model_;
  bool is_compressed_;
  std::unique_ptr<File> file_;
};

}  // namespace perp::io
