#pragma once

#include <fmt/format.h>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/digest.hpp>

namespace perp::io {

/// A file that takes the place of another once it is complete: it is written under a temporary name
/// in the same folder and renamed by `commit`, with the permissions of the file that it replaces.
/// Without `commit` it is removed and the old file stays as it was. A symbolic link is followed: its
/// target is replaced. Throws FileError.
class Replacement {
 public:
  explicit Replacement(const std::string& name);
  Replacement(Replacement&& other) noexcept;
  Replacement& operator=(Replacement&&) = delete;
  ~Replacement();

  [[nodiscard]] const std::string& path() const { return temporary_; }  ///< where to write
  /// What was written must be closed before.
  void commit();

 private:
  std::string name_, target_, temporary_;
};

/// How a file is written.
enum class Writing {
  whole,  ///< beside its place, which it takes when it is closed; see Replacement
  rows,   ///< in its place, a record at a time: whatever stops the program, no record is cut in two
  rows_once  ///< the same of rows that nothing goes on behind: see OutputFile::transfer
};

/// A text file, or standard output for "-" and for every other name of it. A file is emptied only
/// when the first of its records is written, and left as it was, or not there, without any; devices and pipes are written as they are. Throws
/// FileError when it cannot be opened or written.
class OutputFile {
 public:
  explicit OutputFile(const std::string& name, Writing writing = Writing::whole);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Of a file that was not closed the records up to here are kept where it is written in rows.
  ~OutputFile();

  [[nodiscard]] fmt::memory_buffer& buffer() { return buffer_; }
  /// The record in `buffer` is complete: it is written when there are many or some time has passed.
  void end_record();
  /// What was written so far, all of it on the disk; on reading the file goes on behind it. Throws ArchiveError where the
  /// file does not begin with it. Not of rows that are written once.
  void transfer(Archive& archive);
  /// Everything so far is on the disk.
  void sync();
  /// Writes everything and reports what the file system says, e.g. that the disk is full.
  void close();

 private:
  /// Of each eighth byte: a product of a digest waits for the one before it.
  using Digests = std::array<Digest, 8>;
  /// `place`: of the first of these bytes in the file.
  static void add(std::string_view bytes, std::size_t place, Digests& digests) {
    for (const char& byte : bytes) digests[place++ % digests.size()].add({&byte, 1});
  }
  void open_in_place(const std::string& name, int flags);
  void flush();
  [[noreturn]] void fail_with_whole_lines(std::size_t written);
  void go_on_behind();

  std::string name_;
  int descriptor_ = -1;
  bool empties_ = false;  // an old file is emptied by the first write
  bool is_new_ = false;   // there was none: it goes again if nothing is written
  bool may_go_on_ = true;  // may somebody ask what was written?
  std::optional<Replacement> replacement_;
  fmt::memory_buffer buffer_;
  std::size_t written_ = 0;  // bytes,
  Digests digests_{};        // and of what
  int records_ = 0;
  std::chrono::steady_clock::time_point flushed_;
};

/// Writes a whole text file at once.
void write_file(const std::string& name, const std::string& text);

/// Does the name of a table ask for HDF5, not for CSV, as "-" and the empty name do? Throws InvalidInput where its extension
/// is of neither.
bool is_hdf5(const std::string& file);

/// A field of a CSV file, in quotes where it needs them.
std::string quoted(const std::string& text);

}  // namespace perp::io
