// The [multilinear] table: equations and constraints as the sparse matrices S and Phi.
#include <fmt/format.h>
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/models/language/multilinear/matrix_source.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/multilinear/multilinear_form.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp::reader {
namespace {

class MatrixTexts {
 public:
  MatrixTexts(const Context& context, const Value& table, HybridModel& model)
      : context_(context), document_(context.document()), table_(table), model_(model) {}

  void read() {
    context_.check_keys(table_, "[multilinear]",
                        {"F", "Phi_f", "Phi_g", "S", "file", "group", "phi", "signals"});
    if (table_.find("group") != nullptr && table_.find("file") == nullptr)
      document_.fail(*table_.find("group"),
                     "group has no effect without file; expected file = \"model.h5\"");
    read_signals();
    const MatrixSource source(context_, table_, counts_, model_.head);
    const SparseEntries S = source.S();
    const SparseEntries f = source.phi_f(S.columns), g = source.phi_g(S.columns);
    write(MultilinearForm(S, f, g));
  }

 private:
  void read_signals();
  [[nodiscard]] const char* word_of(const std::string& name) const;
  int add_names(const Value& signals, const char* key, const std::vector<std::string>& known,
                 int first);
  void write(const MultilinearForm& form);
  int factor(const MultilinearForm::Factor& f);
  int column(const std::vector<MultilinearForm::Factor>& factors);
  std::vector<int> rows(const SparseEntries& phi, const std::vector<int>& columns);

  const Context& context_;
  const Document& document_;
  const Value& table_;
  HybridModel& model_;
  std::vector<int> inputs_;  // of the tape, for each row of S
  SignalCounts counts_;
};

/// What a name is that the list does not know.
const char* MatrixTexts::word_of(const std::string& name) const {
  const auto has = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& item) { return item.name == name; });
  };
  if (has(model_.head.variables)) return "a variable";
  if (has(model_.inputs)) return "an input";
  return has(model_.binaries) ? "a binary" : "declared nowhere";
}

/// Appends the inputs of the tape for the signals of one kind; their number.
int MatrixTexts::add_names(const Value& signals, const char* key,
                            const std::vector<std::string>& known, int first) {
  const Member* member = signals.find(key);
  if (member == nullptr) return 0;
  const std::string what = fmt::format("signals.{} of [multilinear]", key);
  context_.check_kind(member->value, Value::Kind::list, what);
  int count = 0;
  for (const Value& item : member->value.items) {
    const std::string name = context_.text(item, "a name in " + what);
    bool is_known = false;
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (known[k] != name && !known[k].starts_with(name + "[")) continue;  // a family in its order
      is_known = true;
      const int input = first + static_cast<int>(k);
      if (std::find(inputs_.begin(), inputs_.end(), input) != inputs_.end())
        document_.fail(item, fmt::format("{} names '{}' twice", what, name));
      inputs_.push_back(input);
      ++count;
    }
    if (!is_known)
      document_.fail(item, fmt::format("{} names '{}', which is {}{}", what, name, word_of(name),
                                       suggestion(name, known)));
  }
  return count;
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
  counts_.states = add_names(signals, "states", variables, HybridModel::derivative_input(0));
  add_names(signals, "states", variables, model_.variable_input(0));
  counts_.inputs = add_names(signals, "inputs", inputs, model_.known_input(0));
  counts_.algebraic = add_names(signals, "algebraic", variables, model_.variable_input(0));
  counts_.binaries = add_names(signals, "binaries", binaries, model_.binary_input(0));
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

/// π = Π (1 − |S| + S v)
int MatrixTexts::column(const std::vector<MultilinearForm::Factor>& factors) {
  Tape& tape = model_.tape;
  int product = -1;
  for (const MultilinearForm::Factor& f : factors) {
    const int line = factor(f);
    product = product < 0 ? line : tape.apply(Operation::multiply, product, line);
  }
  return product < 0 ? tape.constant(1) : product;
}

/// Σ_k Φ_jk π_k for each row j, with the lines π_k.
std::vector<int> MatrixTexts::rows(const SparseEntries& phi, const std::vector<int>& columns) {
  Tape& tape = model_.tape;
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
}

/// Each column is a product of lines that its rows share, each row a sum over its columns.
void MatrixTexts::write(const MultilinearForm& form) {
  std::vector<int> columns;
  for (int k = 0; k < form.columns(); ++k) columns.push_back(column(form.factors(k)));
  model_.f = rows(form.phi_f(), columns);
  model_.g = rows(form.phi_g(), columns);
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
