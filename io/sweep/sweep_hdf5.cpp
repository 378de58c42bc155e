#include <fmt/format.h>
#include <functional>
#include <numeric>

#include <perp/io/files/output_file.hpp>
#include <perp/io/hdf5_frame.hpp>
#include <perp/io/hdf5_objects.hpp>
#include <perp/io/sweep/sweep_hdf5.hpp>

namespace perp::io {
namespace {

using namespace hdf5;

/// One number for each item.
template <class Items>
void write_numbers(hid_t group, const std::string& name, const Items& items,
                   const std::function<double(const typename Items::value_type&)>& number) {
  std::vector<double> values;
  for (const auto& item : items) values.push_back(number(item));
  write_dataset(group, name.c_str(), H5T_NATIVE_DOUBLE, {values.size()}, values.data());
}

template <class Items>
void write_counts(hid_t group, const std::string& name, const Items& items,
                  const std::function<long(const typename Items::value_type&)>& count) {
  std::vector<long> values;
  for (const auto& item : items) values.push_back(count(item));
  write_dataset(group, name.c_str(), H5T_NATIVE_LONG, {values.size()}, values.data());
}

void write_texts(hid_t group, const char* name, const std::vector<std::string>& texts) {
  write_dataset(group, name, text_type().id(), {texts.size()}, pointers(texts).data());
}

std::string direction_of(const SweepRun& run) { return run.is_down ? "down" : "up"; }

void write_runs(hid_t file, const SweepTable& table) {
  Handle group = create_group(file, "runs");
  write_counts(group.id(), "run", table.runs, [](const SweepRun& run) { return run.point + 1; });
  for (std::size_t k = 0; k < table.names.size(); ++k)
    write_numbers(group.id(), table.names[k], table.runs, [k](const SweepRun& run) { return run.values[k]; });
  std::vector<std::string> directions, statuses, messages;
  for (const SweepRun& run : table.runs) {
    directions.push_back(direction_of(run));
    statuses.emplace_back(to_string(run.status));
    messages.push_back(run.message);
  }
  if (table.has_directions) write_texts(group.id(), "direction", directions);
  write_texts(group.id(), "status", statuses);
  write_texts(group.id(), "message", messages);
  write_numbers(group.id(), "t_end", table.runs, [](const SweepRun& run) { return run.t_end; });
  check(group.finish(), "runs");
}

/// A dimension of the sweep with the values along it.
struct Dimension {
  std::string name;
  std::vector<double> values;
};

std::vector<double> counted(long from, long count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), static_cast<double>(from));
  return values;
}

/// In the order of `shape`. Axes side by side are one, whose values stand in /runs.
std::vector<Dimension> dimensions_of(const SweepTable& table) {
  const Json& sweep = table.provenance["sweep"];
  std::vector<Dimension> list;
  const std::size_t axes = sweep["axes"].size();
  const bool side_by_side = sweep["zip"].dump() == "true" && axes > 1;
  if (side_by_side) list.push_back({"point", counted(1, table.shape[0])});
  for (std::size_t k = 0; k < axes && !side_by_side; ++k) {
    Dimension dimension{sweep["axes"][k]["name"].text(), {}};
    for (const Json& value : sweep["axes"][k]["values"].list()) dimension.values.push_back(value.number());
    list.push_back(std::move(dimension));
  }
  if (sweep.contains("random")) list.push_back({"draw", counted(1, table.shape[list.size()])});
  if (table.has_directions) list.push_back({"direction", counted(0, 2)});
  return list;
}

/// The place of a run in an array of the shape.
std::size_t place_of(const SweepTable& table, const SweepRun& run) {
  return static_cast<std::size_t>(table.has_directions ? 2 * run.point + (run.is_down ? 1 : 0) : run.point);
}

void write_measures(hid_t file, const SweepTable& table) {
  Handle group = create_group(file, "measures");
  const std::vector<Dimension> dimensions = dimensions_of(table);
  std::vector<hsize_t> shape;
  std::vector<Handle> scales;
  for (const Dimension& dimension : dimensions) {
    shape.push_back(dimension.values.size());
    const char* name = dimension.name.c_str();
    write_dataset(group.id(), name, H5T_NATIVE_DOUBLE, {shape.back()}, dimension.values.data());
    scales.emplace_back(H5Dopen2(group.id(), name, H5P_DEFAULT), H5Dclose, name);
    make_scale(scales.back().id(), name);
  }
  const auto size = std::accumulate(shape.begin(), shape.end(), hsize_t{1}, std::multiplies<>());
  for (std::size_t k = 0; k < table.measures.size(); ++k) {
    const char* name = table.measures[k].c_str();
    std::vector<double> values(size, nan);
    for (const SweepRun& run : table.runs) values[place_of(table, run)] = run.measures[k].value.value_or(nan);
    write_dataset(group.id(), name, H5T_NATIVE_DOUBLE, shape, values.data());
    const Handle set(H5Dopen2(group.id(), name, H5P_DEFAULT), H5Dclose, name);
    for (std::size_t d = 0; d < scales.size(); ++d)
      attach_scale(set.id(), scales[d].id(), static_cast<unsigned>(d));
  }
  scales.clear();
  check(group.finish(), "measures");
}

/// A state of the section and the run that it is of.
struct SectionRow {
  const SweepRun* run;
  std::size_t k;
  [[nodiscard]] const SectionPoint& point() const { return run->section[k]; }
};

void write_section(hid_t file, const SweepTable& table) {
  std::vector<SectionRow> rows;
  std::vector<std::string> directions;
  for (const SweepRun& run : table.runs)
    for (std::size_t k = 0; k < run.section.size(); ++k) {
      rows.push_back({&run, k});
      directions.push_back(direction_of(run));
    }
  Handle group = create_group(file, "section");
  write_counts(group.id(), "run", rows, [](const SectionRow& row) { return row.run->point + 1; });
  if (table.has_directions) write_texts(group.id(), "direction", directions);
  write_counts(group.id(), "k", rows, [](const SectionRow& row) { return static_cast<long>(row.k) + 1; });
  write_numbers(group.id(), "t", rows, [](const SectionRow& row) { return row.point().t; });
  for (std::size_t j = 0; j < table.variables.size(); ++j)
    write_numbers(group.id(), table.variables[j], rows,
                  [j](const SectionRow& row) { return row.point().x[static_cast<Eigen::Index>(j)]; });
  check(group.finish(), "section");
}

/// A group for each run: t and the variables.
void write_trajectories(hid_t file, const SweepTable& table) {
  Handle group = create_group(file, "trajectories");
  for (const SweepRun& run : table.runs) {
    Handle own = create_group(group.id(), fmt::format("{}{}", run.point + 1, table.has_directions ? "_" + direction_of(run) : "").c_str());
    write_numbers(own.id(), "t", run.kept, [](const SectionPoint& state) { return state.t; });
    for (std::size_t j = 0; j < table.variables.size(); ++j)
      write_numbers(own.id(), table.variables[j], run.kept, [j](const SectionPoint& state) { return state.x[static_cast<Eigen::Index>(j)]; });
    check(own.finish(), "trajectories");
  }
  check(group.finish(), "trajectories");
}

}  // namespace

void write_sweep_hdf5(const std::string& file, const SweepTable& table) {
  Replacement replacement(file);
  Handle out = create_file(replacement.path(), file);
  const Json& model = table.provenance["model"];
  write_attribute(out.id(), "version", std::string("perp ") + PERP_VERSION);
  write_attribute(out.id(), "model", model["name"].text());
  write_attribute(out.id(), "model hash", model["hash"].text());
  write_attribute(out.id(), "provenance", table.provenance.dump(1));
  write_runs(out.id(), table);
  write_measures(out.id(), table);
  if (table.has_section) write_section(out.id(), table);
  if (table.has_kept) write_trajectories(out.id(), table);
  close_file(std::move(out), file);
  replacement.commit();
}

}  // namespace perp::io
