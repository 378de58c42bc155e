#pragma once

#include <string>

#include <perp/analysis/solutions/step_answer.hpp>
#include <perp/io/json.hpp>

namespace perp::io {

/// A step from t with all its solutions and the selector's choice.
std::string step_text(const Model& model, const StepAnswer& answer, double t);
Json to_json(const Model& model, const StepAnswer& answer, double t);

/// By how much each mode misses a solution of a step that has none.
std::string violations_text(const Model& model, const StepAnswer& answer);

}  // namespace perp::io
