#pragma once

#include <string_view>

#include <perp/models/language/model.hpp>

namespace perp {

/// The value of a formula of the model's parameters. Throws ExpressionError, and InvalidInput where it is
/// no finite number.
double constant_expression(const Model& model, std::string_view text);

}  // namespace perp
