#pragma once

#include <stdexcept>
#include <string>

namespace perp {

/// Wrong input, found at the door: the message names the member or the place, what was found and
/// what is wanted. The command line turns it into one line and exit status 2.
class InvalidInput : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A file could not be read or written (missing, a directory, no permission, disk full).
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace perp
