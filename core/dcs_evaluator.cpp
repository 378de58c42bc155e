#include <algorithm>

#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/differentiate.hpp>

namespace perp {

DcsEvaluator::DcsEvaluator(const Dcs& system) : n_(system.n()), m_(system.m()) {
  validate(system);
  const auto bound = [&](const std::vector<int>& lines) {
    Program program;
    program.outputs = lines;
    program.tape = bind_inputs(system.tape, inputs(), system.parameters, program.outputs);
    program.values.resize(static_cast<std::size_t>(program.tape.size()));
    return program;
  };
  std::vector<int> lines = system.F;
  lines.insert(lines.end(), system.G.begin(), system.G.end());
  values_ = bound(lines);

  linear_ = values_;
  const std::vector<Derivative> derivatives =
      differentiate(linear_.tape, linear_.outputs, 0, inputs());
  differential_.assign(static_cast<std::size_t>(n_), 0);
  for (const Derivative& derivative : derivatives) {
    entries_.push_back({derivative.output, derivative.input});
    linear_.outputs.push_back(derivative.line);
    const int j = derivative.input - 1;
    if (j >= 0 && j < n_) differential_[static_cast<std::size_t>(j)] = 1;
  }
  // Once more, so that lines which only the way to the derivatives needed are gone.
  linear_.tape = bind_inputs(linear_.tape, inputs(), {}, linear_.outputs);
  linear_.values.resize(static_cast<std::size_t>(linear_.tape.size()));
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const int line = linear_.outputs[static_cast<std::size_t>(n_ + m_) + k];
    constant_.push_back(linear_.tape[line].operation == Operation::constant ? 1 : 0);
  }

  lines.clear();
  for (const Reset& reset : system.resets) {
    reset_start_.push_back(lines.size());
    lines.push_back(reset.condition);
    lines.insert(lines.end(), reset.values.begin(), reset.values.end());
  }
  reset_start_.push_back(lines.size());
  resets_ = bound(lines);
}

void DcsEvaluator::Program::run(const double* z, int inputs, double* result, std::size_t from,
                                std::size_t to) {
  tape.evaluate(std::span<const double>(z, static_cast<std::size_t>(inputs)), std::span(values));
  for (std::size_t k = from; k < to; ++k)
    result[k - from] = values[static_cast<std::size_t>(outputs[k])];
}

void DcsEvaluator::evaluate(const double* z, double* rows) {
  values_.run(z, inputs(), rows, 0, static_cast<std::size_t>(n_ + m_));
}

void DcsEvaluator::linearize(const double* z, double* rows, double* derivatives) {
  const auto size = static_cast<std::size_t>(n_ + m_);
  linear_.run(z, inputs(), rows, 0, size);
  for (std::size_t k = 0; k < entries_.size(); ++k)
    derivatives[k] = linear_.values[static_cast<std::size_t>(linear_.outputs[size + k])];
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
