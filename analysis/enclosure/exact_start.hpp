#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/interval/decimal.hpp>
#include <perp/core/interval/series/interval_series.hpp>

namespace perp::enclosure {

/// Numbers without rounding, where they are known.
using ExactNumbersOrNone = std::vector<std::optional<Rational>>;

/// The start of a variable, or a parameter, that is a formula of parameters: the first ones of the
/// system, which the formula takes in their order.
struct StartFormula {
  int variable = -1, parameter = -1;  ///< one of them
  ExactFormula formula{};
};

/// A start as the decimal numbers that it is; what is an interval, or no rational number, has none.
struct ExactStart {
  ExactNumbersOrNone variables{};   ///< n, or none at all
  ExactNumbersOrNone parameters{};  ///< one for each of the system, or none at all
  std::vector<StartFormula> formulas{};  ///< of what depends on intervals of parameters
};

/// The inputs of a system's tape at time t, as far as they are numbers of this start in these boxes
/// (of all variables; of parameters).
ExactNumbersOrNone exact_inputs(const Dcs& system, double t, const ExactStart& start,
                                const std::vector<Interval>& variables,
                                const std::vector<Interval>& parameters);

/// Derivative number `order` by time of an output of a flow, at inputs without rounding. None where it
/// is no rational number, or needs an input that is none.
std::optional<Rational> exact_output(const Flow& flow, int output, int order,
                                     const ExactNumbersOrNone& inputs);

/// `value`, which holds that derivative; where it leaves the sign open and the number is known, 0 or what
/// lies between the doubles next to it.
Interval decided(const Interval& value, const Flow& flow, int output, int order,
                 const ExactNumbersOrNone& inputs);

}  // namespace perp::enclosure
