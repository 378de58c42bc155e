#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <perp/analysis/measures/state_formula.hpp>
#include <perp/analysis/run/columns.hpp>

namespace perp {
namespace {

Scope scope_of(const Model& model) {
  const Columns columns = columns_of(model);
  Scope scope;
  scope.names = {"t"};
  scope.aliases = {{"time", 0}};
  for (const auto* list : {&columns.x, &columns.lambda, &columns.w, &columns.outputs})
    scope.names.insert(scope.names.end(), list->begin(), list->end());
  for (const auto& [name, value] : model.parameters) scope.names.push_back(name);
  for (const int j : model.differential_variables())
    scope.derivatives.emplace(columns.x[static_cast<std::size_t>(j)], static_cast<int>(scope.names.size()) + j);
  return scope;
}

std::ptrdiff_t offset(std::size_t k) { return static_cast<std::ptrdiff_t>(k); }

}  // namespace

StateFormula::StateFormula(const Model& model, std::string_view text)
    : model_(model), formula_(text, scope_of(model)) {
  const std::size_t n = model.variables.size(), m = model.laws().size();
  const std::size_t outputs = model.outputs.names.size();
  const std::size_t first_output = 1 + n + 2 * m;
  first_rate_ = first_output + outputs + model.parameters.size();
  inputs_.assign(first_rate_ + n, nan);
  for (std::size_t k = 0; k < model.parameters.size(); ++k)
    inputs_[first_output + outputs + k] = model.parameters[k].second;
  const Tape& tape = formula_.tape();
  const int line = formula_.line();
  const std::vector<bool> needed = needed_lines(tape, std::span(&line, 1));
  std::vector<std::size_t> inputs;
  for (int k = 0; k < tape.size(); ++k) {
    if (!needed[static_cast<std::size_t>(k)] || tape[k].operation != Operation::input) continue;
    inputs.push_back(static_cast<std::size_t>(tape[k].a));
  }
  const auto needs = [&](std::size_t from, std::size_t end) {
    return std::ranges::any_of(inputs, [&](std::size_t input) { return input >= from && input < end; });
  };
  needs_laws_ = needs(1 + n, first_output);
  needs_outputs_ = needs(first_output, first_output + outputs);
  if (needs(first_rate_, inputs_.size())) rates_ = std::make_unique<RowRates>(model);
  lines_.resize(static_cast<std::size_t>(tape.size()));
}

double StateFormula::operator()(const Step& state) {
  const std::size_t n = model_.variables.size(), m = model_.laws().size();
  inputs_[0] = state.t;
  std::copy(state.x.begin(), state.x.end(), inputs_.begin() + 1);
  if (needs_laws_) {
    const auto write = [&](const Vector& values, std::size_t first) {
      const auto at = inputs_.begin() + offset(first);
      if (values.size() == offset(m))
        std::copy(values.begin(), values.end(), at);
      else
        std::fill_n(at, m, nan);
    };
    write(state.lambda, 1 + n);
    write(state.w, 1 + n + m);
  }
  if (needs_outputs_) {
    const Vector outputs = model_.outputs.at(state.t, state.x, state.lambda);
    std::copy(outputs.begin(), outputs.end(), inputs_.begin() + offset(1 + n + 2 * m));
  }
  if (rates_) {
    const Vector rates = (*rates_)(state);
    std::copy(rates.begin(), rates.end(), inputs_.begin() + offset(first_rate_));
  }
  formula_.tape().evaluate(std::span<const double>(inputs_), std::span<double>(lines_));
  return lines_[static_cast<std::size_t>(formula_.line())];
}

double StateFormula::rounding() {
  const std::size_t inputs = inputs_.size(), outputs = model_.outputs.names.size();
  if (largest_.empty()) {
    const int line = formula_.line();
    bounded_ = BoundedTape(formula_.tape(), std::span(&line, 1), static_cast<int>(inputs), {});
    largest_.assign(inputs, 0);
    errors_.assign(inputs, 0);
  }
  const std::size_t first_parameter = 1 + model_.variables.size() + 2 * model_.laws().size() + outputs;
  for (std::size_t k = 0; k < inputs; ++k) {
    if (std::abs(inputs_[k]) > largest_[k]) largest_[k] = std::abs(inputs_[k]);
    const bool is_parameter = k >= first_parameter && k < first_rate_;
    errors_[k] = is_parameter ? 0 : 8 * std::numeric_limits<double>::epsilon() * largest_[k];
  }
  bounded_.run(inputs_.data(), errors_.data());
  return bounded_.output(0).error;
}

}  // namespace perp
