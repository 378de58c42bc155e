#include <algorithm>

#include <perp/analysis/hybrid/proofs/affine_array.hpp>
#include <perp/analysis/hybrid/proofs/mode_series.hpp>
#include <perp/analysis/hybrid/roots/rational_tape.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/polynomial.hpp>

namespace perp {
namespace {

RunningError rounded(const Rational& value) {
  const double nearest = to_double(value);
  return RunningError(nearest, Rational(nearest) == value ? 0 : half_ulp(nearest));
}

void subtract(AffineRow& row, const AffineRow& other, const Rational& factor) {
  if (factor == 0) return;
  const Rational times = factor;  // not an entry of the row that changes
  for (std::size_t c = 0; c < row.a.size(); ++c) row.a[c] -= times * other.a[c];
  row.rest = row.rest - rounded(times) * other.rest;
}

bool has_inputs(const Tape& tape, int line) {
  const std::vector<int> lines = lines_below(tape, line);
  return std::any_of(lines.begin(), lines.end(),
                     [&](int k) { return tape[k].operation == Operation::input; });
}

}  // namespace

AffineArray::AffineArray(const HybridModel& model, const HybridStructure& structure, Tape tape,
                         const std::vector<int>& equations, const std::vector<int>& constraints,
                         const std::vector<RunningError>& inputs)
    : model_(model),
      structure_(structure),
      tape_(std::move(tape)),
      outputs_(equations),
      equations_(equations.size()),
      inputs_(inputs) {
  outputs_.insert(outputs_.end(), constraints.begin(), constraints.end());
  is_affine_ = read_slopes(inputs) && read_rests(inputs);
  for (int k = 0; is_affine_ && k < orders; ++k)
    for (std::size_t output = 0; output < equations_; ++output)
      has_contradiction_ = !add(row_of(static_cast<int>(output), k)) || has_contradiction_;
}

bool AffineArray::read_slopes(const std::vector<RunningError>& inputs) {
  slopes_.resize(outputs_.size());
  const std::vector<Derivative> all =
      differentiate(tape_, outputs_, 1, model_.parameter_input(0));
  RationalTape numbers(tape_, inputs);
  for (const Derivative& one : all) {
    if (has_inputs(tape_, one.line)) return false;
    const std::optional<Rational> value = numbers.value(one.line);
    if (!value || !numbers.is_exact) return false;
    slopes_[at(one.output)][one.input] = *value;
  }
  return true;
}

/// The outputs where all signals are 0, as functions of time.
bool AffineArray::read_rests(const std::vector<RunningError>& inputs) {
  std::vector<SeriesOfNumbers> of_time(inputs.size());
  of_time[0][0] = inputs[0];
  of_time[0][1] = RunningError(1);
  for (const int line : outputs_) {
    const auto series = series_value(tape_, line, of_time);
    if (!series) return false;
    std::vector<RunningError> rest;
    for (int k = 0; k < orders; ++k) rest.push_back((*series)[k]);
    rests_.push_back(std::move(rest));
  }
  return true;
}

/// Columns: x of orders 1 to 4, algebraic variables and binaries of orders 0 to 3.
std::size_t AffineArray::column(int variable, int order) const {
  return at(variable * orders + order);
}

AffineRow AffineArray::empty_row() const {
  return {std::vector<Rational>(at((model_.n() + model_.q()) * orders)), {}};
}

void AffineArray::add_slope(int input, const Rational& slope, int k, AffineRow& row) const {
  if (input < model_.variable_input(0)) {
    row.a[column(input - HybridModel::derivative_input(0), k)] +=
        Rational(static_cast<long>(k + 1)) * slope;
    return;
  }
  const int variable = input - model_.variable_input(0);
  const bool is_state = variable < model_.n() && structure_.is_state[at(variable)] != 0;
  if (!is_state)
    row.a[column(variable, k)] += slope;
  else if (k == 0)
    row.rest = row.rest + rounded(slope) * inputs_[at(input)];
  else
    row.a[column(variable, k - 1)] += slope;
}

AffineRow AffineArray::row_of(int output, int k) const {
  AffineRow row = empty_row();
  row.rest = rests_[at(output)][at(k)];
  for (const auto& [input, slope] : slopes_[at(output)]) add_slope(input, slope, k, row);
  return row;
}

void AffineArray::reduce(AffineRow& row) const {
  for (const auto& [pivot, other] : rows_) subtract(row, other, row.a[pivot]);
}

/// False: the row contradicts those before.
bool AffineArray::add(AffineRow row) {
  reduce(row);
  std::size_t pivot = 0;
  while (pivot < row.a.size() && row.a[pivot] == 0) ++pivot;
  if (pivot == row.a.size()) return decided_sign(row.rest) == 0;
  const Rational scale = Rational(1) / row.a[pivot];
  for (Rational& entry : row.a) entry *= scale;
  row.rest = row.rest * rounded(scale);
  for (auto& [column, other] : rows_) subtract(other, row, other.a[pivot]);
  rows_.emplace(pivot, std::move(row));
  return true;
}

std::optional<RunningError> AffineArray::value(AffineRow row) const {
  reduce(row);
  for (const Rational& entry : row.a)
    if (!(entry == 0)) return std::nullopt;
  return row.rest;
}

std::optional<RunningError> AffineArray::constraint(int l, int k) const {
  return value(row_of(static_cast<int>(equations_) + l, k));
}

std::optional<RunningError> AffineArray::beyond_end(int binary, int end, int k) const {
  AffineRow row = empty_row();
  row.a[column(model_.n() + binary, k)] = end == 0 ? -1 : 1;
  row.rest = RunningError(k == 0 && end == 1 ? -1 : 0);
  return value(std::move(row));
}

}  // namespace perp
