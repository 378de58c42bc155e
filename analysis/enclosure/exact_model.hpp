#pragma once

#include <string>
#include <vector>

#include <perp/analysis/enclosure/interval_matrix.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/types.hpp>

namespace perp::enclosure {

/// A model file whose numbers are taken as the decimal numbers they are: parameters, starts and
/// every literal of an equation are intervals that contain them. Parameters and starts may be
/// intervals in the file, as text: "[1.1, 1.21]", "5.437 +- 0.01".
struct ExactModel {
  std::vector<std::string> variables{};  ///< names, in the order of x
  std::vector<std::string>
      parameters{};  ///< those of the file, then the literals that are no doubles
  Dcs system{};      ///< its parameters are the doubles next to `values`
  Box start{};       ///< of the variables
  Box values{};      ///< of the parameters
  Span span{0, 1};
};

/// Reads it from text; `name` stands for the file in messages. Throws ModelError and
/// ExpressionError as the reader of models does, InvalidInput for matrices, laws and resets, which
/// are not treated yet.
ExactModel read_exact_model(const std::string& text, const std::string& name);

}  // namespace perp::enclosure
