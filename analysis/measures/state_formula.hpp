#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <perp/analysis/phase/row_rates.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/tape/bounded_tape.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// A formula of a run's state: of t, the variables, their derivatives as der(x), multipliers and arguments of laws
/// by the names of their columns, outputs and parameters.
class StateFormula {
 public:
  /// Throws ExpressionError. The model must outlive the signal.
  StateFormula(const Model& model, std::string_view text);

  /// The value in a state; NaN where it needs what the state does not hold.
  double operator()(const Step& state);
  /// A bound of how far the last value may be rounded where each input is known to 8 ulps of the largest value that it had
  /// whenever this was asked; infinite where there is no bound.
  double rounding();
  /// Does it need multipliers, arguments of laws, outputs or derivatives, which the record of an event lacks?
  [[nodiscard]] bool needs_more_than_variables() const { return needs_laws_ || needs_outputs_ || rates_ != nullptr; }

 private:
  const Model& model_;
  Expression formula_;
  std::vector<double> inputs_, lines_;  // work space: t, x, lambda, w, outputs, parameters, rates
  std::size_t first_rate_ = 0;
  bool needs_laws_ = false, needs_outputs_ = false;
  BoundedTape bounded_;                   // made when it is asked for
  std::vector<double> largest_, errors_;  // of the inputs
  std::unique_ptr<RowRates> rates_;  // where a derivative is needed
};

}  // namespace perp
