// The matrix form of a model as equations whose numbers are exact, for enclosures.
#include <fmt/format.h>

#include <perp/core/interval/decimal.hpp>
#include <perp/models/language/exact_numbers.hpp>
#include <perp/models/language/matrices/written_matrix.hpp>

namespace perp::reader {
namespace {

using enclosure::Interval;

/// The rows of 0 = E ẋ - A x - B λ - b,  w = C x + D λ + q.
class MatrixEquations {
 public:
  MatrixEquations(const Context& context, const Value& table, WrittenMatrices& written, Model& model)
      : context_(context), written_(written), model_(model) {
    const Member* laws = table.find("laws");
    if (laws != nullptr)
      for (const Value& law : laws->value.items)
        laws_.push_back(read_unit_law(context, law, laws_.size() + 1));
    for (const UnitLaw& law : laws_) system_.laws.push_back(law.law);
    n_ = static_cast<int>(model.variables.size());
    m_ = static_cast<int>(laws_.size());
    // Inputs of a Dcs: what is no name cannot be written.
    scope_.names.emplace_back("t");
    scope_.aliases["time"] = 0;
    for (int k = 0; k < 2 * n_ + m_; ++k) scope_.names.push_back(fmt::format("input {}", k));
    for (const auto& parameter : model.parameters) scope_.names.push_back(parameter.first);
  }

  Dcs read() {
    for (const char* name : {"E", "A", "B", "b", "C", "D", "q"}) collect(find(name));
    literals_.extend(scope_);
    set_parameters();
    for (int i = 0; i < m_; ++i) set_law(i);
    const int first_x = 1 + n_, first_lambda = 1 + 2 * n_;
    for (int i = 0; i < n_; ++i) {
      row_ = -1;
      if (find("E") == nullptr) add(input(1 + i), Operation::add);
      add_products("E", i, 1, Operation::add);
      add_products("A", i, first_x, Operation::subtract);
      add_products("B", i, first_lambda, Operation::subtract);
      add_entry("b", i, Operation::subtract);
      system_.F.push_back(end_of_row());
    }
    for (int i = 0; i < m_; ++i) {
      row_ = -1;
      add_products("C", i, first_x, Operation::add);
      add_products("D", i, first_lambda, Operation::add);
      add_entry("q", i, Operation::add);
      system_.G.push_back(argument(i, end_of_row()));
    }
    return std::move(system_);
  }

 private:
  /// Its shape is known.
  [[nodiscard]] const WrittenMatrix* find(const char* key) const { return written_.find(key, 0, 0); }

  /// Notes the literals of all entries.
  void collect(const WrittenMatrix* matrix) {
    if (matrix == nullptr) return;
    for (int i = 0; i < matrix->rows(); ++i)
      for (const WrittenEntry& entry : matrix->row(i)) literals_.add(matrix->text(context_, entry));
  }

  int input(int number) { return system_.tape.input(number); }

  /// Those of the file, the literals, and the data of laws: shift, width, offset, scale of each.
  void set_parameters() {
    ExactNumbers& numbers = *model_.exact_numbers;
    for (const auto& parameter : model_.parameters) system_.parameters.push_back(parameter.second);
    numbers.names.insert(numbers.names.end(), literals_.texts().begin(), literals_.texts().end());
    numbers.values.insert(numbers.values.end(), literals_.values().begin(),
                          literals_.values().end());
    numbers.rational_values.insert(numbers.rational_values.end(), literals_.numbers().begin(),
                                   literals_.numbers().end());
    system_.parameters.insert(system_.parameters.end(), literals_.nearest().begin(),
                              literals_.nearest().end());
    numbers.multipliers.resize(static_cast<std::size_t>(m_));
  }

  int add_parameter(const std::string& name, const Interval& value) {
    model_.exact_numbers->names.push_back(name);
    model_.exact_numbers->values.push_back(value);
    system_.parameters.push_back(enclosure::middle(value));
    return static_cast<int>(system_.parameters.size()) - 1;
  }

  void set_law(int i) {
    const UnitLaw& law = laws_[static_cast<std::size_t>(i)];
    const auto name = [i](const char* what) { return fmt::format("{} of law {}", what, i + 1); };
    shift_.push_back(law.shift ? add_parameter(name("shift"), *law.shift) : -1);
    width_.push_back(law.shift ? add_parameter(name("width"), *law.width) : -1);
    if (!law.scale) return;
    model_.exact_numbers->multipliers[static_cast<std::size_t>(i)] = {
        add_parameter(name("offset"), *law.offset), add_parameter(name("scale"), *law.scale)};
  }

  int parameter(int number) { return input(1 + 2 * n_ + m_ + number); }

  /// (w - shift)/width
  int argument(int law, int w) {
    const int shift = shift_[static_cast<std::size_t>(law)];
    if (shift < 0) return w;
    const int above = system_.tape.apply(Operation::subtract, w, parameter(shift));
    return system_.tape.apply(Operation::divide, above,
                              parameter(width_[static_cast<std::size_t>(law)]));
  }

  /// An unknown: λ = offset + scale μ.
  int unknown(int number) {
    const int law = number - 1 - 2 * n_;
    if (law < 0 || law >= m_) return input(number);
    const auto [offset, scale] = model_.exact_numbers->multipliers[static_cast<std::size_t>(law)];
    if (scale < 0) return input(number);
    const int part = system_.tape.apply(Operation::multiply, parameter(scale), input(number));
    return system_.tape.apply(Operation::add, parameter(offset), part);
  }

  void add(int term, Operation operation) {
    if (row_ < 0)
      row_ = operation == Operation::add ? term : system_.tape.apply(Operation::negate, term);
    else
      row_ = system_.tape.apply(operation, row_, term);
  }

  int end_of_row() { return row_ < 0 ? system_.tape.constant(0) : row_; }

  int line_of(const WrittenMatrix& matrix, const WrittenEntry& entry, bool may_hold_time) {
    const std::string text = matrix.text(context_, entry), what = matrix.place(entry);
    try {
      const int line = parse_expression(text, scope_, system_.tape);
      if (!may_hold_time && holds_time(line))
        matrix.fail(context_, entry, 0, fmt::format("{} holds the time; expected numbers and parameters", what));
      return line;
    } catch (const ExpressionError& error) {
      matrix.fail(context_, entry, error.offset(), fmt::format("{}: {}", what, error.what()));
    }
  }

  [[nodiscard]] bool holds_time(int line) const {
    const std::vector<bool> needed = needed_lines(system_.tape, std::span(&line, 1));
    for (std::size_t k = 0; k < needed.size(); ++k) {
      const Instruction& here = system_.tape[static_cast<int>(k)];
      if (needed[k] && here.operation == Operation::input && here.a == 0) return true;
    }
    return false;
  }

  void add_products(const char* name, int i, int first, Operation operation) {
    const WrittenMatrix* matrix = find(name);
    if (matrix == nullptr) return;
    for (const WrittenEntry& entry : matrix->row(i)) {
      const int factor = line_of(*matrix, entry, false);
      const Instruction& number = system_.tape[factor];
      const bool is_number = number.operation == Operation::constant;
      if (is_number && number.value == 0) continue;
      const bool is_one = is_number && number.value == 1;
      const int x = unknown(first + entry.column);
      add(is_one ? x : system_.tape.apply(Operation::multiply, factor, x), operation);
    }
  }

  void add_entry(const char* name, int i, Operation operation) {
    const WrittenMatrix* vector = find(name);
    if (vector == nullptr) return;
    for (const WrittenEntry& entry : vector->row(i)) {
      const int line = line_of(*vector, entry, true);
      const Instruction& number = system_.tape[line];
      if (number.operation != Operation::constant || number.value != 0) add(line, operation);
    }
  }

  const Context& context_;
  WrittenMatrices& written_;
  Model& model_;
  std::vector<UnitLaw> laws_;
  std::vector<int> shift_, width_;  // numbers of parameters
  enclosure::ExactLiterals literals_;
  Scope scope_;
  Dcs system_;
  int n_ = 0, m_ = 0;
  int row_ = -1;
};

}  // namespace

void read_exact_system(const Context& context, const Value& table, Model& model) {
  // Shapes, keys and names are those of the form with rounded numbers, and so are the messages.
  WrittenMatrices written(context, table, model);
  read_system(context.rounded(), table, written, model);
  model.equations = MatrixEquations(context, table, written, model).read();
  model.system = *model.equations;
}

}  // namespace perp::reader
