// Matrices of HDF5 files, for [multilinear]: the commands hand it to the reader of model files.
#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/io/hdf5_objects.hpp>
#include <perp/io/hybrid/sparse_hdf5.hpp>

namespace perp::io {
namespace {

using hdf5::Handle;

class SparseFile {
 public:
  SparseFile(const std::string& file, const std::string& object) : file_(file), object_(object) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are reported by us
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (id < 0) throw FileError(fmt::format("{}: cannot be opened as HDF5", file));
    handle_ = Handle(id, H5Fclose, file);
  }

  std::optional<SparseEntries> matrix() {
    if (!exists(object_)) return std::nullopt;
    const hid_t id = H5Oopen(handle_.id(), object_.c_str(), H5P_DEFAULT);
    if (id < 0) fail("cannot be opened");
    const Handle object(id, H5Oclose, file_);
    return H5Iget_type(object.id()) == H5I_GROUP ? compressed(object) : dense(object);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InvalidInput(fmt::format("{}: {} {}", file_, object_, what));
  }

  /// Each part of the path: HDF5 asks for one after the other.
  [[nodiscard]] bool exists(const std::string& path) const {
    for (std::size_t end = 0; end != std::string::npos;) {
      end = path.find('/', end + 1);
      const std::string part = path.substr(0, end);
      if (part.empty() || part == "/") continue;
      if (H5Lexists(handle_.id(), part.c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return true;
  }

  /// The numbers of a dataset, and how many in each direction; empty where it has none.
  std::vector<double> numbers(hid_t set, std::vector<hsize_t>& shape) const {
    const Handle space(H5Dget_space(set), H5Sclose, file_);
    const Handle type(H5Dget_type(set), H5Tclose, file_);
    const H5T_class_t kind = H5Tget_class(type.id());
    if (kind != H5T_FLOAT && kind != H5T_INTEGER) fail("holds no numbers");
    const int rank = H5Sget_simple_extent_ndims(space.id());
    shape.resize(at(rank < 0 ? 0 : rank));
    if (rank > 0) H5Sget_simple_extent_dims(space.id(), shape.data(), nullptr);
    std::vector<double> values(at(H5Sget_simple_extent_npoints(space.id())));
    if (!values.empty() &&
        H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
      fail("cannot be read");
    return values;
  }

  [[nodiscard]] std::vector<double> member(const char* name, bool is_required) const {
    const std::string path = object_ + "/" + name;
    if (!exists(path)) {
      if (is_required) fail(fmt::format("has no '{}'; expected data, ir and jc", name));
      return {};
    }
    const hid_t id = H5Dopen2(handle_.id(), path.c_str(), H5P_DEFAULT);
    if (id < 0) fail(fmt::format("has a '{}' that is no dataset", name));
    const Handle set(id, H5Dclose, file_);
    std::vector<hsize_t> shape;
    return numbers(set.id(), shape);
  }

  [[nodiscard]] int stated_rows(const Handle& object) const {
    if (H5Aexists(object.id(), "MATLAB_sparse") <= 0) return -1;
    const Handle attribute(H5Aopen(object.id(), "MATLAB_sparse", H5P_DEFAULT), H5Aclose, file_);
    double rows = -1;
    if (H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &rows) < 0) return -1;
    return static_cast<int>(rows);
  }

  /// Do the columns end with the last of the entries?
  void check_compressed(const std::vector<double>& jc, const std::vector<double>& ir, const std::vector<double>& data) const {
    if (jc.empty() || jc.front() != 0 || jc.back() != static_cast<double>(data.size()) ||
        ir.size() != data.size())
      fail(fmt::format("has {} data, {} ir and a jc that ends with {}; expected as many", data.size(),
                       ir.size(), jc.empty() ? 0 : jc.back()));
    if (!std::is_sorted(jc.begin(), jc.end())) fail("has a jc that falls");
  }

  /// Column k holds the entries jc[k] to jc[k+1] - 1; a matrix of zeros has no data and no ir.
  SparseEntries compressed(const Handle& object) {
    const std::vector<double> jc = member("jc", true), ir = member("ir", false),
                              data = member("data", false);
    check_compressed(jc, ir, data);
    SparseEntries matrix{stated_rows(object), static_cast<int>(jc.size()) - 1, {}};
    for (int column = 0; column < matrix.columns; ++column)
      for (auto k = at(jc[at(column)]); k < at(jc[at(column) + 1]); ++k) {
        check_row(ir[k], matrix.rows);
        matrix.entries.push_back({static_cast<int>(ir[k]), column, data[k]});
      }
    return matrix;
  }

  void check_row(double row, int rows) const {
    if (row < 0 || (rows >= 0 && row >= rows))
      fail(fmt::format("has an entry in row {} (from 0); expected rows 0 to {}", row, rows - 1));
  }

  SparseEntries dense(const Handle& set) {
    std::vector<hsize_t> shape;
    const std::vector<double> values = numbers(set.id(), shape);
    if (shape.size() != 2) fail("is no matrix; expected a group of data, ir and jc, or rank 2");
    const bool is_transposed = H5Aexists(set.id(), "MATLAB_class") > 0;
    if (H5Aexists(set.id(), "MATLAB_empty") > 0) return {0, 0, {}};
    const auto rows = static_cast<int>(shape[is_transposed ? 1 : 0]);
    const auto columns = static_cast<int>(shape[is_transposed ? 0 : 1]);
    SparseEntries matrix{rows, columns, {}};
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < rows; ++row) {
        const double value =
            values[is_transposed ? at(column) * at(rows) + at(row) : at(row) * at(columns) + at(column)];
        if (value != 0) matrix.entries.push_back({row, column, value});
      }
    return matrix;
  }

  std::string file_, object_;
  Handle handle_;
};

}  // namespace

std::optional<SparseEntries> read_sparse_hdf5(const std::string& file, const std::string& object) {
  return SparseFile(file, object).matrix();
}

}  // namespace perp::io
