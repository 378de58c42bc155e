#include <fmt/format.h>
#include <algorithm>

#include <perp/cli/output/hdf5_objects.hpp>

namespace perp::cli::hdf5 {

void check(herr_t status, const std::string& what) {
  if (status < 0) throw FileError(fmt::format("{} cannot be written; is the disk full?", what));
}

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "text");
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> list;
  for (const std::string& text : texts) list.push_back(text.c_str());
  return list;
}

void write_attribute(hid_t object, const std::string& name, const std::string& text) {
  const Handle type = text_type();
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, name);
  const Handle attribute(
      H5Acreate2(object, name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      name);
  const char* pointer = text.c_str();
  check(H5Awrite(attribute.id(), type.id(), &pointer), name);
}

void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  const Handle type = text_type();
  const hsize_t size = texts.size();
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, name);
  const Handle attribute(
      H5Acreate2(object, name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      name);
  check(H5Awrite(attribute.id(), type.id(), pointers(texts).data()), name);
}

void write_dataset(hid_t parent, const char* name, hid_t type, const std::vector<hsize_t>& shape,
                   const void* data) {
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                     H5Sclose, name);
  const Handle set(
      H5Dcreate2(parent, name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
      name);
  if (std::find(shape.begin(), shape.end(), hsize_t{0}) != shape.end()) return;
  check(H5Dwrite(set.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), name);
}

Handle create_file(const std::string& name) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are reported by us
  return {H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, name};
}

}  // namespace perp::cli::hdf5
