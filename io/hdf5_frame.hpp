#pragma once

#include <hdf5.h>
#include <string>
#include <vector>

namespace perp::io::hdf5 {

/// Makes a dataset the scale of a dimension of this name, as netCDF and xarray read it.
void make_scale(hid_t set, const std::string& name);
/// Says that the dimension of a dataset is that of the scale.
void attach_scale(hid_t set, hid_t scale, unsigned dimension);
/// A dataset of texts that is a scale.
void write_names_as_scale(hid_t parent, const std::string& name, const std::vector<std::string>& texts);

/// Columns of a table, N rows, all of one dataset.
struct FrameBlock {
  std::string source{};  ///< the dataset, "/x"
  std::vector<std::string> columns{};
};

/// The group "frame", which pandas.read_hdf opens as a table with the columns of all blocks over /t: it refers to these
/// datasets, whose numbers are not stored again. Throws FileError.
void write_frame(hid_t file, hsize_t rows, const std::vector<FrameBlock>& blocks);

}  // namespace perp::io::hdf5
