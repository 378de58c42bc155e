#pragma once

#include <doctest/doctest.h>
#include <hdf5.h>
#include <string>
#include <vector>

namespace perp::test {

/// A file opened by HDF5's C library.
class Hdf5 {
 public:
  explicit Hdf5(const std::string& file)
      : file_(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {}
  Hdf5(const Hdf5&) = delete;
  Hdf5& operator=(const Hdf5&) = delete;
  ~Hdf5() {
    if (file_ >= 0) H5Fclose(file_);
  }
  [[nodiscard]] bool is_open() const { return file_ >= 0; }

  [[nodiscard]] std::vector<hsize_t> size(const char* name) const {
    const hid_t set = H5Dopen2(file_, name, H5P_DEFAULT);
    if (set < 0) return {};
    const hid_t space = H5Dget_space(set);
    std::vector<hsize_t> result(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, result.data(), nullptr);
    H5Sclose(space);
    H5Dclose(set);
    return result;
  }

  template <class T>
  [[nodiscard]] std::vector<T> read(const char* name, hid_t type) const {
    hsize_t count = 1;
    for (const hsize_t n : size(name)) count *= n;
    std::vector<T> values(count);
    const hid_t set = H5Dopen2(file_, name, H5P_DEFAULT);
    REQUIRE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
    H5Dclose(set);
    return values;
  }

  /// The texts of an attribute of a dataset.
  [[nodiscard]] std::vector<std::string> texts(const char* set, const char* name) const {
    const hid_t attribute = H5Aopen_by_name(file_, set, name, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(attribute >= 0);
    const hid_t type = H5Aget_type(attribute);
    const hid_t space = H5Aget_space(attribute);
    std::vector<char*> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    REQUIRE(H5Aread(attribute, type, values.data()) >= 0);
    std::vector<std::string> result(values.begin(), values.end());
    for (char* text : values) H5free_memory(text);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return result;
  }

  [[nodiscard]] std::string attribute(const char* name) const {
    const hid_t attribute = H5Aopen(file_, name, H5P_DEFAULT);
    REQUIRE(attribute >= 0);
    const hid_t type = H5Aget_type(attribute);
    char* text = nullptr;
    REQUIRE(H5Aread(attribute, type, &text) >= 0);
    std::string result = text;
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(attribute);
    return result;
  }

 private:
  hid_t file_;
};

}  // namespace perp::test
