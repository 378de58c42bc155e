// Where the matrices of [multilinear] come from: read_multilinear makes lines of a tape of them.
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <perp/core/base/index.hpp>
#include <perp/models/language/data/content_hash.hpp>
#include <perp/models/language/multilinear/matrix_source.hpp>
#include <perp/models/language/data/matrix_market.hpp>

namespace perp::reader {
namespace {

constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

/// HDF5 files begin so at byte 0, or behind a block of the user's of 512 bytes or more.
bool is_hdf5(std::ifstream& stream) {
  std::string found(hdf5_signature.size(), '\0');
  for (const long offset : {0L, 512L, 1024L, 2048L}) {
    stream.clear();
    stream.seekg(offset);
    if (stream.read(found.data(), static_cast<std::streamsize>(found.size())) &&
        found == hdf5_signature)
      return true;
  }
  stream.clear();
  stream.seekg(0);
  return false;
}

/// "file.h5:/group/S" is the object /group/S of file.h5.
std::pair<std::string, std::string> file_and_object(const std::string& given,
                                                    const std::string& object) {
  const std::size_t colon = given.rfind(":/");
  if (colon == std::string::npos || colon < 2) return {given, object};
  return {given.substr(0, colon), given.substr(colon + 1)};
}

/// Its numbers, to the bit.
std::string words_of(const SparseEntries& matrix) {
  std::string words = fmt::format("{} {}", matrix.rows, matrix.columns);
  for (const SparseEntry& entry : matrix.entries)
    words += fmt::format(";{} {} {:a}", entry.row, entry.column, entry.value);
  return words;
}

}  // namespace

std::string MatrixSource::path_of(const std::string& given) const {
  return (std::filesystem::path(document_.file()).parent_path() / given).string();
}

int MatrixSource::size_of(const Value& value, const char* key) const {
  const Member* member = value.find(key);
  if (member == nullptr)
    document_.fail(value,
                   fmt::format("'{}' is missing; expected {{ rows, columns, entries }}", key));
  const double size = context_.number(member->value, key);
  if (size < 0 || size > 1 << 24 || size != static_cast<int>(size))
    document_.fail(member->value, fmt::format("{} is {}; expected a whole number", key, size));
  return static_cast<int>(size);
}

namespace {

/// Is it one of the whole numbers 1 to `most`?
bool is_place(double number, int most) {
  return number >= 1 && number <= most && number == static_cast<int>(number);
}

}  // namespace

/// { rows = 3, columns = 2, entries = [[1, 1, 0.5], ...] }
SparseEntries MatrixSource::inline_matrix(const Value& value, const std::string& name) const {
  context_.check_keys(value, name, {"columns", "entries", "rows"});
  SparseEntries matrix{size_of(value, "rows"), size_of(value, "columns"), {}};
  const Member* entries = value.find("entries");
  if (entries == nullptr)
    document_.fail(value, "'entries' is missing; expected { rows, columns, entries }");
  context_.check_kind(entries->value, Value::Kind::list, fmt::format("entries of {}", name));
  for (const Value& item : entries->value.items) {
    context_.check_kind(item, Value::Kind::list, fmt::format("an entry of {}", name));
    if (item.items.size() != 3)
      document_.fail(
          item, fmt::format("an entry of {} has {} numbers; expected row, column and value", name,
                            item.items.size()));
    const double row = context_.number(item.items[0], "a row"),
                 column = context_.number(item.items[1], "a column");
    if (!is_place(row, matrix.rows) || !is_place(column, matrix.columns))
      document_.fail(
          item, fmt::format("found an entry at ({}, {}); expected rows 1 to {} and columns 1 to {}",
                            row, column, matrix.rows, matrix.columns));
    matrix.entries.push_back({static_cast<int>(row) - 1, static_cast<int>(column) - 1,
                              context_.number(item.items[2], fmt::format("an entry of {}", name))});
  }
  return matrix;
}

std::optional<SparseEntries> MatrixSource::of_hdf5(const Value& place, const std::string& given,
                                                   const std::string& object) const {
  if (!context_.known().sparse_hdf5)
    document_.fail(place, fmt::format("'{}' is an HDF5 file, which this program does not read; "
                                      "expected Matrix Market files",
                                      given));
  try {
    std::optional<SparseEntries> found = context_.known().sparse_hdf5(path_of(given), object);
    if (found) model_.hash = hash_with_file(model_.hash, words_of(*found));
    return found;
  } catch (const InvalidInput& problem) {
    document_.fail(place, problem.what());
  } catch (const FileError& problem) {
    document_.fail(place, problem.what());
  }
}

SparseEntries MatrixSource::of_file(const Value& place, const std::string& given,
                                    const std::string& object, const std::string& name) const {
  std::ifstream stream(path_of(given), std::ios::binary);
  std::error_code error;
  if (!stream || std::filesystem::is_directory(path_of(given), error))
    document_.fail(place, fmt::format("'{}' cannot be opened; expected a Matrix Market or HDF5 file, "
                                      "its path from the model's folder",
                                      given));
  model_.data_files.push_back(path_of(given));
  if (is_hdf5(stream)) {
    std::optional<SparseEntries> found = of_hdf5(place, given, object);
    if (!found)
      document_.fail(place, fmt::format("{} has no '{}'; expected the matrix {}, or \"{}:/PATH\"",
                                        given, object, name, given));
    return *std::move(found);
  }
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  model_.hash = hash_with_file(model_.hash, text);
  try {
    return parse_matrix_market(text, given);
  } catch (const InvalidInput& problem) {
    document_.fail(place, problem.what());
  }
}

SparseEntries MatrixSource::matrix(const Value& value, const std::string& name,
                                   const std::string& object) const {
  if (value.kind == Value::Kind::table) return inline_matrix(value, name);
  const auto [file, inside] = file_and_object(context_.text(value, name), object);
  return of_file(value, file, inside, name);
}

/// An object of `file`, below `group`.
MatrixSource::Found MatrixSource::in_file(const std::string& object) const {
  const Member* file = table_.find("file");
  if (file == nullptr) return {};
  const std::string given = context_.text(file->value, "file of [multilinear]");
  std::ifstream stream(path_of(given), std::ios::binary);
  if (!stream || !is_hdf5(stream))
    document_.fail(file->value, fmt::format("'{}' is no HDF5 file that can be opened; expected one, "
                                            "its path from the model's folder",
                                            given));
  std::string group = "/";
  if (const Member* inside = table_.find("group"))
    group = context_.text(inside->value, "group of [multilinear]");
  if (!group.ends_with('/')) group += '/';
  if (!group.starts_with('/')) group.insert(0, "/");
  std::optional<SparseEntries> found = of_hdf5(file->value, given, group + object);
  if (!found) return {};
  return {*std::move(found), &file->value};
}

/// The matrix `whole`, or `part` of the table `table` that the toolbox has in its place.
MatrixSource::Found MatrixSource::find(const std::string& whole, const std::string& table,
                                       const std::string& part) const {
  if (!whole.empty()) {
    if (const Member* own = table_.find(whole))
      return {matrix(own->value, whole, "/" + whole), &own->value};
    if (Found found = in_file(whole); found.place != nullptr) return found;
  }
  if (const Member* split = table_.find(table)) {
    const std::string what = fmt::format("{} of [multilinear]", table);
    context_.check_kind(split->value, Value::Kind::table, what);
    if (table == "F")
      context_.check_keys(split->value, what,
                          {"algebraic", "boolean", "input", "state", "stateDerivative"});
    else
      context_.check_keys(split->value, what, {"equality", "inequality"});
    const Member* own = split->value.find(part);
    if (own == nullptr) return {};
    return {matrix(own->value, table + "." + part, "/" + table + "/" + part), &own->value};
  }
  return table.empty() ? Found{} : in_file(table + "/" + part);
}

void MatrixSource::check_size(const Found& part, const char* name, int rows, int columns) const {
  const int own = part.matrix.rows < 0 ? rows : part.matrix.rows;
  if (own != rows)
    document_.fail(*part.place, fmt::format("F.{} has {} rows; expected {}, one for each signal",
                                            name, own, rows));
  if (columns >= 0 && part.matrix.columns != columns)
    document_.fail(*part.place, fmt::format("F.{} has {} columns; expected {}, as those before have",
                                            name, part.matrix.columns, columns));
}

/// Appends the rows of F.state or another part to S, whose columns are -1 before the first one.
void MatrixSource::append(const char* name, int rows, SparseEntries& S) const {
  const Found found = find("", "F", name);
  const bool is_there = found.place != nullptr && !(found.matrix.rows == 0 && rows == 0);
  if (is_there) {
    check_size(found, name, rows, S.columns);
    S.columns = found.matrix.columns;
    for (const SparseEntry& entry : found.matrix.entries) {
      if (entry.row >= rows)
        document_.fail(*found.place, fmt::format("F.{} has an entry in row {}; expected rows 1 to {}",
                                                 name, entry.row + 1, rows));
      S.entries.push_back({S.rows + entry.row, entry.column, entry.value});
    }
  }
  S.rows += rows;
}

/// The rows of F.stateDerivative, F.state, ... below each other.
SparseEntries MatrixSource::split_S() const {
  SparseEntries S{0, -1, {}};
  append("stateDerivative", counts_.states, S);
  append("state", counts_.states, S);
  append("input", counts_.inputs, S);
  append("algebraic", counts_.algebraic, S);
  append("boolean", counts_.binaries, S);
  if (S.columns < 0)
    document_.fail(table_,
                   "'S' is missing in [multilinear]; expected S, Phi_f and Phi_g, each the name of a "
                   "Matrix Market or HDF5 file or { rows, columns, entries }; or F and phi; or file");
  return S;
}

SparseEntries MatrixSource::S() const {
  Found found = find("S", "", "");
  if (found.place == nullptr) return split_S();
  SparseEntries& S = found.matrix;
  if (S.rows < 0) {  // the file does not say how many
    S.rows = counts_.rows();
    for (const SparseEntry& entry : S.entries) S.rows = std::max(S.rows, entry.row + 1);
  }
  if (S.rows != counts_.rows())
    document_.fail(*found.place,
                   fmt::format("S has {} rows; expected {}, one for each signal: {} der(x), {} x, {} "
                               "u, {} y, {} z",
                               S.rows, counts_.rows(), counts_.states, counts_.states,
                               counts_.inputs, counts_.algebraic, counts_.binaries));
  return S;
}

void MatrixSource::check_columns(const Found& phi, const std::string& name, int columns) const {
  if (phi.matrix.columns != columns)
    document_.fail(*phi.place, fmt::format("{} has {} columns; expected {}, as S has", name,
                                           phi.matrix.columns, columns));
}

SparseEntries MatrixSource::phi_f(int columns) const {
  Found found = find("Phi_f", "phi", "equality");
  if (found.place == nullptr)
    document_.fail(table_, "'Phi_f' is missing in [multilinear]; expected the name of a Matrix Market "
                           "or HDF5 file or { rows, columns, entries }");
  if (found.matrix.rows < 0) {
    found.matrix.rows = counts_.equations();
    for (const SparseEntry& entry : found.matrix.entries)
      found.matrix.rows = std::max(found.matrix.rows, entry.row + 1);
  }
  check_columns(found, "Phi_f", columns);
  return found.matrix;
}

SparseEntries MatrixSource::phi_g(int columns) const {
  Found found = find("Phi_g", "phi", "inequality");
  if (found.place == nullptr || found.matrix.rows == 0) return {0, columns, {}};
  if (found.matrix.rows < 0) {
    found.matrix.rows = counts_.binaries;
    for (const SparseEntry& entry : found.matrix.entries)
      found.matrix.rows = std::max(found.matrix.rows, entry.row + 1);
  }
  check_columns(found, "Phi_g", columns);
  return found.matrix;
}

}  // namespace perp::reader
