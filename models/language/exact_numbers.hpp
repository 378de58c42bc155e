#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/interval/decimal.hpp>
#include <perp/core/interval/interval.hpp>

namespace perp {

/// The numbers of a model file as the decimal numbers that they are, each in an interval. Literals
/// of formulas that are no doubles and data of laws are parameters of `Model::equations` behind
/// those of the file.
struct ExactNumbers {
  std::vector<std::string> names{};            ///< of the parameters of `Model::equations`
  std::vector<enclosure::Interval> values{};   ///< theirs
  /// Numbers of those that are functions of time, anywhere in their interval at every t.
  std::vector<int> disturbances{};
  std::vector<enclosure::Interval> starts{};   ///< of the variables
  /// Without rounding, where they are one rational number: of those parameters, the last ones may be
  /// missing; of the starts.
  ///@{
  std::vector<std::optional<Rational>> rational_values{};
  std::vector<std::optional<Rational>> rational_starts{};
  ///@}
  /// Formulas of parameters that are intervals, by the number of the variable whose start they are,
  /// or of the parameter.
  ///@{
  std::map<int, enclosure::ExactFormula> start_formulas{};
  std::map<int, enclosure::ExactFormula> parameter_formulas{};
  ///@}
  std::vector<enclosure::Interval> restitution{};  ///< as `Model::restitution`
  /// Of each law, as numbers of parameters: the multiplier of the file is offset + scale λ; -1: λ.
  struct Scaling {
    int offset = -1;
    int scale = -1;
  };
  std::vector<Scaling> multipliers{};
};

}  // namespace perp
