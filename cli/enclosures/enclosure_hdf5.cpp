// The tables of an enclosure as HDF5.
#include <fmt/format.h>

#include <perp/analysis/run/columns.hpp>
#include <perp/cli/enclosures/enclosure_run.hpp>
#include <perp/core/base/types.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/hdf5_objects.hpp>

namespace perp::cli {
namespace {

using namespace hdf5;
using enclosure::Box;

/// Datasets of one length in a group.
class Rows {
 public:
  Rows(hid_t parent, std::size_t rows) : parent_(parent), rows_(rows) {}

  template <class Of>
  void numbers(const std::string& name, const Of& of) {
    std::vector<double> values;
    for (std::size_t k = 0; k < rows_; ++k) values.push_back(of(k));
    write_dataset(parent_, name.c_str(), H5T_NATIVE_DOUBLE, {rows_}, values.data());
  }
  template <class Of>
  void integers(const std::string& name, const Of& of) {
    std::vector<int> values;
    for (std::size_t k = 0; k < rows_; ++k) values.push_back(of(k));
    write_dataset(parent_, name.c_str(), H5T_NATIVE_INT, {rows_}, values.data());
  }
  template <class Of>
  void texts(const std::string& name, const Of& of) {
    std::vector<std::string> values;
    for (std::size_t k = 0; k < rows_; ++k) values.push_back(of(k));
    const Handle type = text_type();
    write_dataset(parent_, name.c_str(), type.id(), {rows_}, pointers(values).data());
  }
  /// NAME_lo, NAME_hi with the names of their columns; none without columns.
  template <class Of>
  void boxes(const std::string& name, const std::vector<std::string>& columns, const Of& of) {
    if (columns.empty()) return;
    std::vector<double> lower, upper;
    for (std::size_t k = 0; k < rows_; ++k) {
      const Box box = of(k);
      for (std::size_t j = 0; j < columns.size(); ++j) {
        lower.push_back(j < box.size() ? box[j].lo : nan);
        upper.push_back(j < box.size() ? box[j].hi : nan);
      }
    }
    bound(name + "_lo", columns, lower);
    bound(name + "_hi", columns, upper);
  }

 private:
  void bound(const std::string& name, const std::vector<std::string>& columns,
             const std::vector<double>& values) {
    write_dataset(parent_, name.c_str(), H5T_NATIVE_DOUBLE, {rows_, columns.size()},
                  values.data());
    Handle set(H5Dopen2(parent_, name.c_str(), H5P_DEFAULT), H5Dclose, name);
    write_attribute(set.id(), "columns", columns);
    check(set.finish(), name);
  }

  hid_t parent_;
  std::size_t rows_;
};

void write_rows(hid_t file, const EnclosureRun& run, const Columns& columns) {
  const std::vector<TableRow> wanted = run.rows();
  const auto row = [&wanted](std::size_t k) -> const enclosure::EnclosureRow& {
    return *wanted[k].row;
  };
  Rows rows(file, wanted.size());
  rows.numbers("t", [&](std::size_t k) { return row(k).t; });
  if (run.by_pieces) {
    rows.integers("piece", [&](std::size_t k) { return wanted[k].piece; });
    rows.boxes("set", run.model.set_names(), [&](std::size_t k) { return run.set_of(wanted[k]); });
  }
  rows.integers("branch", [&](std::size_t k) { return row(k).branch; });
  rows.texts("flag", [&](std::size_t k) { return std::string(to_string(row(k).flag)); });
  rows.texts("how", [&](std::size_t k) { return std::string(to_string(row(k).how)); });
  rows.texts("mode", [&](std::size_t k) { return modes_text(run.model, row(k).modes); });
  rows.boxes("x", columns.x, [&](std::size_t k) { return row(k).box; });
  rows.boxes("lambda", columns.lambda,
             [&](std::size_t k) { return run.model.multipliers(row(k).multipliers); });
  rows.boxes("outputs", run.model.outputs(), [&](std::size_t k) { return run.outputs(wanted[k]); });
}

void write_events(hid_t group, const EnclosureRun& run) {
  struct Entry {
    enclosure::Interval t{};
    int branch = -1;
    std::string type{}, proof{};
    EnclosureRowText text{};
  };
  std::vector<Entry> entries;
  for (const enclosure::EnclosureEvent& event : run.result.events)
    entries.push_back({event.t, event.branch, event.type, event.unique ? "unique" : "possible",
                       text_of(run.model, event)});
  if (const auto& lost = run.result.lost)
    entries.push_back({lost->t, -1, "lost", "", text_of(run.model, *lost)});
  Rows rows(group, entries.size());
  rows.numbers("t_lo", [&](std::size_t k) { return entries[k].t.lo; });
  rows.numbers("t_hi", [&](std::size_t k) { return entries[k].t.hi; });
  rows.integers("branch", [&](std::size_t k) { return entries[k].branch; });
  rows.texts("type", [&](std::size_t k) { return entries[k].type; });
  rows.texts("law", [&](std::size_t k) { return entries[k].text.law; });
  rows.texts("from", [&](std::size_t k) { return entries[k].text.from; });
  rows.texts("to", [&](std::size_t k) { return entries[k].text.to; });
  rows.texts("proof", [&](std::size_t k) { return entries[k].proof; });
  rows.texts("note", [&](std::size_t k) { return entries[k].text.note; });
}

void write_tube(hid_t group, const EnclosureRun& run, const Columns& columns) {
  const auto& tube = run.result.tube;
  Rows rows(group, tube.size());
  rows.numbers("t_lo", [&](std::size_t k) { return tube[k].from; });
  rows.numbers("t_hi", [&](std::size_t k) { return tube[k].to; });
  rows.integers("branch", [&](std::size_t k) { return tube[k].branch; });
  rows.texts("flag", [&](std::size_t k) { return std::string(to_string(tube[k].flag)); });
  rows.boxes("x", columns.x, [&](std::size_t k) { return tube[k].box; });
}

}  // namespace

void write_enclosure_hdf5(const std::string& file, const EnclosureRun& run, bool tube,
                          const std::string& provenance) {
  const Model& model = run.model.model;
  const Columns columns = columns_of(model);
  Replacement replacement(file);
  Handle out = create_file(replacement.path(), file);
  write_attribute(out.id(), "version", std::string("perp ") + PERP_VERSION);
  write_attribute(out.id(), "model", model.name);
  write_attribute(out.id(), "model hash", model.hash);
  write_attribute(out.id(), "pieces", fmt::format("{}", run.result.pieces));
  write_attribute(out.id(), "steps", fmt::format("{}", run.result.steps));
  write_attribute(out.id(), "provenance", provenance);
  write_rows(out.id(), run, columns);
  Handle events = create_group(out.id(), "events");
  write_events(events.id(), run);
  check(events.finish(), file);
  if (tube) {
    Handle group = create_group(out.id(), "tube");
    write_tube(group.id(), run, columns);
    check(group.finish(), file);
  }
  close_file(std::move(out), file);
  replacement.commit();
}

}  // namespace perp::cli
