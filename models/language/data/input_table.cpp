// Inputs from columns of CSV files: read_hybrid calls it for tables in [inputs].
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <perp/core/base/index.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/models/language/data/content_hash.hpp>
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
  const std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  model_.hash = hash_with_file(model_.hash, content);
  model_.data_files.push_back(path);
  try {
    known = std::make_unique<CsvColumns>(content, given);
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

const Value& InputTables::required(const std::string& name, const Value& table,
                                   const char* key) const {
  const Value* value = context_.find(&table, "inputs." + name, key);
  if (value == nullptr)
    context_.document().fail(
        table, fmt::format("'{}' is missing in input '{}'; expected {{ file = \"data.csv\", column "
                           "= \"name\", between = \"linear\" }}",
                           key, name));
  return *value;
}

DataTable::Between InputTables::between(const std::string& name, const Value& table) const {
  const Value* given = context_.find(&table, "inputs." + name, "between");
  if (given == nullptr) return DataTable::Between::linear;
  const std::vector<std::string> words{"linear", "hold"};
  const std::string word = context_.text(*given, "between of input '" + name + "'");
  if (word != words[0] && word != words[1])
    context_.document().fail(*given, fmt::format("between of input '{}' is '{}'; expected linear or "
                                                 "hold{}",
                                                 name, word, suggestion(word, words)));
  return word == words[0] ? DataTable::Between::linear : DataTable::Between::hold;
}

namespace {

/// Throws InvalidInput where times do not increase, or do not cover the span.
void check_times(const CsvColumns& columns, const std::vector<double>& times, const Span& span) {
  for (int row = 1; row < columns.rows(); ++row)
    if (!(times[at(row)] > times[at(row - 1)]))
      throw InvalidInput(fmt::format("{}:{}:1: found time {} behind {}; expected increasing times",
                                     columns.name(), columns.line(row), times[at(row)],
                                     times[at(row - 1)]));
  if (times.back() < span.end)
    throw InvalidInput(fmt::format("{} ends at t = {}, and the run at t = {}; expected rows up to it",
                                   columns.name(), times.back(), span.end));
  if (times.front() > span.start)
    throw InvalidInput(fmt::format(
        "{} begins at t = {}, and the run at t = {}; expected rows from there on", columns.name(),
        times.front(), span.start));
}

}  // namespace

KnownInput InputTables::read(const std::string& name, const Value& table, const Span& span,
                             Tape& tape) {
  context_.check_keys(table, "input '" + name + "'", {"between", "column", "file", "time"});
  const Value& file_name = required(name, table, "file");
  const CsvColumns& columns = file(file_name, context_.text(file_name, "file of input '" + name + "'"));
  const Value& column_name = required(name, table, "column");
  const int values =
      column(columns, column_name, context_.text(column_name, "column of input '" + name + "'"));
  const int time = time_column(columns, name, table);
  const DataTable::Between kind = between(name, table);
  try {
    const std::vector<double> times = columns.numbers(time);
    check_times(columns, times, span);
    const double number = DataTable::number_of({name, times, columns.numbers(values), kind});
    const int line = tape.apply(Operation::table, tape.input(HybridModel::time_input()),
                                tape.constant(number));
    return {name, line,
            InputData{path_of(columns.name()), columns.header()[at(values)],
                      columns.header()[at(time)],
                      kind == DataTable::Between::hold ? "hold" : "linear"}};
  } catch (const InvalidInput& problem) {
    context_.document().fail(file_name, problem.what());
  }
}

}  // namespace perp::reader
