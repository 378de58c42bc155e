#pragma once

#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/error.hpp>

namespace perp::io {

/// Nobody reads the pipe that is written: the program ends without a word.
class ClosedPipe : public FileError {
 public:
  using FileError::FileError;
};

/// The absolute path that a name stands for once all symbolic links are followed, whether the file
/// exists or not.
std::string link_target(const std::string& name);

/// Is this a name of what standard output goes to?
bool is_standard_output(const std::string& name);

/// The files that a command reads and writes. Files are told apart by device and inode, those that
/// do not exist yet by folder and name, so that links and other spellings count. Each call throws
/// InvalidInput where a file would be written that is read too, where two outputs are one file, or
/// where text and data would go to one place, and FileError where an output cannot be written:
/// before anything is computed.
class FilesOfCommand {
 public:
  enum class Text { standard_output, none };
  /// Where the command's own text goes besides its files.
  explicit FilesOfCommand(Text text = Text::standard_output) : text_(text) {}

  /// `what` names the file's role: "MODEL", "--times". A file that does not exist is left to its
  /// reader.
  void reads(const std::string& file, const std::string& what);
  /// The empty name is no file; "-" is none, and stands once.
  void writes(const std::string& file, const std::string& what);
  /// The same for a table with its provenance beside it in FILE.json.
  void writes_with_json(const std::string& file, const std::string& what);

 private:
  struct Named {
    std::string what, file, identity;
  };
  void check_streams(const std::string& file, const std::string& what) const;
  void check_new(const std::string& identity, const std::string& file, const std::string& what) const;

  Text text_;
  std::vector<Named> inputs_, outputs_;
  std::string on_standard_output_;  // the option whose table goes there
};

}  // namespace perp::io
