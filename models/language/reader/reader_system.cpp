#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/models/language/reader/context.hpp>

namespace perp::reader {
namespace {

/// Number of columns of a matrix as it stands in the file: rows of one length.
Eigen::Index check_rows(const Context& context, const Value& value, const std::string& what) {
  const Document& document = context.document();
  if (value.kind != Value::Kind::list)
    document.fail(value, fmt::format("{} is {}; expected a list of rows, as in [[1, 0], [0, 1]]",
                                     what, describe(value.kind)));
  std::size_t columns = 0;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const Value& row = value.items[i];
    if (row.kind != Value::Kind::list)
      document.fail(row, fmt::format("row {} of {} is {}; expected a list, as in [[1, 0], [0, 1]]",
                                     i + 1, what, describe(row.kind)));
    if (i > 0 && row.items.size() != columns)
      document.fail(row, fmt::format("row {} of {} has {} entries but row 1 has {}", i + 1, what,
                                     row.items.size(), columns));
    columns = row.items.size();
  }
  return static_cast<Eigen::Index>(columns);
}

/// Is it a finite number, not one in words?
bool is_plain(const Value& entry) { return entry.kind == Value::Kind::number && std::isfinite(entry.number); }

Matrix read_matrix(const Context& context, const Value& value, const char* name, int rows,
                   int columns) {
  const auto found_columns =
      check_rows(context, value, fmt::format("{} ({}x{})", name, rows, columns));
  const auto found_rows = static_cast<Eigen::Index>(value.items.size());
  // A matrix without entries may be written in any way: [], [[]], [[], []].
  if (found_rows * found_columns == 0 && rows * columns == 0) return Matrix::Zero(rows, columns);
  if (found_rows != rows || found_columns != columns)
    context.document().fail(value, fmt::format("{} must be {}x{} but is {}x{}", name, rows, columns,
                                               found_rows, found_columns));
  Matrix matrix(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const Value& entry = value.items[static_cast<std::size_t>(i)].items[static_cast<std::size_t>(j)];
      matrix(i, j) = is_plain(entry) ? entry.number : context.number(entry, fmt::format("{}({},{})", name, i + 1, j + 1));
    }
  return matrix;
}

Signal read_signal(const Context& context, const Value& value, const char* name, int size,
                   double t) {
  if (value.kind != Value::Kind::list)
    context.document().fail(value, fmt::format("{} is {}; expected a list of {} entries", name,
                                               describe(value.kind), size));
  if (static_cast<int>(value.items.size()) != size)
    context.document().fail(
        value, fmt::format("{} must have {} entries but has {}", name, size, value.items.size()));
  if (std::ranges::all_of(value.items, is_plain)) {
    Vector numbers(size);
    for (int i = 0; i < size; ++i) numbers[i] = value.items[static_cast<std::size_t>(i)].number;
    return numbers;
  }
  std::vector<const Value*> entries;
  std::vector<std::string> what;
  for (const Value& item : value.items) {
    entries.push_back(&item);
    what.push_back(fmt::format("{}({})", name, entries.size()));
  }
  return context.signal(entries, what, t);
}

/// The laws of a [system]; none where it has no list of them.
std::vector<Law> laws_of(const Context& context, const Value& table) {
  std::vector<Law> list;
  const Member* laws = table.find("laws");
  if (laws == nullptr) return list;
  context.check_kind(laws->value, Value::Kind::list, "laws");
  for (const Value& law : laws->value.items) list.push_back(read_law(context, law, list.size() + 1));
  return list;
}

}  // namespace

Lcs read_system(const Context& context, const Value& table, int n, double t) {
  context.check_kind(table, Value::Kind::table, "system");
  context.check_keys(table, "[system]", {"A", "B", "C", "D", "E", "b", "laws", "q"});
  Lcs lcs;
  lcs.laws = laws_of(context, table);
  const int m = lcs.m();
  const auto matrix = [&](const char* name, int rows, int columns, bool required) {
    const Member* member = table.find(name);
    if (member == nullptr && required && rows * columns > 0)
      context.document().fail(
          table,
          fmt::format("'{}' is missing in [system]; expected a {}x{} matrix", name, rows, columns));
    return member == nullptr ? Matrix(Matrix::Zero(rows, columns))
                             : read_matrix(context, member->value, name, rows, columns);
  };
  const auto signal = [&](const char* name, int size) {
    const Member* member = table.find(name);
    return member == nullptr ? Signal(Vector(Vector::Zero(size)))
                             : read_signal(context, member->value, name, size, t);
  };
  lcs.E = table.find("E") == nullptr ? Matrix(Matrix::Identity(n, n)) : matrix("E", n, n, false);
  lcs.A = matrix("A", n, n, true);
  lcs.B = matrix("B", n, m, true);
  lcs.b = signal("b", n);
  lcs.C = matrix("C", m, n, true);
  lcs.D = matrix("D", m, m, false);
  lcs.q = signal("q", m);
  return lcs;
}

}  // namespace perp::reader
