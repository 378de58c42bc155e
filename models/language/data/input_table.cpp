// Inputs from columns of CSV files: read_hybrid calls it for tables in [inputs].
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <perp/core/base/index.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/models/language/data/input_table.hpp>

namespace perp::reader {

std::string InputTables::path_of(const std::string& given) const {
  return (std::filesystem::path(context_.document().file()).parent_path() / given).string();
}

const CsvColumns& InputTables::file(const Value& place, const std::string& given) {
  const Document& document = context_.document();
  const std::string path = path_of(given);
  std::unique_ptr<CsvColumns>& known = files_[path];
  if (known) return *known;
  std::ifstream stream(path, std::ios::binary);
  std::error_code error;
  if (!stream || std::filesystem::is_directory(path, error))
    document.fail(
        place,
        fmt::format("'{}' cannot be opened; expected a CSV file, its path from the model's folder",
                    given));
  try {
    known = std::make_unique<CsvColumns>(
        std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()},
        given);
  } catch (const InvalidInput& problem) {
    document.fail(place, problem.what());
  }
  return *known;
}

int InputTables::column(const CsvColumns& columns, const Value& place,
                        const std::string& name) const {
  const std::vector<std::string>& header = columns.header();
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end())
    context_.document().fail(
        place, fmt::format("{} has no column '{}'; it has {}{}", columns.name(), name,
                           fmt::join(header, ", "), suggestion(name, header)));
  if (std::find(found + 1, header.end(), name) != header.end())
    context_.document().fail(
        place, fmt::format("{} has two columns '{}'; expected one", columns.name(), name));
  return static_cast<int>(found - header.begin());
}

/// The column that is named, else t or time, else the first one.
int InputTables::time_column(const CsvColumns& columns, const std::string& input,
                             const Value& table) const {
  if (const Value* given = context_.find(&table, "inputs." + input, "time"))
    return column(columns, *given, context_.text(*given, "time of input '" + input + "'"));
  const std::vector<std::string>& header = columns.header();
  for (const char* name : {"t", "time"})
    if (const auto found = std::find(header.begin(), header.end(), name); found != header.end())
      return static_cast<int>(found - header.begin());
  return 0;
}

KnownInput InputTables::read(const std::string& name, const Value& table, const Span& span, Tape& tape) {
  const Document& document = context_.document();
  const std::string what = "input '" + name + "'";
  context_.check_keys(table, what, {"between", "column", "file", "time"});
  const auto required = [&](const char* key) -> const Value& {
    const Value* value = context_.find(&table, "inputs." + name, key);
    if (value == nullptr)
      document.fail(table, fmt::format("'{}' is missing in {}; expected {{ file = \"data.csv\", "
                                       "column = \"name\", between = \"linear\" }}",
                                       key, what));
    return *value;
  };
  const Value& file_name = required("file");
  const CsvColumns& columns = file(file_name, context_.text(file_name, "file of " + what));
  const Value& column_name = required("column");
  const int values = column(columns, column_name, context_.text(column_name, "column of " + what));
  DataTable::Between between = DataTable::Between::linear;
  if (const Value* given = context_.find(&table, "inputs." + name, "between")) {
    const std::vector<std::string> words{"linear", "hold"};
    const std::string word = context_.text(*given, "between of " + what);
    if (word != "linear" && word != "hold")
      document.fail(*given, fmt::format("between of {} is '{}'; expected linear or hold{}", what,
                                        word, suggestion(word, words)));
    if (word == "hold") between = DataTable::Between::hold;
  }
  try {
    const int time = time_column(columns, name, table);
    const std::vector<double> times = columns.numbers(time);
    for (int row = 1; row < columns.rows(); ++row)
      if (!(times[at(row)] > times[at(row - 1)]))
        throw InvalidInput(fmt::format("{}:{}:1: found time {} behind {}; expected increasing times",
                                       columns.name(), columns.line(row), times[at(row)],
                                       times[at(row - 1)]));
    DataTable data(name, times, columns.numbers(values), between);
    if (data.end() < span.end || data.start() > span.start)
      throw InvalidInput(fmt::format(
          "{} {} at t = {}, and the run {} at t = {}; expected rows for all of its time [{}, {}]",
          columns.name(), data.end() < span.end ? "ends" : "begins",
          data.end() < span.end ? data.end() : data.start(),
          data.end() < span.end ? "ends" : "begins",
          data.end() < span.end ? span.end : span.start, span.start, span.end));
    const int line = tape.apply(Operation::table, tape.input(HybridModel::time_input()),
                                tape.constant(number_of(std::move(data))));
    return {name, line,
            InputData{path_of(columns.name()), columns.header()[at(values)],
                      columns.header()[at(time)],
                      between == DataTable::Between::hold ? "hold" : "linear"}};
  } catch (const InvalidInput& problem) {
    document.fail(file_name, problem.what());
  }
}

}  // namespace perp::reader
