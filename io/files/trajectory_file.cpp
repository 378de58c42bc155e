#include <fmt/format.h>
#include <filesystem>

#include <perp/core/base/error.hpp>
#include <perp/io/files/csv_file.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/files/trajectory_file.hpp>
#include <perp/io/files/trajectory_hdf5.hpp>

namespace perp::io {
namespace {

RecordedRun read_csv(const std::string& file, const std::vector<std::string>& names) {
  const CsvFile csv(file, "t");
  std::vector<int> columns;
  for (const std::string& name : names) columns.push_back(csv.column(name));
  RecordedRun result;
  Vector x(static_cast<Eigen::Index>(names.size()));
  double last = -inf;
  csv.read([&](const CsvFile::Row& row) {
    const double t = parse_number(row.fields[0], row.place + ": t");
    if (t < last)
      throw InvalidInput(fmt::format("{}: t = {} follows {}; expected times that do not fall",
                                     row.place, t, last));
    last = t;
    for (std::size_t j = 0; j < names.size(); ++j)
      x[static_cast<Eigen::Index>(j)] =
          columns[j] < 0 ? nan
                         : parse_number(row.fields[static_cast<std::size_t>(columns[j])],
                                        row.place + ": " + names[j]);
    result.states.add(t, x);
  });
  return result;
}

}  // namespace

RecordedRun read_trajectory(const std::string& file, const std::vector<std::string>& names) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".h5" || extension == ".hdf5") return read_hdf5_trajectory(file, names);
  return read_csv(file, names);
}

std::vector<EventMark> read_events(const std::string& file) {
  const CsvFile csv(file, "t");
  const int type = csv.column("type");
  const int law = csv.column("law");
  if (type < 0 || law < 0)
    throw InvalidInput(fmt::format(
        "{}:1:1: there is no column {}; expected a file of perp run --events (t,type,law,...)",
        file, type < 0 ? "type" : "law"));
  std::vector<EventMark> events;
  csv.read([&](const CsvFile::Row& row) {
    const std::string& kind = row.fields[static_cast<std::size_t>(type)];
    if (!is_compared(kind)) return;
    events.push_back({parse_number(row.fields[0], row.place + ": t"), kind,
                      row.fields[static_cast<std::size_t>(law)]});
  });
  return events;
}

}  // namespace perp::io
