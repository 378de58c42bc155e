#pragma once

#include <optional>
#include <string>

#include <perp/models/language/data/sparse_entries.hpp>

namespace perp::io {

/// A matrix of an HDF5 file: a group of compressed columns `data`, `ir`, `jc` (rows and columns from
/// 0), the layout of sparse matrices in MATLAB 7.3 files, whose attribute MATLAB_sparse is the number
/// of rows, -1 without it; or a dense dataset of rank 2, transposed where it has the attribute
/// MATLAB_class. Nothing where there is no such object. Throws FileError where the file cannot be
/// opened, InvalidInput where the object is no matrix.
std::optional<SparseEntries> read_sparse_hdf5(const std::string& file, const std::string& object);

}  // namespace perp::io
