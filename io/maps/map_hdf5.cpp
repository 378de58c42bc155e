#include <algorithm>

#include <perp/io/files/output_file.hpp>
#include <perp/io/hdf5_frame.hpp>
#include <perp/io/hdf5_objects.hpp>
#include <perp/io/maps/map_hdf5.hpp>

namespace perp::io {
namespace {

/// The values of each axis, which stand in /axes, are the scales of all arrays under a link beside these, where programs
/// for netCDF look for them: its name, with (0) behind it where an array has that one.
void add_scales(hid_t file, hid_t axes, const ParameterMap& map) {
  using namespace hdf5;
  std::vector<std::string> arrays = map.columns;
  arrays.emplace_back("region");
  for (std::size_t d = 0; d < map.axes.size(); ++d) {
    const std::string& axis = map.axes[d].name;
    const std::string name = std::ranges::find(arrays, axis) == arrays.end() ? axis : axis + "(0)";
    check(H5Lcreate_hard(axes, axis.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), name);
    const Handle scale(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, name);
    make_scale(scale.id(), name);
    for (const std::string& array : arrays) {
      const Handle set(H5Dopen2(file, array.c_str(), H5P_DEFAULT), H5Dclose, array);
      attach_scale(set.id(), scale.id(), static_cast<unsigned>(d));
    }
  }
}

}  // namespace

void write_hdf5(const std::string& file, const ParameterMap& map, const Model& model,
                const Json& provenance) {
  using namespace hdf5;
  Replacement replacement(file);
  Handle out = create_file(replacement.path(), file);
  write_attribute(out.id(), "version", std::string("perp ") + PERP_VERSION);
  write_attribute(out.id(), "model", model.name);
  write_attribute(out.id(), "model hash", model.hash);
  write_attribute(out.id(), "quantity", provenance["map"]["quantity"].text());
  write_attribute(out.id(), "provenance", provenance.dump(1));
  std::vector<hsize_t> shape;
  std::vector<std::string> names;
  Handle group = create_group(out.id(), "axes");
  for (const MapAxis& axis : map.axes) {
    std::vector<double> values;
    for (int k = 0; k < axis.count; ++k) values.push_back(axis.value(k));
    write_dataset(group.id(), axis.name.c_str(), H5T_NATIVE_DOUBLE, {values.size()}, values.data());
    shape.push_back(values.size());
    names.push_back(axis.name);
  }
  write_attribute(out.id(), "axes in order", names);
  for (std::size_t column = 0; column < map.columns.size(); ++column) {
    std::vector<double> values;
    for (std::size_t k = column; k < map.numbers.size(); k += map.columns.size())
      values.push_back(map.numbers[k]);
    write_dataset(out.id(), map.columns[column].c_str(), H5T_NATIVE_DOUBLE, shape, values.data());
  }
  write_dataset(out.id(), "region", H5T_NATIVE_INT, shape, map.region.data());
  Handle region(H5Dopen2(out.id(), "region", H5P_DEFAULT), H5Dclose, file);
  write_attribute(region.id(), "regions", map.regions);
  check(region.finish(), file);
  add_scales(out.id(), group.id(), map);
  check(group.finish(), file);
  close_file(std::move(out), file);
  replacement.commit();
}

}  // namespace perp::io
