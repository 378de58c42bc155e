#include <fmt/format.h>
#include <algorithm>

#include <perp/core/base/error.hpp>
#include <perp/io/files/trajectory_hdf5.hpp>
#include <perp/io/hdf5_objects.hpp>

namespace perp::io {
namespace {

using hdf5::Handle;

/// One file that is being read; what is missing is named with it.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::string& file) : file_(file) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are reported by us
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (id < 0)
      throw FileError(fmt::format("{}:1:1: cannot be opened; expected an HDF5 file", file));
    handle_ = Handle(id, H5Fclose, file);
  }

  [[nodiscard]] std::vector<double> numbers(const char* name, int rank) const {
    const Handle set = open(name);
    std::vector<double> values(size_of(set, name, rank));
    read(set, H5T_NATIVE_DOUBLE, values.data(), name);
    return values;
  }

  [[nodiscard]] std::vector<int> integers(const char* name) const {
    const Handle set = open(name);
    std::vector<int> values(size_of(set, name, 1));
    read(set, H5T_NATIVE_INT, values.data(), name);
    return values;
  }

  [[nodiscard]] std::vector<std::string> texts(const char* name) const {
    const Handle set = open(name);
    const std::size_t count = size_of(set, name, 1);
    const Handle type = hdf5::text_type();
    std::vector<char*> pointers(count, nullptr);
    read(set, type.id(), static_cast<void*>(pointers.data()), name);
    return taken(pointers, set, type, false);
  }

  /// Empty where the attribute does not exist.
  [[nodiscard]] std::vector<std::string> attribute(const char* name, const char* key) const {
    if (H5Lexists(handle_.id(), name, H5P_DEFAULT) <= 0) return {};
    const Handle set = open(name);
    if (H5Aexists(set.id(), key) <= 0) return {};
    const Handle attribute(H5Aopen(set.id(), key, H5P_DEFAULT), H5Aclose, file_);
    const Handle space(H5Aget_space(attribute.id()), H5Sclose, file_);
    std::vector<char*> pointers(
        static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space.id()), 0)),
        nullptr);
    const Handle type = hdf5::text_type();
    if (H5Aread(attribute.id(), type.id(), static_cast<void*>(pointers.data())) < 0) missing(key);
    return taken(pointers, attribute, type, true);
  }

 private:
  [[noreturn]] void missing(const std::string& what) const {
    throw InvalidInput(
        fmt::format("{}: {} is missing or of another kind; expected a file of perp run -o FILE.h5",
                    file_, what));
  }

  [[nodiscard]] Handle open(const char* name) const {
    const hid_t id = H5Dopen2(handle_.id(), name, H5P_DEFAULT);
    if (id < 0) missing(name);
    return {id, H5Dclose, file_};
  }

  [[nodiscard]] std::size_t size_of(const Handle& set, const char* name, int rank) const {
    const Handle space(H5Dget_space(set.id()), H5Sclose, file_);
    if (H5Sget_simple_extent_ndims(space.id()) != rank) missing(name);
    return static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.id()));
  }

  void read(const Handle& set, hid_t type, void* values, const char* name) const {
    if (H5Dread(set.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) missing(name);
  }

  /// The texts; what HDF5 allocated for them is given back.
  [[nodiscard]] std::vector<std::string> taken(std::vector<char*>& pointers, const Handle& owner,
                                               const Handle& type, bool of_attribute) const {
    std::vector<std::string> texts;
    for (const char* pointer : pointers) texts.emplace_back(pointer != nullptr ? pointer : "");
    const Handle space(of_attribute ? H5Aget_space(owner.id()) : H5Dget_space(owner.id()), H5Sclose,
                       file_);
    if (!pointers.empty())
      H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, static_cast<void*>(pointers.data()));
    return texts;
  }

  std::string file_;
  Handle handle_;
};

/// Names of the laws as events call them: with a number where several have one name.
std::string law_name(const std::vector<std::string>& laws, int law) {
  if (law < 0 || law >= static_cast<int>(laws.size())) return {};
  const std::string& name = laws[static_cast<std::size_t>(law)];
  if (std::count(laws.begin(), laws.end(), name) == 1) return name;
  return fmt::format("{} (law {})", name, law + 1);
}

std::vector<EventMark> read_marks(const Hdf5Reader& reader) {
  const std::vector<std::string> laws = reader.attribute("mode", "laws");
  const std::vector<double> t = reader.numbers("events/t", 1);
  const std::vector<std::string> type = reader.texts("events/type");
  const std::vector<int> law = reader.integers("events/law");
  std::vector<EventMark> events;
  for (std::size_t k = 0; k < std::min({t.size(), type.size(), law.size()}); ++k)
    if (is_compared(type[k])) events.push_back({t[k], type[k], law_name(laws, law[k])});
  return events;
}

}  // namespace

RecordedRun read_hdf5_trajectory(const std::string& file,
                                    const std::vector<std::string>& names) {
  const Hdf5Reader reader(file);
  const std::vector<std::string> columns = reader.attribute("x", "columns");
  const std::vector<double> t = reader.numbers("t", 1);
  const std::vector<double> x = reader.numbers("x", 2);
  if (x.size() != t.size() * columns.size())
    throw InvalidInput(fmt::format("{}: x has {} numbers; expected {} rows of {}", file, x.size(),
                                   t.size(), columns.size()));
  RecordedRun result;
  Vector state = Vector::Constant(static_cast<Eigen::Index>(names.size()), nan);
  for (std::size_t k = 0; k < t.size(); ++k) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      const auto column = std::find(columns.begin(), columns.end(), names[j]);
      if (column != columns.end())
        state[static_cast<Eigen::Index>(j)] =
            x[k * columns.size() + static_cast<std::size_t>(column - columns.begin())];
    }
    result.states.add(t[k], state);
  }
  result.events = read_marks(reader);
  return result;
}

}  // namespace perp::io
