// Rows as bytes beside an HDF5 file: `perp run --checkpoint` keeps them, `--resume` reads them back.
#include <fstream>
#include <iterator>

#include <perp/io/row_spool.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp::io {

void RowSpool::add(const Step& step, const Vector& outputs) {
  Archive archive;
  Step row = step;
  Vector values = outputs;
  archive(row, values);
  file_.buffer().append(archive.bytes().data(), archive.bytes().data() + archive.bytes().size());
  file_.end_record();
  ++rows_;
}

void RowSpool::read(const std::function<void(const Step& step, const Vector& outputs)>& row) const {
  std::ifstream file(name_, std::ios::binary);
  Archive archive(std::string(std::istreambuf_iterator<char>(file), {}));
  Step step;
  Vector outputs;
  for (std::size_t k = 0; k < rows_; ++k) {
    archive(step, outputs);
    row(step, outputs);
  }
}

}  // namespace perp::io
