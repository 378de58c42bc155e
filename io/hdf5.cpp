#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/run/columns.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/hdf5.hpp>
#include <perp/io/hdf5_frame.hpp>
#include <perp/io/hdf5_objects.hpp>

namespace perp::io {
namespace {

using namespace hdf5;

constexpr hsize_t chunk_bytes = 1U << 16U;
constexpr int writes_per_flush = 16;  // not by the clock: the same run gives the same bytes

std::string text_of(const Json& table, const char* key) {
  return table.contains(key) ? table[key].text() : "";
}

/// A dataset that grows by rows; `columns` 0 makes it one-dimensional.
template <class T>
class Table {
 public:
  Table(hid_t parent, std::string name, hid_t type, hsize_t columns, bool is_compressed)
      : name_(std::move(name)), type_(type), columns_(columns) {
    const hsize_t width = std::max<hsize_t>(columns, 1);
    chunk_rows_ = std::clamp<hsize_t>(chunk_bytes / (width * sizeof(T)), 1, 4096);
    const hsize_t none[2]{0, columns};
    const hsize_t limit[2]{H5S_UNLIMITED, columns};
    const hsize_t chunk[2]{chunk_rows_, columns};
    const Handle space(H5Screate_simple(rank(), none, limit), H5Sclose, name_);
    const Handle properties = dataset_properties(name_);
    check(H5Pset_chunk(properties.id(), rank(), chunk), name_);
    if (is_compressed) {  // bytes of one place of all numbers stand together, which packs best
      check(H5Pset_shuffle(properties.id()), name_);
      check(H5Pset_deflate(properties.id(), 1), name_);
    }
    set_ = Handle(H5Dcreate2(parent, name_.c_str(), type, space.id(), H5P_DEFAULT, properties.id(),
                             H5P_DEFAULT),
                  H5Dclose, name_);
  }

  [[nodiscard]] hid_t id() const { return set_.id(); }
  [[nodiscard]] hsize_t rows() const { return rows_; }
  [[nodiscard]] std::string path() const { return "/" + name_; }
  void close() { set_ = Handle(); }
  [[nodiscard]] bool is_full() const { return pending_ >= chunk_rows_; }

  /// Rows until it is full.
  [[nodiscard]] hsize_t room() const { return chunk_rows_ - pending_; }

  void append(const T* rows, hsize_t count = 1) {
    values_.insert(values_.end(), rows, rows + count * std::max<hsize_t>(columns_, 1));
    pending_ += count;
  }
  /// So many copies of one row.
  void repeat(const T* row, hsize_t count) {
    for (hsize_t k = 0; k < count; ++k) append(row);
  }

  void write() {
    if (pending_ == 0) return;
    const hsize_t start[2]{rows_, 0};
    const hsize_t count[2]{pending_, columns_};
    const hsize_t size[2]{rows_ + pending_, columns_};
    check(H5Dset_extent(set_.id(), size), name_);
    const Handle file(H5Dget_space(set_.id()), H5Sclose, name_);
    const Handle memory(H5Screate_simple(rank(), count, nullptr), H5Sclose, name_);
    check(H5Sselect_hyperslab(file.id(), H5S_SELECT_SET, start, nullptr, count, nullptr), name_);
    check(H5Dwrite(set_.id(), type_, memory.id(), file.id(), H5P_DEFAULT, values_.data()), name_);
    rows_ += pending_;
    pending_ = 0;
    values_.clear();
  }

 private:
  [[nodiscard]] int rank() const { return columns_ > 0 ? 2 : 1; }

  std::string name_;
  hid_t type_;
  hsize_t columns_;
  hsize_t chunk_rows_ = 1, rows_ = 0, pending_ = 0;
  std::vector<T> values_;
  Handle set_;
};

}  // namespace

class Hdf5Writer::File {
 public:
  File(const std::string& name, const Model& model, bool is_compressed)
      : name_(name),
        laws_(model.laws()),
        no_numbers_(laws_.size(), nan),
        no_mode_(laws_.size(), -1),
        replacement_(name),
        file_(create_file(replacement_.path(), name)),
        t_(file_.id(), "t", H5T_NATIVE_DOUBLE, 0, is_compressed),
        x_(file_.id(), "x", H5T_NATIVE_DOUBLE, model.variables.size(), is_compressed) {
    const Columns columns = columns_of(model);
    write_attribute(x_.id(), "columns", columns.x);
    make_scale(t_.id(), "t");
    scale(x_, "variable", columns.x);
    const std::map<std::string, std::string> units = column_units(model);
    units_ = write_units(x_, units, columns.x);
    write_attribute(file_.id(), "version", std::string("perp ") + PERP_VERSION);
    write_attribute(file_.id(), "model", model.name);
    write_attribute(file_.id(), "model hash", model.hash);
    if (!columns.outputs.empty()) {
      output_.emplace_back(file_.id(), "outputs", H5T_NATIVE_DOUBLE, columns.outputs.size(), is_compressed);
      write_attribute(output_[0].id(), "columns", columns.outputs);
      scale(output_[0], "output", columns.outputs);
      write_units(output_[0], units, columns.outputs);
    }
    if (laws_.empty()) return;
    lambda_.emplace_back(file_.id(), "lambda", H5T_NATIVE_DOUBLE, laws_.size(), is_compressed);
    w_.emplace_back(file_.id(), "w", H5T_NATIVE_DOUBLE, laws_.size(), is_compressed);
    mode_.emplace_back(file_.id(), "mode", H5T_NATIVE_INT, laws_.size(), is_compressed);
    write_attribute(lambda_[0].id(), "columns", columns.lambda);
    write_attribute(w_[0].id(), "columns", columns.w);
    write_units(lambda_[0], units, columns.lambda);
    std::vector<std::string> law_names;
    for (std::size_t i = 0; i < laws_.size(); ++i) {
      std::vector<std::string> branches;
      for (const Branch& branch : laws_[i].branches) branches.push_back(describe(branch));
      write_attribute(mode_[0].id(), fmt::format("branches {}", i + 1), branches);
      law_names.push_back(laws_[i].name);
    }
    write_attribute(mode_[0].id(), "laws", law_names);
    scale(lambda_[0], "multiplier", columns.lambda);
    scale(w_[0], "argument", columns.w);
    scale(mode_[0], "law", law_names);
  }

  void row(const Step& step, const Vector& outputs) {
    t_.append(&step.t);
    x_.append(step.x.data());
    if (!output_.empty()) output_[0].append(outputs.data());
    if (!laws_.empty()) {
      const auto has_all = [&](const auto& values) { return static_cast<std::size_t>(values.size()) == laws_.size(); };
      lambda_[0].append(has_all(step.lambda) ? step.lambda.data() : no_numbers_.data());
      w_[0].append(has_all(step.w) ? step.w.data() : no_numbers_.data());
      mode_[0].append(has_all(step.mode) ? step.mode.data() : no_mode_.data());
    }
    if (t_.is_full() || x_.is_full()) write();
  }

  /// Rows of a model without outputs: as many at once as one write takes.
  void rows(const IntegrateOptions::StepsInMode& steps) {
    const hsize_t count = steps.times.size(), n = steps.x.size() / count, m = laws_.size();
    for (hsize_t k = 0, more = 0; k < count; k += more) {
      more = std::min({count - k, t_.room(), x_.room()});
      t_.append(&steps.times[k], more);
      x_.append(steps.x.data() + k * n, more);
      if (m > 0) {
        lambda_[0].append(steps.lambda.data() + k * m, more);
        w_[0].append(steps.w.data() + k * m, more);
        mode_[0].repeat(steps.mode->data(), more);
      }
      if (t_.is_full() || x_.is_full()) write();
    }
  }

  void close(const std::vector<Event>& events, const Json& provenance) {
    write();
    write_events(events);
    write_attribute(file_.id(), "status", text_of(provenance, "status"));
    write_attribute(file_.id(), "message", text_of(provenance, "message"));
    if (provenance.contains("run"))
      for (const auto& [key, value] : provenance["run"].members())
        if (key != "version") write_attribute(file_.id(), key, value.text());
    Json rest = provenance;
    rest.erase("events");  // they have datasets of their own
    write_attribute(file_.id(), "provenance", rest.dump(1));
    write_frame(file_.id(), t_.rows(), frame_);
    close();
  }

  /// The file as it is takes its place.
  void close() {
    for (Table<double>* table : {&t_, &x_}) table->close();
    for (auto* tables : {&lambda_, &w_, &output_}) tables->clear();
    mode_.clear();
    close_file(std::move(file_), name_);
    replacement_.commit();
  }

  /// Writes the rows that were kept back.
  void write() {
    t_.write();
    x_.write();
    for (auto* tables : {&lambda_, &w_, &output_})
      for (Table<double>& table : *tables) table.write();
    for (Table<int>& table : mode_) table.write();
    if (++writes_ % writes_per_flush != 0) return;
    check(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), name_);
  }

 private:
  /// Those of its columns, where one has a unit; what was written.
  static std::vector<std::string> write_units(const Table<double>& table, const std::map<std::string, std::string>& units,
                                              const std::vector<std::string>& names) {
    if (std::ranges::none_of(names, [&](const std::string& name) { return units.contains(name); })) return {};
    std::vector<std::string> list;
    for (const std::string& name : names) list.push_back(units.contains(name) ? units.at(name) : "");
    write_attribute(table.id(), "units", list);
    return list;
  }

  /// The dimensions of a table over t: its rows, and its columns by a scale of their names.
  template <class T>
  void scale(const Table<T>& table, const char* name, const std::vector<std::string>& names) {
    if (names.empty()) return;
    write_names_as_scale(file_.id(), name, names);
    const Handle columns(H5Dopen2(file_.id(), name, H5P_DEFAULT), H5Dclose, name_);
    attach_scale(table.id(), t_.id(), 0);
    attach_scale(table.id(), columns.id(), 1);
    if constexpr (std::is_same_v<T, double>) frame_.push_back({table.path(), names});
  }

  /// The states on one side of the events; NaN where a state has no value, no columns where none is kept.
  void write_states(hid_t group, const std::vector<Event>& events, const char* name, Vector Event::*member) {
    const bool any = std::any_of(events.begin(), events.end(),
                                 [&](const Event& event) { return (event.*member).size() > 0; });
    const hsize_t n = any || events.empty() ? x_columns() : 0;  // of large models none is kept
    std::vector<double> values;
    for (const Event& event : events)
      for (hsize_t j = 0; j < n; ++j) {
        const Vector& x = event.*member;
        const auto index = static_cast<Eigen::Index>(j);
        values.push_back(index < x.size() ? x[index] : nan);
      }
    write_dataset(group, name, H5T_NATIVE_DOUBLE, {events.size(), n}, values.data());
    if (n > 0) write_units(group, name);
  }

  void write_events(const std::vector<Event>& events) {
    const Handle group = create_group(file_.id(), "events");
    const hsize_t rows = events.size();
    const auto numbers = [&](const char* name, double Event::*member) {
      std::vector<double> values;
      for (const Event& event : events) values.push_back(event.*member);
      write_dataset(group.id(), name, H5T_NATIVE_DOUBLE, {rows}, values.data());
    };
    const auto integers = [&](const char* name, int Event::*member) {
      std::vector<int> values;
      for (const Event& event : events) values.push_back(event.*member);
      write_dataset(group.id(), name, H5T_NATIVE_INT, {rows}, values.data());
    };
    const auto texts = [&](const char* name, const auto& text_of) {
      std::vector<std::string> values;
      for (const Event& event : events) values.push_back(text_of(event));
      const Handle type = text_type();
      write_dataset(group.id(), name, type.id(), {rows}, pointers(values).data());
    };
    numbers("t", &Event::t);
    numbers("t_before", &Event::t_before);
    numbers("t_after", &Event::t_after);
    numbers("size", &Event::size);
    integers("law", &Event::law);
    integers("from", &Event::from);
    integers("to", &Event::to);
    texts("type", [](const Event& event) { return std::string(to_string(event.kind)); });
    texts("note", [](const Event& event) { return event.note; });
    write_states(group.id(), events, "x_before", &Event::x_before);
    write_states(group.id(), events, "x_after", &Event::x_after);
    scale_events(group.id());
  }

  /// The dimensions of the events: their times, and the variables of their states.
  void scale_events(hid_t group) {
    const Handle times(H5Dopen2(group, "t", H5P_DEFAULT), H5Dclose, name_);
    make_scale(times.id(), "t");
    for (const char* name : {"t_before", "t_after", "size", "law", "from", "to", "type", "note", "x_before", "x_after"}) {
      const Handle set(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose, name_);
      attach_scale(set.id(), times.id(), 0);
      const Handle space(H5Dget_space(set.id()), H5Sclose, name_);
      hsize_t size[2]{};
      if (H5Sget_simple_extent_dims(space.id(), size, nullptr) < 2 || size[1] == 0) continue;
      const Handle variables(H5Dopen2(file_.id(), "variable", H5P_DEFAULT), H5Dclose, name_);
      attach_scale(set.id(), variables.id(), 1);
    }
  }

  /// Of a dataset with a column for each variable.
  void write_units(hid_t group, const char* name) {
    if (units_.empty()) return;
    const Handle set(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose, name_);
    write_attribute(set.id(), "units", units_);
  }

  [[nodiscard]] hsize_t x_columns() const {
    const Handle space(H5Dget_space(x_.id()), H5Sclose, name_);
    hsize_t size[2]{};
    H5Sget_simple_extent_dims(space.id(), size, nullptr);
    return size[1];
  }

  std::string name_;
  Laws laws_;
  std::vector<double> no_numbers_;  // of the laws, where a state has none
  std::vector<int> no_mode_;        // and no mode
  std::vector<std::string> units_;  // of the variables, "" without one; or empty
  Replacement replacement_;
  Handle file_;
  Table<double> t_, x_;
  std::vector<Table<double>> lambda_, w_;  // empty or one: a system may have no laws
  std::vector<Table<double>> output_;      // the same of outputs
  std::vector<Table<int>> mode_;
  std::vector<FrameBlock> frame_;  // of the numbers
  long writes_ = 0;
};

Hdf5Writer::Hdf5Writer(const std::string& file, const Model& model, bool is_compressed)
    : name_(file), model_(model), is_compressed_(is_compressed) {}

Hdf5Writer::~Hdf5Writer() {
  try {
    if (!file_ || write_failed()) return;
    file_->write();
    file_->close();
  } catch (const FileError&) {  // only reached while another error is on its way
  }
}

Hdf5Writer::File& Hdf5Writer::file() {
  if (!file_) file_ = std::make_unique<File>(name_, model_, is_compressed_);
  return *file_;
}

void Hdf5Writer::row(const Step& step, const Vector& outputs) { file().row(step, outputs); }

void Hdf5Writer::rows(const IntegrateOptions::StepsInMode& steps) { file().rows(steps); }

void Hdf5Writer::close(const std::vector<Event>& events, const Json& provenance) {
  file().close(events, provenance);
  file_.reset();
}

}  // namespace perp::io
