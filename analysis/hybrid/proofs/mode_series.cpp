#include <algorithm>
#include <array>
#include <cmath>

#include <perp/analysis/hybrid/proofs/mode_series.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/polynomial.hpp>

namespace perp {
namespace {

constexpr double most_power = 16;

/// How far a pivot is from 0, in units of its error, which has the unit of the row.
double margin(const RunningError& a) {
  if (decided_sign(a) == 0) return 0;
  return a.error == 0 ? inf : std::abs(a.value) / a.error;
}
double margin(const Rational& a) { return a.sign() == 0 ? 0 : 1; }

bool is_plain_zero(const RunningError& a) { return a.value == 0 && a.error == 0; }
bool is_plain_zero(const Rational& a) { return a.sign() == 0; }

std::optional<RunningError> pi_of(const RunningError& /*kind*/) { return ScalarTraits<RunningError>::pi(); }
std::optional<Rational> pi_of(const Rational& /*kind*/) { return std::nullopt; }

template <class Number>
class LinearSystem {
 public:
  LinearSystem(std::vector<Number> A, std::vector<Number>& b)
      : A_(std::move(A)), b_(b), n_(b.size()) {}

  /// A u = b by elimination with bounds, u in the place of b; false where a pivot is not told from 0.
  bool solve() {
    for (std::size_t c = 0; c < n_; ++c) {
      if (!bring_pivot(c)) return false;
      for (std::size_t row = 0; row < n_; ++row)
        if (row != c) eliminate(row, c);
    }
    for (std::size_t c = 0; c < n_; ++c) b_[c] = b_[c] / entry(c, c);
    return true;
  }

 private:
  Number& entry(std::size_t i, std::size_t k) { return A_[i * n_ + k]; }

  bool bring_pivot(std::size_t c) {
    std::size_t pivot = c;
    for (std::size_t row = c; row < n_; ++row)
      if (margin(entry(row, c)) > margin(entry(pivot, c))) pivot = row;
    if (margin(entry(pivot, c)) == 0) return false;
    for (std::size_t k = 0; k < n_; ++k) std::swap(entry(c, k), entry(pivot, k));
    std::swap(b_[c], b_[pivot]);
    return true;
  }

  void eliminate(std::size_t row, std::size_t c) {
    if (is_plain_zero(entry(row, c))) return;
    const Number factor = entry(row, c) / entry(c, c);
    for (std::size_t k = c + 1; k < n_; ++k) entry(row, k) = entry(row, k) - factor * entry(c, k);
    b_[row] = b_[row] - factor * b_[c];
    entry(row, c) = Number();
  }

  std::vector<Number> A_;
  std::vector<Number>& b_;
  std::size_t n_;
};

/// The line of a derivative, -1: it is 0 by its form.
int slope_line(Tape& tape, int row, int input) {
  const std::vector<int> output{row};
  const std::vector<Derivative> slopes = differentiate(tape, output, input, input + 1);
  return slopes.empty() ? -1 : slopes.front().line;
}

/// a^b for a natural number b; none for another one.
template <class Number>
std::optional<ModeTaylor<Number>> power(const ModeTaylor<Number>& a, const Instruction& exponent) {
  const bool is_natural = exponent.operation == Operation::constant && exponent.value >= 1 &&
                          exponent.value <= most_power &&
                          exponent.value == std::floor(exponent.value);
  if (!is_natural) return std::nullopt;
  ModeTaylor<Number> result = a;
  for (int i = 1; i < static_cast<int>(exponent.value); ++i) result = result * a;
  return result;
}

/// y y = a, a > 0.
std::optional<ModeTaylor<RunningError>> root_of(const ModeTaylor<RunningError>& a) {
  if (decided_sign(a[0]) <= 0) return std::nullopt;
  ModeTaylor<RunningError> y(sqrt(a[0]));
  for (int k = 1; k < mode_orders; ++k) {
    RunningError rest = a[k];
    for (int j = 1; j < k; ++j) rest = rest - y[j] * y[k - j];
    y[k] = rest / (RunningError(2) * y[0]);
  }
  return y;
}

/// Functions of series with bounds; arcs, choices, data and powers that are no natural ones have none here.
std::optional<ModeTaylor<RunningError>> function_of(Operation operation, const ModeTaylor<RunningError>& a) {
  using Series = ModeTaylor<RunningError>;
  struct Function {
    Operation operation;
    Series (*value)(const Series&);
  };
  constexpr std::array functions{Function{Operation::sin, [](const Series& x) { return sin(x); }},
                                 Function{Operation::cos, [](const Series& x) { return cos(x); }},
                                 Function{Operation::tan, [](const Series& x) { return tan(x); }},
                                 Function{Operation::atan, [](const Series& x) { return atan(x); }},
                                 Function{Operation::sinh, [](const Series& x) { return sinh(x); }},
                                 Function{Operation::cosh, [](const Series& x) { return cosh(x); }},
                                 Function{Operation::tanh, [](const Series& x) { return tanh(x); }},
                                 Function{Operation::exp, [](const Series& x) { return exp(x); }},
                                 Function{Operation::log, [](const Series& x) { return log(x); }},
                                 Function{Operation::log10, [](const Series& x) { return log10(x); }}};
  if (operation == Operation::sqrt) return root_of(a);
  for (const Function& function : functions)
    if (function.operation == operation) return function.value(a);
  return std::nullopt;
}
/// Nor are they rational.
std::optional<ModeTaylor<Rational>> function_of(Operation /*operation*/, const ModeTaylor<Rational>& /*a*/) {
  return std::nullopt;
}

/// One of the operations that polynomials and fractions are made of, or a function; none for another one.
template <class Number, class Values>
std::optional<ModeTaylor<Number>> applied(const Tape& tape, const Instruction& line,
                                          const Values& value_of) {
  const ModeTaylor<Number> none;
  const ModeTaylor<Number>& a = line.a < 0 ? none : value_of(line.a);
  const ModeTaylor<Number>& b = line.b < 0 ? none : value_of(line.b);
  switch (line.operation) {
    case Operation::negate: return -a;
    case Operation::add: return a + b;
    case Operation::subtract: return a - b;
    case Operation::multiply: return a * b;
    case Operation::divide:
      if (may_be_zero(b[0])) return std::nullopt;
      return a / b;
    case Operation::power: return power<Number>(a, tape[line.b]);
    default: return function_of(line.operation, a);
  }
}

/// Of a constant or π; none: no number of this kind.
template <class Number>
std::optional<Number> leaf(const Instruction& line) {
  if (line.operation == Operation::pi) return pi_of(Number());
  if (!std::isfinite(line.value)) return std::nullopt;
  return Number(line.value);
}

}  // namespace

template <class Number>
std::optional<ModeTaylor<Number>> series_value(const Tape& tape, int line,
                                               const std::vector<ModeTaylor<Number>>& inputs) {
  const std::vector<int> lines = lines_below(tape, line);
  std::vector<ModeTaylor<Number>> values;  // of these
  values.reserve(lines.size());
  const auto value_of = [&](int k) -> const ModeTaylor<Number>& {
    return values[at(std::lower_bound(lines.begin(), lines.end(), k) - lines.begin())];
  };
  for (const int k : lines) {
    const Instruction& here = tape[k];
    if (here.operation == Operation::constant || here.operation == Operation::pi) {
      const std::optional<Number> value = leaf<Number>(here);
      if (!value) return std::nullopt;
      values.emplace_back(*value);
    } else if (here.operation == Operation::input) {
      values.push_back(inputs[at(here.a)]);
    } else {
      std::optional<ModeTaylor<Number>> value = applied<Number>(tape, here, value_of);
      if (!value) return std::nullopt;
      values.push_back(*std::move(value));
    }
  }
  return values.back();
}

template std::optional<ModeTaylor<RunningError>> series_value(const Tape&, int,
                                                              const std::vector<ModeTaylor<RunningError>>&);
template std::optional<ModeTaylor<Rational>> series_value(const Tape&, int, const std::vector<ModeTaylor<Rational>>&);

namespace {

void read_slopes(Tape& tape, ModeBlocks::Block& block) {
  for (const int row : block.rows) {
    const int degree = degree_in(tape, row, block.inputs);
    block.is_affine = block.is_affine && degree >= 0 && degree <= 1;
    for (const int input : block.inputs) block.slopes.push_back(slope_line(tape, row, input));
  }
}

}  // namespace

ModeBlocks mode_blocks(const HybridModel& model, const HybridStructure& structure, Tape& tape,
                       const std::vector<int>& equations) {
  ModeBlocks result;
  for (const SubProblem& given : structure.blocks) {
    ModeBlocks::Block block;
    for (const int unknown : given.unknowns)
      if (unknown < model.n())
        block.inputs.push_back(structure.is_state[at(unknown)]
                                   ? HybridModel::derivative_input(unknown)
                                   : model.variable_input(unknown));
    for (const int row : given.rows)
      if (row < static_cast<int>(model.f.size())) block.rows.push_back(equations[at(row)]);
    result.is_square = result.is_square && block.rows.size() == block.inputs.size();
    read_slopes(tape, block);
    result.blocks.push_back(std::move(block));
  }
  return result;
}

template <class Number>
BlockSeries<Number>::BlockSeries(const HybridModel& model, const HybridStructure& structure,
                                 const Tape& tape, const ModeBlocks& blocks,
                                 const std::vector<Number>& inputs)
    : model_(model),
      tape_(tape),
      blocks_(blocks),
      series_(inputs.size()),
      is_determined_(blocks.is_square) {
  series_[0][0] = inputs[0];
  series_[0][1] = Number(1);
  for (int j = 0; j < model.n(); ++j)
    if (structure.is_state[at(j)])
      series_[at(model.variable_input(j))][0] = inputs[at(model.variable_input(j))];
}

template <class Number>
void BlockSeries<Number>::put(int input, int order, const Number& value) {
  series_[at(input)][order] = value;
  if (input >= model_.variable_input(0) || order + 1 >= mode_orders) return;
  const int j = input - HybridModel::derivative_input(0);
  series_[at(model_.variable_input(j))][order + 1] = value / Number(order + 1);
}

template <class Number>
std::optional<std::vector<Number>> BlockSeries<Number>::rests_of(const Block& block,
                                                               int order) const {
  std::vector<Number> rests;
  for (const int row : block.rows) {
    const auto value = series_value<Number>(tape_, row, series_);
    if (!value) return std::nullopt;
    rests.push_back(-(*value)[order]);
  }
  return rests;
}

template <class Number>
std::optional<std::vector<Number>> BlockSeries<Number>::slopes_of(const Block& block) const {
  std::vector<Number> slopes;
  for (const int line : block.slopes) {
    const auto slope = line < 0 ? ModeTaylor<Number>() : series_value<Number>(tape_, line, series_);
    if (!slope) return std::nullopt;
    slopes.push_back((*slope)[0]);
  }
  return slopes;
}

/// `value`: what the linear equations give, of a root the distance from a point near it. None: it has no bound, or
/// is no rational number.
template <>
std::optional<RunningError> BlockSeries<RunningError>::solved(const RunningError& value, double near, bool is_root) {
  const RunningError result =
      is_root ? RunningError(near, 2 * (std::abs(value.value) + value.error)) : value;
  return std::isfinite(result.error) ? std::optional(result) : std::nullopt;
}

template <>
std::optional<Rational> BlockSeries<Rational>::solved(const Rational& value, double near, bool is_root) {
  if (!is_root) return value;
  return value.sign() == 0 ? std::optional<Rational>(near) : std::nullopt;
}

/// The coefficients of this order are given by affine equations; those of order 0 of several unknowns
/// that multiply each other lie within 2 |J^-1| |F| of a point near them.
template <class Number>
bool BlockSeries<Number>::solve_block(const Block& block, int order, const std::vector<double>& near) {
  const bool is_root = order == 0 && !block.is_affine;
  for (std::size_t k = 0; k < block.inputs.size(); ++k)
    put(block.inputs[k], order, Number(is_root ? near[k] : 0.0));
  std::optional<std::vector<Number>> rests = rests_of(block, order);
  const std::optional<std::vector<Number>> slopes = slopes_of(block);
  if (!rests || !slopes || !LinearSystem<Number>(*slopes, *rests).solve()) return false;
  for (std::size_t k = 0; k < rests->size(); ++k) {
    const std::optional<Number> value = solved((*rests)[k], near[k], is_root);
    if (!value) return false;
    put(block.inputs[k], order, *value);
  }
  return true;
}

template <class Number>
bool BlockSeries<Number>::solve(const Vector& x, const Vector& rates, int orders) {
  for (; is_determined_ && solved_ < orders; ++solved_)
    for (const Block& block : blocks_.blocks) {
      std::vector<double> near;
      for (const int input : block.inputs)
        near.push_back(input < model_.variable_input(0)
                           ? rates[input - HybridModel::derivative_input(0)]
                           : x[input - model_.variable_input(0)]);
      if (!solve_block(block, solved_, near)) return is_determined_ = false;
    }
  return is_determined_;
}

template class BlockSeries<RunningError>;
template class BlockSeries<Rational>;

}  // namespace perp
