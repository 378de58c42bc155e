#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/expression/dependent_lines.hpp>
#include <perp/core/system/function_derivatives.hpp>
#include <perp/core/system/sparse_lcs.hpp>

namespace perp {
namespace {

/// How a line holds the inputs other than time: not at all, by sums and products, by functions that have a
/// value everywhere, or else.
enum class Shape : std::uint8_t { free, polynomial, total, partial };

bool is_number(const Tape& tape, int line) { return tape[line].operation == Operation::constant; }

/// 0 times a value is 0, 0 times none is none.
bool is_multiplied_by_zero(const Tape& tape, const Instruction& product) {
  const auto is_zero = [&](int k) { return is_number(tape, k) && tape[k].value == 0; };
  return is_zero(product.a) || is_zero(product.b);
}

bool is_whole_power(const Tape& tape, const Instruction& power) {
  if (!is_number(tape, power.b)) return false;
  const double exponent = tape[power.b].value;
  return exponent >= 0 && exponent == std::floor(exponent);
}

/// Of an operation whose operands have the shapes a and b, one of which is not free.
Shape shape_of_operation(const Tape& tape, const Instruction& line, Shape a, Shape b) {
  switch (line.operation) {
    case Operation::multiply:
      return std::max(a, b) < Shape::partial && is_multiplied_by_zero(tape, line) ? Shape::free
                                                                                  : std::max(a, b);
    case Operation::negate:
    case Operation::add:
    case Operation::subtract: return std::max(a, b);
    case Operation::divide: return b == Shape::free ? a : Shape::partial;
    case Operation::power: return is_whole_power(tape, line) ? a : Shape::partial;
    case Operation::sin:
    case Operation::cos:
    case Operation::atan:
    case Operation::sinh:
    case Operation::cosh:
    case Operation::tanh:
    case Operation::exp: return std::max(a, Shape::total);
    default: return Shape::partial;
  }
}

Shape shape_of(const Tape& tape, const std::vector<Shape>& shapes, const Instruction& line) {
  if (line.operation == Operation::input)
    return line.a == Dcs::time_input() ? Shape::free : Shape::polynomial;
  const auto of = [&](int k) { return k < 0 ? Shape::free : shapes[static_cast<std::size_t>(k)]; };
  const Shape a = of(line.a), b = of(line.b);
  return std::max(a, b) == Shape::free ? Shape::free : shape_of_operation(tape, line, a, b);
}

/// Do F and G hold (ẋ, x, λ) by sums and products alone? Only then do constant derivatives say that they
/// are affine: that of atan2(x, 0) is 0, and log(x) - log(x) has a value for x > 0 alone.
bool is_polynomial(const BoundFunctions& functions) {
  const auto& [tape, lines] = functions;
  std::vector<Shape> shapes;
  shapes.reserve(static_cast<std::size_t>(tape.size()));
  for (int k = 0; k < tape.size(); ++k) shapes.push_back(shape_of(tape, shapes, tape[k]));
  return std::all_of(lines.begin(), lines.end(), [&](int line) {
    return shapes[static_cast<std::size_t>(line)] <= Shape::polynomial;
  });
}

/// The part of F and G that does not depend on (ẋ, x, λ), as a function of time.
Signal free_part(const Dcs& system, const std::vector<int>& rows, const std::vector<bool>& varies,
                 bool negated) {
  const std::vector<double> zero(static_cast<std::size_t>(2 * system.n() + system.m()), 0.0);
  std::vector<double> known = zero;
  known.insert(known.end(), system.parameters.begin(), system.parameters.end());
  std::vector<int> lines = rows;
  auto tape = std::make_shared<Tape>(bind_inputs(system.tape, 1, known, lines));
  std::vector<double> values(static_cast<std::size_t>(tape->size()));
  const double start = 0;
  tape->evaluate(std::span<const double>(&start, 1), std::span<double>(values));
  Vector constant(static_cast<Eigen::Index>(rows.size()));
  std::vector<int> varying, formulas;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double value = values[static_cast<std::size_t>(lines[i])];
    constant[static_cast<Eigen::Index>(i)] = (negated ? -value : value) + 0.0;
    if (!varies[static_cast<std::size_t>(i)]) continue;
    varying.push_back(static_cast<int>(i));
    formulas.push_back(negated ? tape->apply(Operation::negate, lines[i]) : lines[i]);
  }
  if (varying.empty()) return constant;
  return {constant, varying, std::shared_ptr<const Tape>(std::move(tape)), std::move(formulas)};
}

/// Of what does not change.
bool is_finite(const Signal& signal) {
  for (Eigen::Index i = 0; i < signal.constant().size(); ++i)
    if (!std::isfinite(signal.constant()[i]) &&
        !std::binary_search(signal.varying().begin(), signal.varying().end(), static_cast<int>(i)))
      return false;
  return true;
}

void check_inputs(const Dcs& system) {
  const int inputs = system.parameter_input(static_cast<int>(system.parameters.size()));
  for (int k = 0; k < system.tape.size(); ++k)
    if (system.tape[k].operation == Operation::input && system.tape[k].a >= inputs)
      throw InvalidInput(fmt::format("the tape uses input {} but there are only {}: t, {} times x "
                                     "and its derivative, {} multipliers, {} parameters",
                                     system.tape[k].a, inputs, system.n(), system.m(),
                                     system.parameters.size()));
}

void check_lines(const Dcs& system, const std::vector<int>& lines, const char* what) {
  for (const int line : lines)
    if (line < 0 || line >= system.tape.size())
      throw InvalidInput(
          fmt::format("{} uses line {} of a tape of {}", what, line, system.tape.size()));
}

void check_reset(const Dcs& system, const Reset& reset) {
  check_lines(system, {reset.condition}, "the condition of a reset");
  if (reset.variables.size() != reset.values.size())
    throw InvalidInput(fmt::format("reset {}: {} variables but {} values", reset.name,
                                   reset.variables.size(), reset.values.size()));
  check_lines(system, reset.values, "a value of a reset");
  for (const int j : reset.variables)
    if (j < 0 || j >= system.n())
      throw InvalidInput(fmt::format("reset {}: there is no variable {}", reset.name, j));
}

/// The entries of the matrices.
struct Entries {
  std::vector<linear::SparseMatrix::Placed> E, A, B, C, D;
};

/// Writes ∂(F, G)/∂(ẋ, x, λ) at (row, column) into its matrix. 0 = F reads E ẋ = A x + B λ + b with the
/// sign of the derivatives turned on the right side. False: G has a derivative of x.
bool put_derivative(const Dcs& system, int row, int column, double value, Entries& entries) {
  const int n = system.n();
  const bool in_F = row < n;
  if (column < system.variable_input(0)) {
    if (in_F) entries.E.push_back({row, column - system.derivative_input(0), value});
    return in_F;
  }
  const bool of_x = column < system.multiplier_input(0);
  const int j = column - (of_x ? system.variable_input(0) : system.multiplier_input(0));
  if (in_F)
    (of_x ? entries.A : entries.B).push_back({row, j, -value});
  else
    (of_x ? entries.C : entries.D).push_back({row - n, j, value});
  return true;
}

/// The matrices of F and G from their constant derivatives; b and q are left out. None where a derivative
/// is not finite, or G has a derivative of x.
std::optional<SparseLcs> matrices_of(const Dcs& system, const std::vector<FunctionDerivative>& derivatives) {
  const int n = system.n(), m = system.m();
  Entries entries;
  for (const auto& [row, column, is_number, value] : derivatives) {
    if (column == Dcs::time_input()) continue;
    if (!std::isfinite(value)) return std::nullopt;
    if (!put_derivative(system, row, column, value, entries)) return std::nullopt;
  }
  return SparseLcs{.E = {n, n, entries.E},
                   .A = {n, n, entries.A},
                   .B = {n, m, entries.B},
                   .b = {},
                   .C = {m, n, entries.C},
                   .D = {m, m, entries.D},
                   .q = {},
                   .laws = system.laws};
}

/// Do only derivatives by time change?
bool are_constant(const std::vector<FunctionDerivative>& derivatives) {
  return std::ranges::all_of(derivatives, [](const FunctionDerivative& each) {
    return each.is_number || each.column == Dcs::time_input();
  });
}

}  // namespace

void validate(const Dcs& system) {
  const int m = system.m();
  if (static_cast<int>(system.G.size()) != m)
    throw InvalidInput(
        fmt::format("G must have {} entries, one for each law, but has {}", m, system.G.size()));
  check_inputs(system);
  check_lines(system, system.F, "F");
  check_lines(system, system.G, "G");
  for (const double value : system.parameters)
    if (!std::isfinite(value))
      throw InvalidInput(fmt::format("parameters must be finite but one is {}", value));
  for (const Law& law : system.laws) validate(law);
  for (const Reset& reset : system.resets) check_reset(system, reset);
}

std::optional<Lcs> as_lcs(const Dcs& system) {
  const std::optional<SparseLcs> lcs = as_sparse_lcs(system);
  return lcs ? std::optional(dense(*lcs)) : std::nullopt;
}

std::optional<Lcs> as_full_lcs(const Dcs& system) {
  return system.n() + system.m() <= most_full_unknowns ? as_lcs(system) : std::nullopt;
}

std::optional<SparseLcs> as_sparse_lcs(const Dcs& system) {
  if (!system.resets.empty()) return std::nullopt;
  BoundFunctions functions = bound_functions(system);
  if (!is_polynomial(functions)) return std::nullopt;
  validate(system);
  const std::vector<FunctionDerivative> derivatives = derivatives_at_zero(system, std::move(functions));
  if (!are_constant(derivatives)) return std::nullopt;
  std::optional<SparseLcs> lcs = matrices_of(system, derivatives);
  if (!lcs) return std::nullopt;
  const std::vector<char> with_time = dependent_lines(system.tape, 0, 1);
  const auto varies = [&](const std::vector<int>& lines) {
    std::vector<bool> list;
    for (const int line : lines) list.push_back(with_time[static_cast<std::size_t>(line)] != 0);
    return list;
  };
  lcs->b = free_part(system, system.F, varies(system.F), true);
  lcs->q = free_part(system, system.G, varies(system.G), false);
  if (!is_finite(lcs->b) || !is_finite(lcs->q)) return std::nullopt;  // 1/(0 x)
  return lcs;
}

}  // namespace perp
