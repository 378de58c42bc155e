#include <algorithm>
#include <cmath>

#include <perp/analysis/hybrid/proofs/mode_series.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/polynomial.hpp>

namespace perp {
namespace {

constexpr int orders = 4;
constexpr double most_power = 16;

class LinearSystem {
 public:
  LinearSystem(std::vector<RunningError> A, std::vector<RunningError>& b)
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
  RunningError& entry(std::size_t i, std::size_t k) { return A_[i * n_ + k]; }

  /// In units of its error, which has the unit of the row.
  static double margin(const RunningError& a) {
    if (decided_sign(a) == 0) return 0;
    return a.error == 0 ? inf : std::abs(a.value) / a.error;
  }

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
    if (entry(row, c).value == 0 && entry(row, c).error == 0) return;
    const RunningError factor = entry(row, c) / entry(c, c);
    for (std::size_t k = c + 1; k < n_; ++k) entry(row, k) = entry(row, k) - factor * entry(c, k);
    b_[row] = b_[row] - factor * b_[c];
    entry(row, c) = RunningError();
  }

  std::vector<RunningError> A_;
  std::vector<RunningError>& b_;
  std::size_t n_;
};

/// The line of a derivative, -1: it is 0 by its form.
int slope_line(Tape& tape, int row, int input) {
  const std::vector<int> output{row};
  const std::vector<Derivative> slopes = differentiate(tape, output, input, input + 1);
  return slopes.empty() ? -1 : slopes.front().line;
}

/// a^b for a natural number b; none for another one.
std::optional<SeriesOfNumbers> power(const SeriesOfNumbers& a, const Instruction& exponent) {
  const bool is_natural = exponent.operation == Operation::constant && exponent.value >= 1 &&
                          exponent.value <= most_power &&
                          exponent.value == std::floor(exponent.value);
  if (!is_natural) return std::nullopt;
  SeriesOfNumbers result = a;
  for (int i = 1; i < static_cast<int>(exponent.value); ++i) result = result * a;
  return result;
}

/// One of the operations that polynomials and fractions are made of; none for another one.
std::optional<SeriesOfNumbers> applied(const Tape& tape, const Instruction& line,
                                       const std::vector<SeriesOfNumbers>& values) {
  const SeriesOfNumbers none;
  const SeriesOfNumbers& a = line.a < 0 ? none : values[at(line.a)];
  const SeriesOfNumbers& b = line.b < 0 ? none : values[at(line.b)];
  switch (line.operation) {
    case Operation::negate: return -a;
    case Operation::add: return a + b;
    case Operation::subtract: return a - b;
    case Operation::multiply: return a * b;
    case Operation::divide: return a / b;
    case Operation::power: return power(a, tape[line.b]);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<SeriesOfNumbers> series_value(const Tape& tape, int line,
                                            const std::vector<SeriesOfNumbers>& inputs) {
  std::vector<SeriesOfNumbers> values(at(line + 1));
  for (const int k : lines_below(tape, line)) {
    const Instruction& here = tape[k];
    if (here.operation == Operation::constant) {
      values[at(k)] = SeriesOfNumbers(RunningError(here.value));
    } else if (here.operation == Operation::pi) {
      values[at(k)] = SeriesOfNumbers(ScalarTraits<RunningError>::pi());
    } else if (here.operation == Operation::input) {
      values[at(k)] = inputs[at(here.a)];
    } else {
      const std::optional<SeriesOfNumbers> value = applied(tape, here, values);
      if (!value) return std::nullopt;
      values[at(k)] = *value;
    }
  }
  return values[at(line)];
}

BlockSeries::BlockSeries(const HybridModel& model, const HybridStructure& structure, Tape& tape,
                         const std::vector<int>& equations,
                         const std::vector<RunningError>& inputs)
    : model_(model), tape_(tape), series_(inputs.size()) {
  series_[0][0] = inputs[0];
  series_[0][1] = RunningError(1);
  for (int j = 0; j < model.n(); ++j)
    if (structure.is_state[at(j)])
      series_[at(model.variable_input(j))][0] = inputs[at(model.variable_input(j))];
  for (const SubProblem& given : structure.blocks) read_block(structure, given, equations);
}

void BlockSeries::read_block(const HybridStructure& structure, const SubProblem& given,
                             const std::vector<int>& equations) {
  Block block;
  for (const int unknown : given.unknowns)
    if (unknown < model_.n())
      block.inputs.push_back(structure.is_state[at(unknown)]
                                 ? HybridModel::derivative_input(unknown)
                                 : model_.variable_input(unknown));
  for (const int row : given.rows)
    if (row < static_cast<int>(model_.f.size())) block.rows.push_back(equations[at(row)]);
  is_square_ = is_square_ && block.rows.size() == block.inputs.size();
  read_slopes(block);
  blocks_.push_back(std::move(block));
}

void BlockSeries::read_slopes(Block& block) {
  for (const int row : block.rows) {
    const int degree = degree_in(tape_, row, block.inputs);
    block.is_affine = block.is_affine && degree >= 0 && degree <= 1;
    for (const int input : block.inputs) block.slopes.push_back(slope_line(tape_, row, input));
  }
}

void BlockSeries::put(int input, int order, const RunningError& value) {
  series_[at(input)][order] = value;
  if (input >= model_.variable_input(0) || order + 1 >= orders) return;
  const int j = input - HybridModel::derivative_input(0);
  series_[at(model_.variable_input(j))][order + 1] = value / RunningError(order + 1);
}

std::optional<std::vector<RunningError>> BlockSeries::rests_of(const Block& block,
                                                               int order) const {
  std::vector<RunningError> rests;
  for (const int row : block.rows) {
    const auto value = series_value(tape_, row, series_);
    if (!value) return std::nullopt;
    rests.push_back(-(*value)[order]);
  }
  return rests;
}

std::optional<std::vector<RunningError>> BlockSeries::slopes_of(const Block& block) const {
  std::vector<RunningError> slopes;
  for (const int line : block.slopes) {
    const auto slope = line < 0 ? SeriesOfNumbers() : series_value(tape_, line, series_);
    if (!slope) return std::nullopt;
    slopes.push_back((*slope)[0]);
  }
  return slopes;
}

/// The coefficients of this order are given by affine equations; those of order 0 of several unknowns
/// that multiply each other lie within 2 |J^-1| |F| of a point near them.
bool BlockSeries::solve_block(const Block& block, int order, const std::vector<double>& near) {
  const bool is_root = order == 0 && !block.is_affine;
  for (std::size_t k = 0; k < block.inputs.size(); ++k)
    put(block.inputs[k], order, RunningError(is_root ? near[k] : 0));
  std::optional<std::vector<RunningError>> rests = rests_of(block, order);
  const std::optional<std::vector<RunningError>> slopes = slopes_of(block);
  if (!rests || !slopes || !LinearSystem(*slopes, *rests).solve()) return false;
  std::vector<RunningError>& rest = *rests;
  for (std::size_t k = 0; k < rest.size(); ++k) {
    if (is_root)
      rest[k] = RunningError(near[k], 2 * (std::abs(rest[k].value) + rest[k].error));
    if (!std::isfinite(rest[k].error)) return false;
    put(block.inputs[k], order, rest[k]);
  }
  return true;
}

bool BlockSeries::solve(const Vector& x, const Vector& rates) {
  if (!is_square_) return false;
  for (int order = 0; order < orders; ++order)
    for (const Block& block : blocks_) {
      std::vector<double> near;
      for (const int input : block.inputs)
        near.push_back(input < model_.variable_input(0)
                           ? rates[input - HybridModel::derivative_input(0)]
                           : x[input - model_.variable_input(0)]);
      if (!solve_block(block, order, near)) return false;
    }
  return true;
}

}  // namespace perp
