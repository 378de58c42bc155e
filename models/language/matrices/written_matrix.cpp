// Matrices of [system] before they are numbers: reader_system makes doubles of them, reader_exact_system equations.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <perp/core/base/index.hpp>
#include <perp/models/language/data/content_hash.hpp>
#include <perp/models/language/families/family_text.hpp>
#include <perp/models/language/matrices/written_matrix.hpp>

namespace perp::reader {
namespace {

constexpr std::size_t largest_file = 1UL << 30U;

/// The content of a file. Throws where there is none that ends.
std::string content_of(const Document& document, const Value& place, const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::error_code error;
  if (!stream || std::filesystem::is_directory(path, error))
    document.fail(place, fmt::format("'{}' cannot be opened; expected a Matrix Market file, its path from the model's folder",
                                     place.text));
  std::string text, buffer(1U << 20U, '\0');
  while (text.size() <= largest_file &&
         (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || stream.gcount() > 0))
    text.append(buffer, 0, static_cast<std::size_t>(stream.gcount()));
  if (text.size() > largest_file)
    document.fail(place, fmt::format("'{}' is larger than {} MiB; expected a Matrix Market file", place.text, largest_file >> 20U));
  return text;
}

/// What is written to the right of this, or below it?
bool is_before(const WrittenEntry& a, const WrittenEntry& b) { return a.row != b.row ? a.row < b.row : a.column < b.column; }

}  // namespace

std::string WrittenMatrix::place(const WrittenEntry& entry) const {
  return is_vector_ ? fmt::format("{}({})", name_, entry.row + 1) : fmt::format("{}({},{})", name_, entry.row + 1, entry.column + 1);
}

void WrittenMatrix::fail(const Context& context, const WrittenEntry& entry, std::size_t offset, const std::string& message) const {
  const Document& document = context.document();
  if (entry.value != nullptr) document.fail(*entry.value, offset, message);
  const Position at = position_of(file_->text, entry.of_file->at);
  document.fail(*value_, fmt::format("{}:{}:{}: {}", file_->name, at.line, at.column, message));
}

double WrittenMatrix::number(const Context& context, const WrittenEntry& entry) const {
  if (entry.value == nullptr) return entry.of_file->value;
  const Value& value = *entry.value;
  const bool is_plain = value.kind == Value::Kind::number && std::isfinite(value.number);
  return is_plain ? value.number : context.number(value, place(entry));
}

std::string WrittenMatrix::text(const Context& context, const WrittenEntry& entry) const {
  if (entry.value == nullptr) return file_->matrix.digits(file_->text, *entry.of_file);
  return entry.value->kind == Value::Kind::text ? entry.value->text : context.document().literal(*entry.value);
}

std::vector<WrittenEntry> WrittenMatrix::row(int i) const {
  if (is_sparse_)
    return {entries_.begin() + static_cast<std::ptrdiff_t>(start_[at(i)]), entries_.begin() + static_cast<std::ptrdiff_t>(start_[at(i) + 1])};
  if (columns_ == 0) return {};
  const Value& item = value_->items[at(i)];
  if (is_vector_) return {{i, 0, &item}};
  std::vector<WrittenEntry> list;
  for (int j = 0; j < columns_; ++j) list.push_back({i, j, &item.items[at(j)]});
  return list;
}

/// The length of all rows.
std::size_t WrittenMatrix::common_length(const Context& context, const std::string& what) const {
  const Document& document = context.document();
  std::size_t length = 0;
  for (std::size_t i = 0; i < value_->items.size(); ++i) {
    const Value& row = value_->items[i];
    if (row.kind != Value::Kind::list)
      document.fail(row, fmt::format("row {} of {} is {}; expected a list, as in [[1, 0], [0, 1]]", i + 1, what, describe(row.kind)));
    if (i > 0 && row.items.size() != length)
      document.fail(row, fmt::format("row {} of {} has {} entries but row 1 has {}", i + 1, what, row.items.size(), length));
    length = row.items.size();
  }
  return length;
}

/// Full rows of one length, as many as there should be.
void WrittenMatrix::check_rows(const Context& context) const {
  const std::string what = fmt::format("{} ({}x{})", name_, rows_, columns_);
  if (value_->kind != Value::Kind::list)
    context.document().fail(*value_, fmt::format("{} is {}; expected a list of rows, as in [[1, 0], [0, 1]]", what, describe(value_->kind)));
  const std::size_t found = common_length(context, what), found_rows = value_->items.size();
  // A matrix without entries may be written in any way: [], [[]], [[], []].
  if (found_rows * found == 0 && (rows_ == 0 || columns_ == 0)) return;
  if (found_rows != at(rows_) || found != at(columns_))
    context.document().fail(*value_, fmt::format("{} must be {}x{} but is {}x{}", name_, rows_, columns_, found_rows, found));
}

void WrittenMatrix::check_list(const Context& context) const {
  if (value_->kind != Value::Kind::list)
    context.document().fail(*value_, fmt::format("{} is {}; expected a list of {} entries", name_, describe(value_->kind), rows_));
  if (value_->items.size() != at(rows_))
    context.document().fail(*value_, fmt::format("{} must have {} entries but has {}", name_, rows_, value_->items.size()));
}

namespace {

/// An index that is a formula: of parameters, with mod as in families.
double index_of_formula(const Context& context, const Value& formula, const std::string& what) {
  Families parameters;
  parameters.parameter = [&](std::string_view name) { return context.number(formula, 0, name, what); };
  Value plain = formula;
  try {
    if (plain.kind == Value::Kind::text) plain.text = expand_indices(formula.text, {}, parameters);
  } catch (const FamilyError& error) {
    context.document().fail(formula, error.offset(), error.what());
  }
  return context.number(plain, what);
}

}  // namespace

/// A row or column of an entry, from 1.
int WrittenMatrix::index(const Context& context, const Value& value, const char* what, int most) const {
  const double number = value.kind == Value::Kind::number ? value.number
                                                          : index_of_formula(context, value, fmt::format("a {} of {}", what, name_));
  if (number >= 1 && number <= most && number == std::floor(number)) return static_cast<int>(number);
  context.document().fail(value, fmt::format("a {} of {} is {}; expected a whole number from 1 to {}", what, name_, number, most));
}

/// [row, column, value], of a vector [row, value].
WrittenEntry WrittenMatrix::entry_of(const Context& context, const Value& item) const {
  const std::size_t parts = is_vector_ ? 2 : 3;
  context.check_kind(item, Value::Kind::list, fmt::format("an entry of {}", name_));
  if (item.items.size() != parts)
    context.document().fail(item, fmt::format("an entry of {} has {} parts; expected {}", name_, item.items.size(),
                                              is_vector_ ? "[row, value]" : "[row, column, value]"));
  const int i = index(context, item.items[0], "row", rows_), j = is_vector_ ? 1 : index(context, item.items[1], "column", columns_);
  return {i - 1, j - 1, &item.items.back()};
}

void WrittenMatrix::take_entries(const Context& context) {
  const Value& list = value_->find("entries")->value;
  context.check_kind(list, Value::Kind::list, fmt::format("entries of {}", name_));
  entries_.reserve(list.items.size());
  for (const Value& item : list.items) entries_.push_back(entry_of(context, item));
  sort(context);
}

void WrittenMatrix::take_file(const Context& context, std::shared_ptr<const MatrixFile> file) {
  file_ = std::move(file);
  const MarketMatrix& matrix = file_->matrix;
  if (matrix.rows != rows_ || matrix.columns != columns_)
    context.document().fail(*value_, fmt::format("{} must be {}x{} but '{}' is {}x{}", name_, rows_, columns_, file_->name,
                                                 matrix.rows, matrix.columns));
  entries_.reserve(matrix.entries.size());
  for (const MarketMatrix::Entry& entry : matrix.entries) entries_.push_back({entry.row, entry.column, nullptr, &entry});
  sort(context);
}

/// Row by row, each place once.
void WrittenMatrix::sort(const Context& context) {
  is_sparse_ = true;
  if (!std::ranges::is_sorted(entries_, is_before)) std::ranges::stable_sort(entries_, is_before);
  start_.assign(at(rows_) + 1, 0);
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    if (k > 0 && !is_before(entries_[k - 1], entries_[k])) refuse_second(context, entries_[k - 1], entries_[k]);
    start_[at(entries_[k].row) + 1] = k + 1;
  }
  for (std::size_t i = 1; i < start_.size(); ++i) start_[i] = std::max(start_[i], start_[i - 1]);
}

void WrittenMatrix::refuse_second(const Context& context, const WrittenEntry& first, const WrittenEntry& second) const {
  const int line = first.value != nullptr ? first.value->at.line : position_of(file_->text, first.of_file->at).line;
  fail(context, second, 0, fmt::format("{} is given twice; expected it once, as on line {}", place(second), line));
}

const WrittenMatrix* WrittenMatrices::find(const char* name, int rows, int columns) {
  const auto known = known_.find(name);
  if (known != known_.end()) return &known->second;
  const Member* member = table_.find(name);
  if (member == nullptr) return nullptr;
  return &known_.emplace(name, written(member->value, name, rows, columns)).first->second;
}

WrittenMatrix WrittenMatrices::written(const Value& value, const char* name, int rows, int columns) {
  WrittenMatrix matrix(value, name, rows, columns < 0 ? 1 : columns, columns < 0);
  if (value.kind != Value::Kind::table) {
    columns < 0 ? matrix.check_list(context_) : matrix.check_rows(context_);
    return matrix;
  }
  context_.check_keys(value, name, {"entries", "file"});
  if (value.members.size() != 1)
    context_.document().fail(value, fmt::format("{} has {} of 'entries' and 'file'; expected one of them", name,
                                                value.members.empty() ? "none" : "both"));
  if (const Member* given = value.find("file"))
    matrix.take_file(context_, file(given->value, name));
  else
    matrix.take_entries(context_);
  return matrix;
}

/// Each is read once.
std::shared_ptr<const MatrixFile> WrittenMatrices::file(const Value& place, const char* name) {
  const Document& document = context_.document();
  const std::string& given = context_.text(place, fmt::format("file of {}", name));
  std::shared_ptr<const MatrixFile>& known = files_[given];
  if (known) return known;
  const std::string path = (std::filesystem::path(document.file()).parent_path() / given).string();
  MatrixFile file{.name = given, .text = content_of(document, place, path)};
  model_.data_files.push_back(path);
  model_.hash = hash_with_file(model_.hash, file.text);
  try {
    file.matrix = read_matrix_market(file.text, given);
  } catch (const InvalidInput& problem) {
    document.fail(place, problem.what());
  }
  return known = std::make_shared<const MatrixFile>(std::move(file));
}

bool WrittenMatrices::is_sparse() const {
  return std::ranges::any_of(known_, [](const auto& entry) { return entry.second.is_sparse() && !entry.second.is_vector_; });
}

}  // namespace perp::reader
