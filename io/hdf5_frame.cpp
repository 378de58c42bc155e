// What other packages look for in HDF5 files: scales of dimensions (netCDF, xarray) and a frame (pandas).
#include <fmt/format.h>
#include <hdf5_hl.h>
#include <algorithm>

#include <perp/io/hdf5_frame.hpp>
#include <perp/io/hdf5_objects.hpp>

namespace perp::io::hdf5 {
namespace {

void write_number(hid_t object, const char* name, long long value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, name);
  const Handle attribute(H5Acreate2(object, name, H5T_STD_I64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
  check(H5Awrite(attribute.id(), H5T_NATIVE_LLONG, &value), name);
}

/// Texts of one length, as pandas has them.
void write_labels(hid_t group, const std::string& name, const std::vector<std::string>& texts) {
  std::size_t length = 1;
  for (const std::string& text : texts) length = std::max(length, text.size());
  std::string bytes;
  for (const std::string& text : texts) bytes += text + std::string(length - text.size(), '\0');
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, name);
  check(H5Tset_size(type.id(), length), name);
  check(H5Tset_strpad(type.id(), H5T_STR_NULLPAD), name);
  write_dataset(group, name.c_str(), type.id(), {texts.size()}, bytes.data());
  const Handle set(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose, name);
  write_attribute(set.id(), "kind", std::string("string"));
}

/// A dataset whose numbers are those of another one of the file.
Handle refer(hid_t group, const std::string& name, const std::string& source, const std::vector<hsize_t>& shape) {
  const auto rank = static_cast<int>(shape.size());
  const Handle space(H5Screate_simple(rank, shape.data(), nullptr), H5Sclose, name);
  const Handle properties = dataset_properties(name);
  check(H5Pset_virtual(properties.id(), space.id(), ".", source.c_str(), space.id()), name);
  return Handle(H5Dcreate2(group, name.c_str(), H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                H5Dclose, name);
}

}  // namespace

void make_scale(hid_t set, const std::string& name) { check(H5DSset_scale(set, name.c_str()), name); }

void attach_scale(hid_t set, hid_t scale, unsigned dimension) {
  check(H5DSattach_scale(set, scale, dimension), "scale of a dimension");
}

void write_names_as_scale(hid_t parent, const std::string& name, const std::vector<std::string>& texts) {
  const Handle type = text_type();
  write_dataset(parent, name.c_str(), type.id(), {texts.size()}, pointers(texts).data());
  const Handle set(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose, name);
  make_scale(set.id(), name);
}

void write_frame(hid_t file, hsize_t rows, const std::vector<FrameBlock>& blocks) {
  const Handle group = create_group(file, "frame");
  const hid_t frame = group.id();
  for (const auto& [key, text] : {std::pair{"pandas_type", "frame"}, {"pandas_version", "0.15.2"}, {"encoding", "UTF-8"},
                                  {"errors", "strict"}, {"axis0_variety", "regular"}, {"axis1_variety", "regular"}})
    write_attribute(frame, key, std::string(text));
  write_number(frame, "ndim", 2);
  write_number(frame, "nblocks", static_cast<long long>(blocks.size()));
  std::vector<std::string> all;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const FrameBlock& block = blocks[k];
    all.insert(all.end(), block.columns.begin(), block.columns.end());
    write_attribute(frame, fmt::format("block{}_items_variety", k), std::string("regular"));
    write_labels(frame, fmt::format("block{}_items", k), block.columns);
    const Handle values = refer(frame, fmt::format("block{}_values", k), block.source, {rows, block.columns.size()});
    write_number(values.id(), "transposed", 1);
  }
  write_labels(frame, "axis0", all);
  const Handle index = refer(frame, "axis1", "/t", {rows});
  write_attribute(index.id(), "kind", std::string("float"));
  write_attribute(index.id(), "name", std::string("t"));
}

}  // namespace perp::io::hdf5
