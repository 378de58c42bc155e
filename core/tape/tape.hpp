#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include <perp/core/tape/data_table.hpp>

namespace perp {

/// The elementary operations of expressions. A later one is a line here, a line in
/// `apply_operation` and a row of the table in core/expression_functions.cpp.
enum class Operation : std::uint8_t {
  constant,
  input,
  pi,
  negate,
  add,
  subtract,
  multiply,
  divide,
  power,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  exp,
  log,
  log10,
  sqrt,
  atan2,
  abs,
  min,
  max,
  sign,
  table,  ///< data as a function of the first operand; the second is the number of the table
  guard   ///< the second operand where the first one is not 0, else 1/2, where every function has a value and
          ///< derivatives: the argument of a function in a branch of `if` whose weight is the first one
};

/// One line of a tape: an operation on the results of earlier lines.
struct Instruction {
  static constexpr double unweighted = 0.5;  ///< the value of a guard whose weight is 0

  Operation operation = Operation::constant;
  int a = -1;        ///< line of the first operand; the index of an input; -1: none
  int b = -1;        ///< line of the second operand, -1: none
  double value = 0;  ///< of a constant

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// What a scalar type has to offer besides arithmetic and the functions of <cmath> (found by
/// argument dependent lookup). Specialise it for scalars with a better π or another choice between
/// values.
template <class T>
struct ScalarTraits {
  static T pi() { return T(std::numbers::pi); }
  static T abs(const T& x) { return x < T(0) ? -x : x; }
  static T min(const T& x, const T& y) { return y < x ? y : x; }
  static T max(const T& x, const T& y) { return x < y ? y : x; }
  /// Single-valued: 0 at 0. The set-valued sign is a law.
  static T sign(const T& x) { return T(T(0) < x ? 1 : (x < T(0) ? -1 : 0)); }
  /// See Operation::guard.
  static T guard(const T& weight, const T& x) { return weight < T(0) || T(0) < weight ? x : T(Instruction::unweighted); }
};

/// What has no value has no choice either: NaN stays NaN.
template <>
struct ScalarTraits<double> {
  static double pi() { return std::numbers::pi; }
  static double abs(double x) { return std::abs(x); }
  static double min(double x, double y) { return y < x || std::isnan(y) ? y : x; }
  static double max(double x, double y) { return x < y || std::isnan(y) ? y : x; }
  static double sign(double x) { return x > 0 ? 1 : (x < 0 ? -1 : x * 0); }
  static double table(double x, double number) { return DataTable::value_of(number, x); }
  static double guard(double weight, double x) { return weight == 0 ? Instruction::unweighted : x; }
};

/// The value of one operation; x and y are the operands (y is ignored by operations of one).
template <class T>
T apply_operation(Operation operation, const T& x, const T& y) {
  using std::acos, std::asin, std::atan, std::atan2, std::cos, std::cosh, std::exp, std::log,
      std::log10, std::pow, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
  switch (operation) {
    case Operation::constant:
    case Operation::input: return x;
    case Operation::pi: return ScalarTraits<T>::pi();
    case Operation::negate: return -x;
    case Operation::add: return x + y;
    case Operation::subtract: return x - y;
    case Operation::multiply: return x * y;
    case Operation::divide: return x / y;
    case Operation::power: return pow(x, y);
    case Operation::sin: return sin(x);
    case Operation::cos: return cos(x);
    case Operation::tan: return tan(x);
    case Operation::asin: return asin(x);
    case Operation::acos: return acos(x);
    case Operation::atan: return atan(x);
    case Operation::sinh: return sinh(x);
    case Operation::cosh: return cosh(x);
    case Operation::tanh: return tanh(x);
    case Operation::exp: return exp(x);
    case Operation::log: return log(x);
    case Operation::log10: return log10(x);
    case Operation::sqrt: return sqrt(x);
    case Operation::atan2: return atan2(x, y);
    case Operation::abs: return ScalarTraits<T>::abs(x);
    case Operation::min: return ScalarTraits<T>::min(x, y);
    case Operation::max: return ScalarTraits<T>::max(x, y);
    case Operation::sign: return ScalarTraits<T>::sign(x);
    case Operation::table:  // only scalars that say so know tables
      if constexpr (requires { ScalarTraits<T>::table(x, y); })
        return ScalarTraits<T>::table(x, y);
      else
        DataTable::refuse();
    default: return ScalarTraits<T>::guard(x, y);
  }
  assert(false);
  return x;
}

/// Expressions as straight-line code: every line uses earlier lines only, equal lines are made once
/// (common subexpressions), the order is the order of making. Nothing is rounded or rearranged, so
/// the same tape serves every scalar type. Copies share their lines until one of them gets another.
class Tape {
 public:
  Tape() = default;
  /// Of these lines, which all differ and use earlier ones only.
  explicit Tape(std::vector<Instruction> lines) : lines_(std::make_shared<Lines>(std::move(lines))) {}
  Tape(const Tape& other) : lines_(other.lines_) {}
  Tape& operator=(const Tape& other) {
    if (this == &other) return *this;
    lines_ = other.lines_;
    slots_.clear();
    return *this;
  }
  Tape(Tape&&) noexcept = default;
  Tape& operator=(Tape&&) noexcept = default;
  ~Tape() = default;

  /// Each returns the line that holds the result, an old one where there is one.
  int constant(double value);
  int input(int index);
  int apply(Operation operation, int a = -1, int b = -1);

  /// Frees what finds lines again and storage for more of them: there will be no more, as far as one knows.
  void settle();

  [[nodiscard]] int size() const { return lines_ ? static_cast<int>(lines_->size()) : 0; }
  [[nodiscard]] const Instruction& operator[](int line) const {
    return (*lines_)[static_cast<std::size_t>(line)];
  }

  /// The lines that `outputs` need, as they are. `outputs` is rewritten to the lines of the result.
  [[nodiscard]] Tape part(std::span<int> outputs) const;

  /// Runs the tape: values[k] becomes the value of line k; `values` has at least size() entries,
  /// `inputs` as many as the largest index asks for. Does not allocate by itself.
  template <class T>
  void evaluate(std::span<const T> inputs, std::span<T> values) const;

  friend bool operator==(const Tape& a, const Tape& b) {
    return a.lines_ == b.lines_ || (a.size() == b.size() && (a.size() == 0 || *a.lines_ == *b.lines_));
  }

 private:
  using Lines = std::vector<Instruction>;
  /// Where a line is found again: an entry of a table with open addressing. The first entries that
  /// are tried lie next to those of lines with a like latest operand, which were made or asked for
  /// just before, the others anywhere.
  struct Slot {
    std::uint32_t hash = 0;
    int line = -1;  ///< -1: free
  };

  int line(const Instruction& instruction);
  [[nodiscard]] std::size_t place_of(const Instruction& instruction, std::uint32_t hash) const;
  void grow();
  Lines& own();

  std::shared_ptr<Lines> lines_;  // of all copies; none: there are no lines
  std::vector<Slot> slots_;  // of this tape alone: a power of two, at most half of them taken; made when a line is asked for
};

/// Which lines do the outputs need?
std::vector<bool> needed_lines(const Tape& tape, std::span<const int> outputs);

/// The part of `tape` that `outputs` need, with the first known.size() inputs replaced by their
/// values: whatever depends on them alone becomes one constant. Input number known.size() + k
/// becomes k. `outputs` is rewritten to the lines of the result.
Tape bind_inputs(const Tape& tape, std::span<const double> known, std::span<int> outputs);

/// The same for the inputs from number `first` on; the inputs before them keep their numbers.
Tape bind_inputs(const Tape& tape, int first, std::span<const double> known,
                 std::span<int> outputs);

template <class T>
void Tape::evaluate(std::span<const T> inputs, std::span<T> values) const {
  assert(std::ssize(values) >= size());
  const Instruction* lines = lines_ ? lines_->data() : nullptr;
  for (std::size_t k = 0, end = static_cast<std::size_t>(size()); k < end; ++k) {
    const Instruction& line = lines[k];
    switch (line.operation) {
      case Operation::constant: values[k] = T(line.value); break;
      case Operation::input: values[k] = inputs[static_cast<std::size_t>(line.a)]; break;
      case Operation::pi: values[k] = ScalarTraits<T>::pi(); break;
      default: {
        const T& x = values[static_cast<std::size_t>(line.a)];
        const T& y = line.b < 0 ? x : values[static_cast<std::size_t>(line.b)];
        values[k] = apply_operation(line.operation, x, y);
      }
    }
  }
}

}  // namespace perp
