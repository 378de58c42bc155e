#pragma once

#include <functional>
#include <string>

#include <perp/core/trajectory.hpp>
#include <perp/io/files/output_file.hpp>

namespace perp::io {

/// The rows of a run beside a file that cannot be gone on with where it was cut off, as HDF5. The bytes are those of one
/// build, not a format.
class RowSpool {
 public:
  /// Throws FileError.
  explicit RowSpool(const std::string& file) : name_(file), file_(file, Writing::rows) {}

  void add(const Step& step, const Vector& outputs);
  /// What was written so far, see OutputFile.
  void transfer(Archive& archive) { archive(file_, rows_); }
  /// The rows that the file holds, after `transfer` has read where they end. Throws ArchiveError.
  void read(const std::function<void(const Step& step, const Vector& outputs)>& row) const;

 private:
  std::string name_;
  OutputFile file_;
  std::size_t rows_ = 0;
};

}  // namespace perp::io
