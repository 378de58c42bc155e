#pragma once

#include <hdf5.h>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/error.hpp>

/// What the writers of HDF5 files share. All throw FileError.
namespace perp::io::hdf5 {

/// Did a write fail? The library then holds data that it could not write, and would try again, and
/// crash, in whatever closes an identifier: from now on none is closed.
bool write_failed();
/// Remembers that, and throws.
[[noreturn]] void fail(const std::string& what);

/// An HDF5 identifier that is closed with its own function.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close, const std::string& what) : id_(id), close_(close) {
    if (id < 0) fail(what);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0 && !write_failed()) close_(id_);
  }
  /// Closes now and says whether that went well.
  [[nodiscard]] herr_t finish() { return close_(std::exchange(id_, -1)); }
  [[nodiscard]] hid_t id() const { return id_; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

void check(herr_t status, const std::string& what);

/// Variable length, UTF-8.
Handle text_type();
std::vector<const char*> pointers(const std::vector<std::string>& texts);

void write_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts);

/// A whole dataset of this shape.
void write_dataset(hid_t parent, const char* name, hid_t type, const std::vector<hsize_t>& shape,
                   const void* data);

/// A new file, or an old one emptied, which messages call `name`. Files hold no times: the same run
/// gives the same bytes.
Handle create_file(const std::string& path, const std::string& name);
Handle create_group(hid_t parent, const char* name);
/// Properties of datasets without times.
Handle dataset_properties(const std::string& name);
/// Writes what is left and closes. Throws where the file system did not take it all.
void close_file(Handle file, const std::string& name);

}  // namespace perp::io::hdf5
