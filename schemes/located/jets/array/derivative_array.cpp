#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/tape/taylor.hpp>
#include <perp/schemes/located/jets/array/derivative_array.hpp>

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
    entries_.push_back({derivative.output, derivative.input, false});
    lines.push_back(derivative.line);
  }
  tape = bind_inputs(tape, inputs, {}, lines);
  find_constants(tape, std::span(lines).subspan(at(n_ + m_)));
  const auto order = static_cast<std::size_t>(levels + 1);
  inputs_.resize(static_cast<std::size_t>(inputs) * order);
  outputs_.resize(lines.size() * order);
  values_ = Vector::Zero(rows());
  make_places();
  outer_ = Matrix::Zero(rows(), parameters ? 1 + parameters_ : 0);
  const auto count = static_cast<std::size_t>(inputs);
  series_ = make_series<2>(levels, std::move(tape), lines, count);
}

/// Which derivatives are constant, by their lines?
void DerivativeArray::find_constants(const Tape& tape, std::span<const int> derivatives) {
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    entries_[e].constant = tape[derivatives[e]].operation == Operation::constant;
    linear_ = linear_ && entries_[e].constant;
  }
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

/// Of a derivative by the coefficient [j] of its variable.
int DerivativeArray::column_of(const Entry& entry, int j) const {
  const int input = entry.input;
  if (input <= n_) return x_column(j + 1, input - 1);
  return input <= 2 * n_ ? x_column(j, input - 1 - n_) : lambda_column(j, input - 1 - 2 * n_);
}

/// Row k (n + m) + i holds the coefficients [k - j] of its derivatives by [j], j <= k; of a constant the first one.
void DerivativeArray::make_places() {
  const int all = n_ + m_;
  std::vector<linear::SparseMatrix::Placed> places;
  const auto for_each_place = [&](const auto& work) {
    for (const Entry& entry : entries_)
      for (int k = 0; k <= levels_ && !is_outer(entry); ++k)
        for (int j = entry.constant ? k : 0; j <= k; ++j) work(k * all + entry.row, column_of(entry, j));
  };
  for_each_place([&](int row, int column) { places.push_back({row, column, 0}); });
  for (int k = 0; k <= levels_; ++k)
    for (int i = 0; i < m_; ++i) places.push_back({k * all + n_ + i, lambda_column(k, i), 0});
  derivatives_ = linear::SparseMatrix::with_places(rows(), columns(), std::move(places));
  for_each_place([&](int row, int column) { places_.push_back(derivatives_.place(row, column)); });
}

void DerivativeArray::place_outer(const Entry& entry, const double* c) {
  const int column = entry.input == 0 ? 0 : entry.input - 2 * n_ - m_;
  for (int k = 0; k <= levels_; ++k) outer_(k * (n_ + m_) + entry.row, column) = c[k];
}

/// Adds the derivatives [k - j] by the coefficients [j] of a variable to their places, from `place` on; what stands behind
/// these.
const int* DerivativeArray::add_series(const Entry& entry, const double* c, double time, const int* place) {
  const auto derivatives = derivatives_.entries();
  // By ẋ: (j + 1)/time times those by x_[j+1].
  const bool is_rate = entry.input <= n_;
  for (int k = 0; k <= levels_; ++k)
    for (int j = entry.constant ? k : 0; j <= k; ++j)
      derivatives[at(*place++)].value += is_rate ? (j + 1) / time * c[k - j] : c[k - j];
  return place;
}

void DerivativeArray::evaluate(double t, double time, const Matrix& x, const Matrix& lambda) {
  load(t, time, x, lambda);
  series_->run(inputs_, outputs_);
  const int all = n_ + m_;
  const int order = levels_ + 1;
  const double* output = outputs_.data();
  for (int i = 0; i < all; ++i, output += order)
    for (int k = 0; k <= levels_; ++k) values_[k * all + i] = output[k];
  for (auto& entry : derivatives_.entries()) entry.value = 0;
  const int* place = places_.data();
  for (const Entry& entry : entries_) {
    const double* c = output;
    output += order;
    if (is_outer(entry))
      place_outer(entry, c);
    else
      place = add_series(entry, c, time, place);
  }
}

linear::SparseMatrix DerivativeArray::rate_derivatives() const {
  std::vector<linear::SparseMatrix::Placed> rates;
  const int order = levels_ + 1;
  const double* output = outputs_.data() + static_cast<std::ptrdiff_t>(n_ + m_) * order;
  for (const Entry& entry : entries_) {
    if (entry.input >= 1 && entry.input <= n_) rates.push_back({entry.row, entry.input - 1, output[0]});
    output += order;
  }
  return {n_ + m_, n_, rates};
}

}  // namespace perp
