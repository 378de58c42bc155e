// The [multilinear] table: equations and constraints as the sparse matrices S and Phi.
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <perp/core/base/index.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/multilinear/matrix_market.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp::reader {
namespace {

class MatrixTexts {
 public:
  MatrixTexts(const Context& context, const Value& table, HybridModel& model)
      : context_(context), document_(context.document()), table_(table), model_(model) {}

  void read() {
    context_.check_keys(table_, "[multilinear]", {"Phi_f", "Phi_g", "S", "signals"});
    read_signals();
    const SparseEntries S = matrix("S");
    if (S.rows != static_cast<int>(inputs_.size()))
      document_.fail(
          *table_.find("S"),
          fmt::format("S has {} rows; expected {}, one for each signal: der(x), x, u, y, z", S.rows,
                      inputs_.size()));
    const SparseEntries f = matrix("Phi_f");
    const SparseEntries g =
        table_.find("Phi_g") == nullptr ? SparseEntries{0, S.columns, {}} : matrix("Phi_g");
    for (const auto& [phi, key] : {std::pair(&f, "Phi_f"), std::pair(&g, "Phi_g")})
      if (phi->columns != S.columns)
        document_.fail(*table_.find(key), fmt::format("{} has {} columns; expected {}, as S has",
                                                      key, phi->columns, S.columns));
    write(MultilinearForm(S, f, g));
  }

 private:
  void read_signals();
  void add_names(const Value& signals, const char* key, const std::vector<std::string>& known,
                 int first);
  [[nodiscard]] SparseEntries matrix(const char* key) const;
  [[nodiscard]] SparseEntries inline_matrix(const Value& value, const char* key) const;
  [[nodiscard]] int size_of(const Value& value, const char* key) const;
  void write(const MultilinearForm& form);
  int factor(const MultilinearForm::Factor& f);

  const Context& context_;
  const Document& document_;
  const Value& table_;
  HybridModel& model_;
  std::vector<int> inputs_;  // of the tape, for each row of S
};

/// Appends the inputs of the tape for the signals of one kind.
void MatrixTexts::add_names(const Value& signals, const char* key,
                            const std::vector<std::string>& known, int first) {
  const Member* member = signals.find(key);
  if (member == nullptr) return;
  const std::string what = fmt::format("signals.{} of [multilinear]", key);
  context_.check_kind(member->value, Value::Kind::list, what);
  for (const Value& item : member->value.items) {
    const std::string name = context_.text(item, "a name in " + what);
    const auto place = std::find(known.begin(), known.end(), name);
    if (place == known.end())
      document_.fail(item, fmt::format("{} names '{}', which is declared nowhere{}", what, name,
                                       suggestion(name, known)));
    const int input = first + static_cast<int>(place - known.begin());
    if (std::find(inputs_.begin(), inputs_.end(), input) != inputs_.end())
      document_.fail(item, fmt::format("{} names '{}' twice", what, name));
    inputs_.push_back(input);
  }
}

void MatrixTexts::read_signals() {
  const Member* member = table_.find("signals");
  if (member == nullptr)
    document_.fail(table_,
                   "'signals' is missing in [multilinear]; expected { states = [...], inputs = "
                   "[...], algebraic = "
                   "[...], binaries = [...] }");
  const Value& signals = member->value;
  context_.check_kind(signals, Value::Kind::table, "signals of [multilinear]");
  context_.check_keys(signals, "signals of [multilinear]",
                      {"algebraic", "binaries", "inputs", "states"});
  std::vector<std::string> variables, inputs, binaries;
  for (const Variable& variable : model_.head.variables) variables.push_back(variable.name);
  for (const KnownInput& input : model_.inputs) inputs.push_back(input.name);
  for (const Binary& binary : model_.binaries) binaries.push_back(binary.name);
  add_names(signals, "states", variables, HybridModel::derivative_input(0));
  add_names(signals, "states", variables, model_.variable_input(0));
  add_names(signals, "inputs", inputs, model_.known_input(0));
  add_names(signals, "algebraic", variables, model_.variable_input(0));
  add_names(signals, "binaries", binaries, model_.binary_input(0));
}

int MatrixTexts::size_of(const Value& value, const char* key) const {
  const Member* member = value.find(key);
  if (member == nullptr)
    document_.fail(value,
                   fmt::format("'{}' is missing; expected {{ rows, columns, entries }}", key));
  const double size = context_.number(member->value, key);
  if (size < 0 || size > 1 << 24 || size != static_cast<int>(size))
    document_.fail(member->value, fmt::format("{} is {}; expected a whole number", key, size));
  return static_cast<int>(size);
}

/// { rows = 3, columns = 2, entries = [[1, 1, 0.5], ...] }
SparseEntries MatrixTexts::inline_matrix(const Value& value, const char* key) const {
  context_.check_keys(value, key, {"columns", "entries", "rows"});
  SparseEntries matrix{size_of(value, "rows"), size_of(value, "columns"), {}};
  const Member* entries = value.find("entries");
  if (entries == nullptr)
    document_.fail(value, "'entries' is missing; expected { rows, columns, entries }");
  context_.check_kind(entries->value, Value::Kind::list, fmt::format("entries of {}", key));
  for (const Value& item : entries->value.items) {
    context_.check_kind(item, Value::Kind::list, fmt::format("an entry of {}", key));
    if (item.items.size() != 3)
      document_.fail(
          item, fmt::format("an entry of {} has {} numbers; expected row, column and value", key,
                            item.items.size()));
    const double row = context_.number(item.items[0], "a row"),
                 column = context_.number(item.items[1], "a column");
    if (!(row >= 1 && row <= matrix.rows && row == static_cast<int>(row) && column >= 1 &&
          column <= matrix.columns && column == static_cast<int>(column)))
      document_.fail(
          item, fmt::format("found an entry at ({}, {}); expected rows 1 to {} and columns 1 to {}",
                            row, column, matrix.rows, matrix.columns));
    matrix.entries.push_back({static_cast<int>(row) - 1, static_cast<int>(column) - 1,
                              context_.number(item.items[2], fmt::format("an entry of {}", key))});
  }
  return matrix;
}

/// In the file or in one beside it.
SparseEntries MatrixTexts::matrix(const char* key) const {
  const Member* member = table_.find(key);
  if (member == nullptr)
    document_.fail(
        table_,
        fmt::format(
            "'{}' is missing in [multilinear]; expected the name of a Matrix Market file or {{ "
            "rows, columns, entries }}",
            key));
  const Value& value = member->value;
  if (value.kind == Value::Kind::table) return inline_matrix(value, key);
  const std::string given = context_.text(value, key);
  const std::filesystem::path path = std::filesystem::path(document_.file()).parent_path() / given;
  std::ifstream stream(path, std::ios::binary);
  std::error_code error;
  if (!stream || std::filesystem::is_directory(path, error))
    document_.fail(
        value, fmt::format("'{}' cannot be opened; expected a Matrix Market file beside the model",
                           given));
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  try {
    return parse_matrix_market(text, given);
  } catch (const InvalidInput& problem) {
    document_.fail(value, problem.what());
  }
}

/// 1 − |S| + S v
int MatrixTexts::factor(const MultilinearForm::Factor& f) {
  Tape& tape = model_.tape;
  const int v = tape.input(inputs_[at(f.signal)]);
  const double constant = 1 - std::abs(f.S);
  const int product = f.S == 1    ? v
                      : f.S == -1 ? tape.apply(Operation::negate, v)
                                  : tape.apply(Operation::multiply, tape.constant(f.S), v);
  return constant == 0 ? product : tape.apply(Operation::add, tape.constant(constant), product);
}

/// Each column is a product of lines that its rows share, each row a sum over its columns.
void MatrixTexts::write(const MultilinearForm& form) {
  Tape& tape = model_.tape;
  std::vector<int> columns;
  for (int k = 0; k < form.columns(); ++k) {
    int product = -1;
    for (const MultilinearForm::Factor& f : form.factors(k)) {
      const int line = factor(f);
      product = product < 0 ? line : tape.apply(Operation::multiply, product, line);
    }
    columns.push_back(product < 0 ? tape.constant(1) : product);
  }
  const auto rows = [&](const SparseEntries& phi) {
    std::vector<int> sums(at(phi.rows), -1);
    for (const SparseEntry& entry : phi.entries) {
      const int term = entry.value == 1
                           ? columns[at(entry.column)]
                           : tape.apply(Operation::multiply, tape.constant(entry.value),
                                        columns[at(entry.column)]);
      int& sum = sums[at(entry.row)];
      sum = sum < 0 ? term : tape.apply(Operation::add, sum, term);
    }
    for (int& sum : sums) sum = sum < 0 ? tape.constant(0) : sum;
    return sums;
  };
  model_.f = rows(form.phi_f());
  model_.g = rows(form.phi_g());
  for (int j = 0; j < form.equations(); ++j)
    model_.equation_texts.push_back(fmt::format("row {} of Phi_f", j + 1));
  for (int l = 0; l < form.constraints(); ++l)
    model_.constraints.push_back(
        {fmt::format("g{}", l + 1), fmt::format("row {} of Phi_g", l + 1)});
}

}  // namespace

void read_multilinear(const Context& context, const Value& table, HybridModel& model) {
  MatrixTexts(context, table, model).read();
}

}  // namespace perp::reader
