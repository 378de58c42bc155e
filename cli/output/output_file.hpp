#pragma once

#include <fmt/format.h>
#include <chrono>
#include <string>

namespace perp::cli {

/// A text file, or standard output for "-", that is written in whole records: whatever stops the
/// program, no record is cut in two. Throws FileError when it cannot be opened or written.
class OutputFile {
 public:
  explicit OutputFile(const std::string& name);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  [[nodiscard]] fmt::memory_buffer& buffer() { return buffer_; }
  /// The record in `buffer` is complete: it is written when there are many or some time has passed.
  void end_record();
  /// Writes everything and reports what the file system says, e.g. that the disk is full.
  void close();

 private:
  void flush();

  std::string name_;
  int descriptor_ = -1;
  fmt::memory_buffer buffer_;
  int records_ = 0;
  std::chrono::steady_clock::time_point flushed_;
};

/// Writes a whole text file at once.
void write_file(const std::string& name, const std::string& text);

/// A field of a CSV file, in quotes where it needs them.
std::string quoted(const std::string& text);

}  // namespace perp::cli
