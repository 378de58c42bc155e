#include <perp/io/files/output_file.hpp>
#include <perp/io/hdf5_objects.hpp>
#include <perp/io/maps/map_hdf5.hpp>

namespace perp::io {

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
  check(group.finish(), file);
  close_file(std::move(out), file);
  replacement.commit();
}

}  // namespace perp::io
