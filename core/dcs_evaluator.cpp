#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/polynomial.hpp>

namespace perp {
namespace {

constexpr int few_linearizations = 8;  ///< all of a run whose matrix stays, and no more than making lanes of them takes

}  // namespace

DcsEvaluator::DcsEvaluator(const Dcs& system)
    : n_(system.n()), m_(system.m()), tape_(system.tape), rows_(system.F), parameters_(system.parameters) {
  validate(system);
  const auto bound = [&](const std::vector<int>& lines) {
    Program program;
    program.outputs = lines;
    program.tape = bind_inputs(system.tape, inputs(), system.parameters, program.outputs);
    program.values.resize(static_cast<std::size_t>(program.tape.size()));
    return program;
  };
  rows_.insert(rows_.end(), system.G.begin(), system.G.end());
  const auto rows = rows_.size();
  Program linear = bound(rows_);
  values_ = TapeCode(linear.tape, linear.outputs, rows);

  const std::vector<Derivative> derivatives =
      differentiate(linear.tape, linear.outputs, 0, inputs());
  differential_.assign(static_cast<std::size_t>(n_), 0);
  for (const Derivative& derivative : derivatives) {
    entries_.push_back({derivative.output, derivative.input});
    linear.outputs.push_back(derivative.line);
    const int j = derivative.input - 1;
    if (j >= 0 && j < n_) differential_[static_cast<std::size_t>(j)] = 1;
  }
  // Once more, so that lines which only the way to the derivatives needed are gone.
  linear.tape = bind_inputs(linear.tape, inputs(), {}, linear.outputs);
  InputsBelow inputs_of(linear.tape);
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const int line = linear.outputs[rows + k];
    if (linear.tape[line].operation != Operation::constant) variable_.push_back({k, inputs_of(line)});
  }
  linear_ = TapeCode(linear.tape, linear.outputs, rows, few_linearizations);

  std::vector<int> lines;
  for (const Reset& reset : system.resets) {
    reset_start_.push_back(lines.size());
    bounded_conditions_.emplace_back(system.tape, std::span(&reset.condition, 1), inputs(),
                                     system.parameters);
    lines.push_back(reset.condition);
    lines.insert(lines.end(), reset.values.begin(), reset.values.end());
  }
  reset_start_.push_back(lines.size());
  if (!lines.empty()) resets_ = bound(lines);
}

BoundedTape& DcsEvaluator::bounded_rows() const {
  if (!bounded_rows_) bounded_rows_.emplace(tape_, rows_, inputs(), parameters_);
  return *bounded_rows_;
}

WideTape& DcsEvaluator::wide_rows() const {
  if (!wide_rows_) wide_rows_.emplace(tape_, rows_, inputs(), parameters_);
  return *wide_rows_;
}

void DcsEvaluator::Program::run(const double* z, int inputs, double* result, std::size_t from,
                                std::size_t to) {
  tape.evaluate(std::span<const double>(z, static_cast<std::size_t>(inputs)), std::span(values));
  for (std::size_t k = from; k < to; ++k)
    result[k - from] = values[static_cast<std::size_t>(outputs[k])];
}

void DcsEvaluator::evaluate(const double* z, double* rows) {
  values_.run(z, static_cast<std::size_t>(inputs()), rows, nullptr);
}

void DcsEvaluator::evaluate_bounded(const double* z, const double* z_error, double* rows,
                                    double* errors) {
  bounded_rows().run(z, z_error, rows, errors);
}

void DcsEvaluator::evaluate_wide(std::span<const WideNumber> z, bool in_pairs, WideNumber* rows) {
  WideTape& wide = wide_rows();
  if (in_pairs)
    wide.run_pairs(z);
  else
    wide.run(z);
  for (int k = 0; k < n_ + m_; ++k) rows[k] = wide.output(static_cast<std::size_t>(k));
}

RunningError DcsEvaluator::condition_bounded(std::size_t reset, const double* z,
                                             const double* z_error) {
  bounded_conditions_[reset].run(z, z_error);
  return bounded_conditions_[reset].output(0);
}

void DcsEvaluator::linearize(const double* z, double* rows, double* derivatives) {
  linear_.run(z, static_cast<std::size_t>(inputs()), rows, derivatives);
}

double DcsEvaluator::condition(std::size_t reset, const double* z) {
  double value = 0;
  resets_.run(z, inputs(), &value, reset_start_[reset], reset_start_[reset] + 1);
  return value;
}

void DcsEvaluator::reset_values(std::size_t reset, const double* z, double* values) {
  resets_.run(z, inputs(), values, reset_start_[reset] + 1, reset_start_[reset + 1]);
}

}  // namespace perp
