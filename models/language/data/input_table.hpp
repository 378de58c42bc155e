#pragma once

#include <map>
#include <memory>
#include <string>

#include <perp/models/language/data/csv_columns.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp::reader {

/// Inputs from files of data, [inputs] u = { file = "weather.csv", column = "T_out", between =
/// "linear" }. A file is read once for all of a model's inputs.
class InputTables {
 public:
  /// `model`: to whose hash and data files each file is added.
  InputTables(const Context& context, Model& model) : context_(context), model_(model) {}

  /// The input, its line u(t) on the tape. Throws ModelError, also where the data do not cover the
  /// span.
  KnownInput read(const std::string& name, const Value& table, const Span& span, Tape& tape);

 private:
  [[nodiscard]] const Value& required(const std::string& name, const Value& table,
                                      const char* key) const;
  [[nodiscard]] DataTable::Between between(const std::string& name, const Value& table) const;
  [[nodiscard]] std::string path_of(const std::string& given) const;
  const CsvColumns& file(const Value& place, const std::string& given);
  [[nodiscard]] int column(const CsvColumns& columns, const Value& place,
                           const std::string& name) const;
  [[nodiscard]] int time_column(const CsvColumns& columns, const std::string& input,
                                const Value& table) const;

  const Context& context_;
  Model& model_;
  std::map<std::string, std::unique_ptr<CsvColumns>> files_;
};

}  // namespace perp::reader
