#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/tape/taylor.hpp>
#include <perp/schemes/located/jets/derivative_array.hpp>

namespace perp {

/// A tape run on series with a number of coefficients that is known at run time.
struct DerivativeArray::Series {
  virtual ~Series() = default;
  /// `inputs` and `outputs`: the coefficients of one series after the other.
  virtual void run(const std::vector<double>& inputs, std::vector<double>& outputs) = 0;
};

template <int N>
struct DerivativeArray::SeriesOf final : Series {
  SeriesOf(Tape tape, std::vector<int> outputs, std::size_t inputs)
      : tape_(std::move(tape)),
        lines_(std::move(outputs)),
        inputs_(inputs),
        values_(static_cast<std::size_t>(tape_.size())) {}

  void run(const std::vector<double>& inputs, std::vector<double>& outputs) override {
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      std::copy_n(&inputs[i * N], N, inputs_[i].coefficient.begin());
    tape_.evaluate(std::span<const Taylor<double, N>>(inputs_), std::span(values_));
    for (std::size_t k = 0; k < lines_.size(); ++k)
      std::copy_n(values_[static_cast<std::size_t>(lines_[k])].coefficient.begin(), N,
                  &outputs[k * N]);
  }

 private:
  Tape tape_;
  std::vector<int> lines_;
  std::vector<Taylor<double, N>> inputs_, values_;
};

/// For levels + 1 coefficients, N or more.
template <int N>
std::unique_ptr<DerivativeArray::Series> DerivativeArray::make_series(int levels, Tape tape,
                                                                      std::vector<int> outputs,
                                                                      std::size_t inputs) {
  if constexpr (N < most_levels + 1)
    if (levels + 1 > N) return make_series<N + 1>(levels, std::move(tape), std::move(outputs), inputs);
  return std::make_unique<SeriesOf<N>>(std::move(tape), std::move(outputs), inputs);
}

DerivativeArray::~DerivativeArray() = default;

DerivativeArray::DerivativeArray(const Dcs& system, int levels, bool parameters)
    : n_(system.n()), m_(system.m()), levels_(levels) {
  validate(system);
  if (levels < 1 || levels > most_levels)
    throw InvalidInput(
        fmt::format("levels must be between 1 and {} but is {}", most_levels, levels));
  int inputs = system.parameter_input(0);
  std::vector<int> lines = system.F;
  lines.insert(lines.end(), system.G.begin(), system.G.end());
  Tape tape;
  if (parameters) {
    parameters_ = static_cast<int>(system.parameters.size());
    parameter_values_ = system.parameters;
    inputs += parameters_;
    tape = bind_inputs(system.tape, inputs, {}, lines);
  } else {
    tape = bind_inputs(system.tape, inputs, system.parameters, lines);
  }
  for (const Derivative& derivative :
       differentiate(tape, std::vector<int>(lines), parameters ? 0 : 1, inputs)) {
    entries_.push_back({derivative.output, derivative.input});
    lines.push_back(derivative.line);
  }
  tape = bind_inputs(tape, inputs, {}, lines);
  for (std::size_t k = static_cast<std::size_t>(n_ + m_); k < lines.size(); ++k)
    linear_ = linear_ && tape[lines[k]].operation == Operation::constant;
  const auto order = static_cast<std::size_t>(levels + 1);
  inputs_.resize(static_cast<std::size_t>(inputs) * order);
  outputs_.resize(lines.size() * order);
  values_ = Vector::Zero(rows());
  derivatives_ = Matrix::Zero(rows(), columns());
  outer_ = Matrix::Zero(rows(), parameters ? 1 + parameters_ : 0);
  const auto count = static_cast<std::size_t>(inputs);
  series_ = make_series<2>(levels, std::move(tape), lines, count);
}

/// The series of the inputs t | ẋ | x | λ | p.
void DerivativeArray::load(double t, double time, const Matrix& x, const Matrix& lambda) {
  double* input = inputs_.data();
  const auto put = [&](auto coefficient) {
    for (int k = 0; k <= levels_; ++k) *input++ = coefficient(k);
  };
  put([&](int k) { return k == 0 ? t : (k == 1 ? time : 0.0); });
  for (int j = 0; j < n_; ++j) put([&](int k) { return (k + 1) * x(j, k + 1) / time; });
  for (int j = 0; j < n_; ++j) put([&](int k) { return x(j, k); });
  for (int i = 0; i < m_; ++i) put([&](int k) { return lambda(i, k); });
  for (const double value : parameter_values_) put([&](int k) { return k == 0 ? value : 0.0; });
}

/// Adds one derivative to all blocks that hold it.
void DerivativeArray::place(const Entry& entry, const double* c, double time) {
  const int all = n_ + m_;
  const int input = entry.input;
  if (input == 0 || input > 2 * n_ + m_) {
    const int column = input == 0 ? 0 : input - 2 * n_ - m_;
    for (int k = 0; k <= levels_; ++k) outer_(k * all + entry.row, column) = c[k];
    return;
  }
  const bool rate = input <= n_;
  const bool variable = !rate && input <= 2 * n_;
  for (int k = 0; k <= levels_; ++k)
    for (int j = 0; j <= k; ++j) {
      const int row = k * all + entry.row;
      const double value = c[k - j];
      if (rate)
        derivatives_(row, x_column(j + 1, input - 1)) += (j + 1) / time * value;
      else if (variable)
        derivatives_(row, x_column(j, input - 1 - n_)) += value;
      else
        derivatives_(row, lambda_column(j, input - 1 - 2 * n_)) += value;
    }
}

void DerivativeArray::evaluate(double t, double time, const Matrix& x, const Matrix& lambda) {
  load(t, time, x, lambda);
  series_->run(inputs_, outputs_);
  const int all = n_ + m_;
  const int order = levels_ + 1;
  const double* output = outputs_.data();
  for (int i = 0; i < all; ++i, output += order)
    for (int k = 0; k <= levels_; ++k) values_[k * all + i] = output[k];
  derivatives_.setZero();
  for (const Entry& entry : entries_) {
    place(entry, output, time);
    output += order;
  }
}

Matrix DerivativeArray::rate_derivatives() const {
  Matrix result = Matrix::Zero(n_ + m_, n_);
  const int order = levels_ + 1;
  const double* output = outputs_.data() + static_cast<std::ptrdiff_t>(n_ + m_) * order;
  for (const Entry& entry : entries_) {
    if (entry.input >= 1 && entry.input <= n_) result(entry.row, entry.input - 1) = output[0];
    output += order;
  }
  return result;
}

}  // namespace perp
