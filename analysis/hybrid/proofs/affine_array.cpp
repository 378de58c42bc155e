#include <algorithm>

#include <perp/analysis/hybrid/proofs/affine_array.hpp>
#include <perp/analysis/hybrid/proofs/mode_series.hpp>
#include <perp/core/interval/rational_tape.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/polynomial.hpp>

namespace perp {
namespace {

template <class Number>
Number number_of(const Rational& value);
template <>
RunningError number_of(const Rational& value) {
  const double nearest = to_double(value);
  return RunningError(nearest, Rational(nearest) == value ? 0 : half_ulp(nearest));
}
template <>
Rational number_of(const Rational& value) {
  return value;
}

std::vector<RunningError> with_bounds(const std::vector<RunningError>& inputs) { return inputs; }
std::vector<RunningError> with_bounds(const std::vector<Rational>& inputs) {
  std::vector<RunningError> list;
  for (const Rational& input : inputs) list.emplace_back(to_double(input));
  return list;
}

template <class Number>
void subtract(AffineRow<Number>& row, const AffineRow<Number>& other, const Rational& factor) {
  if (factor == 0) return;
  const Rational times = factor;  // not an entry of the row that changes
  for (std::size_t c = 0; c < row.a.size(); ++c) row.a[c] -= times * other.a[c];
  row.rest = row.rest - number_of<Number>(times) * other.rest;
}

bool has_inputs(const Tape& tape, int line) {
  const std::vector<int> lines = lines_below(tape, line);
  return std::any_of(lines.begin(), lines.end(),
                     [&](int k) { return tape[k].operation == Operation::input; });
}

}  // namespace

template <class Number>
AffineArray<Number>::AffineArray(const HybridModel& model, const HybridStructure& structure, Tape tape,
                         const std::vector<int>& equations, const std::vector<int>& constraints,
                         const std::vector<Number>& inputs)
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

template <class Number>
bool AffineArray<Number>::read_slopes(const std::vector<Number>& inputs) {
  slopes_.resize(outputs_.size());
  const std::vector<Derivative> all =
      differentiate(tape_, outputs_, 1, model_.parameter_input(0));
  RationalTape numbers(tape_, with_bounds(inputs));
  for (const Derivative& one : all) {
    if (has_inputs(tape_, one.line)) return false;
    const std::optional<Rational> value = numbers.value(one.line);
    if (!value || !numbers.is_exact) return false;
    slopes_[at(one.output)][one.input] = *value;
  }
  return true;
}

/// The outputs where all signals are 0, as functions of time.
template <class Number>
bool AffineArray<Number>::read_rests(const std::vector<Number>& inputs) {
  std::vector<ModeTaylor<Number>> of_time(inputs.size());
  of_time[0][0] = inputs[0];
  of_time[0][1] = Number(1);
  for (const int line : outputs_) {
    const auto series = series_value<Number>(tape_, line, of_time);
    if (!series) return false;
    std::vector<Number> rest;
    for (int k = 0; k < orders; ++k) rest.push_back((*series)[k]);
    rests_.push_back(std::move(rest));
  }
  return true;
}

/// Columns: x of orders 1 to 4, algebraic variables and binaries of orders 0 to 3.
template <class Number>
std::size_t AffineArray<Number>::column(int variable, int order) const {
  return at(variable * orders + order);
}

template <class Number>
AffineRow<Number> AffineArray<Number>::empty_row() const {
  return {std::vector<Rational>(at((model_.n() + model_.q()) * orders)), {}};
}

template <class Number>
void AffineArray<Number>::add_slope(int input, const Rational& slope, int k, Row& row) const {
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
    row.rest = row.rest + number_of<Number>(slope) * inputs_[at(input)];
  else
    row.a[column(variable, k - 1)] += slope;
}

template <class Number>
AffineRow<Number> AffineArray<Number>::row_of(int output, int k) const {
  Row row = empty_row();
  row.rest = rests_[at(output)][at(k)];
  for (const auto& [input, slope] : slopes_[at(output)]) add_slope(input, slope, k, row);
  return row;
}

template <class Number>
void AffineArray<Number>::reduce(Row& row) const {
  for (const auto& [pivot, other] : rows_) subtract(row, other, row.a[pivot]);
}

/// False: the row contradicts those before.
template <class Number>
bool AffineArray<Number>::add(Row row) {
  reduce(row);
  std::size_t pivot = 0;
  while (pivot < row.a.size() && row.a[pivot] == 0) ++pivot;
  if (pivot == row.a.size()) return may_be_zero(row.rest);
  const Rational scale = Rational(1) / row.a[pivot];
  for (Rational& entry : row.a) entry *= scale;
  row.rest = row.rest * number_of<Number>(scale);
  for (auto& [column, other] : rows_) subtract(other, row, other.a[pivot]);
  rows_.emplace(pivot, std::move(row));
  return true;
}

template <class Number>
std::optional<Number> AffineArray<Number>::value(Row row) const {
  reduce(row);
  for (const Rational& entry : row.a)
    if (!(entry == 0)) return std::nullopt;
  return row.rest;
}

template <class Number>
std::optional<Number> AffineArray<Number>::constraint(int l, int k) const {
  return value(row_of(static_cast<int>(equations_) + l, k));
}

template <class Number>
std::optional<Number> AffineArray<Number>::beyond_end(int binary, int end, int k) const {
  Row row = empty_row();
  row.a[column(model_.n() + binary, k)] = end == 0 ? -1 : 1;
  row.rest = Number(k == 0 && end == 1 ? -1 : 0);
  return value(std::move(row));
}

template <class Number>
std::optional<Number> AffineArray<Number>::rate(int j) const {
  Row row = empty_row();
  row.a[column(j, 0)] = 1;
  return value(std::move(row));
}

template class AffineArray<RunningError>;
template class AffineArray<Rational>;

}  // namespace perp
