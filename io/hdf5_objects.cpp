#include <fmt/format.h>
#include <sys/stat.h>
#include <algorithm>

#include <perp/io/hdf5_objects.hpp>

namespace perp::io::hdf5 {

namespace {

bool has_failed = false;
std::string file_name;  // of the file that is being written, for messages

}  // namespace

bool write_failed() { return has_failed; }

void fail(const std::string& what) {
  has_failed = true;
  throw FileError(fmt::format("{} cannot be written as HDF5 ({}); is the disk full?", file_name,
                              what));
}

void check(herr_t status, const std::string& what) {
  if (status < 0) fail(what);
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
  const Handle properties = dataset_properties(name);
  const Handle set(
      H5Dcreate2(parent, name, type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
      H5Dclose, name);
  if (std::find(shape.begin(), shape.end(), hsize_t{0}) != shape.end()) return;
  check(H5Dwrite(set.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), name);
}

Handle create_file(const std::string& path, const std::string& name) {
  file_name = name;
  struct stat status {};
  if (stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw FileError(fmt::format("{} is no regular file; HDF5 needs one", name));
  H5dont_atexit();  // what could not be written is not tried again at the end of the program
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are reported by us
  const Handle properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose, name);
  check(H5Pset_obj_track_times(properties.id(), false), name);
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties.id(), H5P_DEFAULT), H5Fclose, name};
}

Handle create_group(hid_t parent, const char* name) {
  const Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, name);
  check(H5Pset_obj_track_times(properties.id(), false), name);
  return {H5Gcreate2(parent, name, H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Gclose, name};
}

Handle dataset_properties(const std::string& name) {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, name);
  check(H5Pset_obj_track_times(properties.id(), false), name);
  return properties;
}

void close_file(Handle file, const std::string& name) {
  check(H5Fflush(file.id(), H5F_SCOPE_GLOBAL), name);
  check(file.finish(), name);
}

}  // namespace perp::io::hdf5
