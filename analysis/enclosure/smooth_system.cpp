// Systems without laws as explicit differential equations for enclosures.
#include <fmt/format.h>

#include <perp/analysis/enclosure/smooth_system.hpp>
#include <perp/core/error.hpp>

namespace perp::enclosure {
namespace {

/// Solves equations of a tape for derivatives, appending lines: exact algebra, nothing is
/// evaluated.
class DerivativeSolver {
 public:
  DerivativeSolver(const Dcs& system, Tape& tape) : system_(system), tape_(tape) { learn(); }

  /// The equation `line` = 0: writes the rate of its derivative. `number` counts from 1, for
  /// messages.
  void solve(int line, int number, std::vector<int>& rates) {
    if (!holds(line))
      throw InvalidInput(fmt::format(
          "equation {} holds no derivative: algebraic equations are not enclosed yet", number));
    int rest = tape_.constant(0);
    while (tape_[line].operation != Operation::input) line = step(line, number, rest);
    const int j = tape_[line].a - system_.derivative_input(0);
    int& rate = rates[static_cast<std::size_t>(j)];
    if (rate >= 0)
      throw InvalidInput(fmt::format(
          "equation {} is a second one for the derivative of variable {}", number, j + 1));
    rate = rest;
  }

 private:
  void learn() {
    for (int k = 0; k < tape_.size(); ++k) {
      const Instruction& line = tape_[k];
      const int j = line.a - system_.derivative_input(0);
      const bool is_input = line.operation == Operation::input;
      holds_.push_back(is_input ? 0 <= j && j < system_.n() : holds(line.a) || holds(line.b));
    }
  }

  /// Does the line depend on a derivative?
  [[nodiscard]] bool holds(int line) const {
    return line >= 0 && line < static_cast<int>(holds_.size()) &&
           holds_[static_cast<std::size_t>(line)];
  }

  /// op(a, b) = rest becomes a = rest' or b = rest'; returns the one that holds the derivative.
  int step(int line, int number, int& rest) {
    const Instruction here = tape_[line];  // a copy: the tape grows
    const bool first = holds(here.a);
    const int other = first ? here.b : here.a;
    if (first && holds(here.b)) refuse(number);
    switch (here.operation) {
      case Operation::negate: rest = tape_.apply(Operation::negate, rest); break;
      case Operation::add: rest = tape_.apply(Operation::subtract, rest, other); break;
      case Operation::subtract:
        rest = first ? tape_.apply(Operation::add, rest, other)
                     : tape_.apply(Operation::subtract, other, rest);
        break;
      case Operation::multiply: rest = tape_.apply(Operation::divide, rest, other); break;
      case Operation::divide:
        if (!first) refuse(number);
        rest = tape_.apply(Operation::multiply, rest, other);
        break;
      default: refuse(number);
    }
    return first ? here.a : here.b;
  }

  [[noreturn]] static void refuse(int number) {
    throw InvalidInput(fmt::format(
        "equation {} is not solved for one derivative by sums and products: it is not enclosed yet",
        number));
  }

  const Dcs& system_;
  Tape& tape_;
  std::vector<bool> holds_;
};

void check_treated(const Dcs& system, const Box& parameters) {
  if (system.m() > 0)
    throw InvalidInput(
        fmt::format("the system has {} laws: only smooth systems are enclosed yet", system.m()));
  if (!system.resets.empty())
    throw InvalidInput(
        fmt::format("the system has the reset '{}': only smooth systems are enclosed yet",
                    system.resets[0].name));
  if (parameters.size() != system.parameters.size())
    throw InvalidInput(fmt::format("there are {} intervals for {} parameters", parameters.size(),
                                   system.parameters.size()));
}

}  // namespace

SmoothSystem smooth_system(const Dcs& system, const Box& parameters) {
  check_treated(system, parameters);
  SmoothSystem result;
  Flow& flow = result.flow;
  flow.tape = system.tape;
  flow.rates.assign(static_cast<std::size_t>(system.n()), -1);
  DerivativeSolver solver(system, flow.tape);
  for (int i = 0; i < system.n(); ++i)
    solver.solve(system.F[static_cast<std::size_t>(i)], i + 1, flow.rates);

  using Kind = SeriesInput::Kind;
  flow.inputs.resize(
      static_cast<std::size_t>(system.parameter_input(static_cast<int>(parameters.size()))));
  const auto input = [&flow](int number) -> SeriesInput& {
    return flow.inputs[static_cast<std::size_t>(number)];
  };
  input(Dcs::time_input()).kind = Kind::time;
  for (int j = 0; j < system.n(); ++j) input(system.variable_input(j)) = {Kind::state, j, {}};
  for (int k = 0; k < static_cast<int>(parameters.size()); ++k) {
    const Interval& value = parameters[static_cast<std::size_t>(k)];
    input(system.parameter_input(k)) = {Kind::constant, -1, value};
    if (value.hi <= directed::next_up(value.lo)) continue;
    input(system.parameter_input(k)) = {Kind::state, flow.states(), {}};
    flow.rates.push_back(flow.tape.constant(0));
    result.widened.push_back(k);
  }
  return result;
}

Enclosure enclose(const Dcs& system, const Box& start, const Box& parameters, const Span& span,
                  const EncloseOptions& options) {
  const SmoothSystem smooth = smooth_system(system, parameters);
  if (static_cast<int>(start.size()) != system.n())
    throw InvalidInput(
        fmt::format("the start has {} intervals; expected one for each of {} variables",
                    start.size(), system.n()));
  Box box = start;
  for (const int k : smooth.widened) box.push_back(parameters[static_cast<std::size_t>(k)]);
  return enclose(smooth.flow, box, span, options);
}

}  // namespace perp::enclosure
