#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/measures/constant_expression.hpp>
#include <perp/analysis/measures/measure_text.hpp>
#include <perp/analysis/measures/measures.hpp>
#include <perp/core/base/error.hpp>
#include <perp/schemes/run/keep_beside.hpp>

namespace perp {
namespace {

double window_start(const Model& model, const std::string& after) {
  const Span span = model.run.span;
  if (after.empty()) return span.start;
  double from = 0;
  try {
    from = constant_expression(model, after);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("the window after '{}': {}", after, error.what()));
  }
  if (!(from >= span.start && from < span.end))
    throw InvalidInput(fmt::format("the window after t = {} is outside of the run's span [{}, {}]", from,
                                   span.start, span.end));
  return from;
}

std::string before_window_text(double until) {
  return std::isfinite(until) ? fmt::format("the run ended at t = {:.10g}, before the window", until) : "the run did not start";
}

}  // namespace

Measures::Measures(const Model& model, const std::vector<std::string>& definitions, const std::string& after)
    : model_(model), from_(window_start(model, after)) {
  for (const std::string& definition : definitions) {
    Item item = parse(definition);
    const auto has_name = [&](const Item& other) { return other.name == item.name; };
    if (std::any_of(measures_.begin(), measures_.end(), has_name))
      throw InvalidInput(fmt::format("measure '{}' is given twice", item.name));
    measures_.push_back(std::move(item));
  }
}

Measures::Item Measures::parse(const std::string& definition) const {
  const std::size_t equals = definition.find('=');
  const std::string name = equals == std::string::npos ? "" : definition.substr(0, equals);
  if (!is_name(name))
    throw InvalidInput(fmt::format("measure '{}': expected NAME=EXPRESSION, e.g. top=max(x)", definition));
  Item item{name, definition.substr(equals + 1), {}, {}};
  try {
    MeasureText text(model_, item.text);
    item.formula = text.formula();
    item.reductions = text.take_reductions();
  } catch (const ExpressionError& error) {
    throw InvalidInput(fmt::format("measure '{}': character {}: {}", definition, equals + 2 + error.offset(),
                                   error.what()));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("measure '{}': {}", definition, error.what()));
  }
  return item;
}

void Measures::watch(IntegrateOptions& options) {
  if (empty()) return;
  options.course = [this](const StepCourse& step) { course(step); };
  options.observer = [this, next = options.observer](const Step& state) {
    row(state);
    return !next || next(state);
  };
  keep_beside(options.state, [this](Archive& archive) { transfer(archive); });
}

bool Measures::needs_steps() const {
  return std::any_of(measures_.begin(), measures_.end(), [](const Item& item) {
    return std::any_of(item.reductions.begin(), item.reductions.end(),
                       [](const auto& reduction) { return reduction->needs_steps(); });
  });
}

void Measures::transfer(Archive& archive) {
  archive(until_);
  for (Item& item : measures_)
    for (auto& reduction : item.reductions) archive(*reduction);
}

void Measures::course(const StepCourse& step) {
  const double a = std::max(step.start, from_);
  if (!(step.end > a)) return;
  for (Item& item : measures_)
    for (auto& reduction : item.reductions) reduction->course(step, a, step.end);
}

void Measures::row(const Step& state) {
  until_ = state.t;
  if (state.t < from_) return;
  for (Item& item : measures_)
    for (auto& reduction : item.reductions) reduction->row(state);
}

/// The formula of its reductions, or the first reason why one of them has no value.
MeasureResult Measures::result_of(Item& item, const Trajectory& run, const std::vector<ModeSpan>& modes) {
  MeasureResult result;
  std::vector<double> inputs;
  for (const auto& [name, value] : model_.parameters) inputs.push_back(value);
  for (auto& reduction : item.reductions) {
    const MeasureResult part = until_ < from_ ? MeasureResult{{}, before_window_text(until_)}
                                              : reduction->result({run, modes, from_, until_});
    if (result.reason.empty()) result.reason = part.reason;
    inputs.push_back(part.value.value_or(nan));
  }
  const double value = item.formula(inputs);
  if (!result.reason.empty()) return result;
  if (std::isfinite(value))
    result.value = value;
  else
    result.reason = fmt::format("{} is {}", item.text, std::isnan(value) ? "not a number" : "infinite");
  return result;
}

std::vector<Measure> Measures::of(const Trajectory& run, const std::vector<ModeSpan>& modes) {
  std::vector<Measure> list;
  for (Item& item : measures_) list.push_back({item.name, item.text, result_of(item, run, modes)});
  return list;
}

}  // namespace perp
