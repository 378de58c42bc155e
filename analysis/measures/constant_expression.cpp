#include <fmt/format.h>
#include <cmath>

#include <perp/analysis/measures/constant_expression.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/expression/expression.hpp>

namespace perp {

double constant_expression(const Model& model, std::string_view text) {
  Scope scope;
  std::vector<double> values;
  for (const auto& [name, value] : model.parameters) {
    scope.names.push_back(name);
    values.push_back(value);
  }
  const double value = Expression(text, scope)(values);
  if (!std::isfinite(value)) throw InvalidInput(fmt::format("'{}' is {}, which is no number to use", text, value));
  return value;
}

}  // namespace perp
