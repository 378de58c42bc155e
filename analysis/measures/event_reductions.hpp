#pragma once

#include <memory>
#include <string>
#include <vector>

#include <perp/analysis/measures/reductions.hpp>

namespace perp {

/// count(EVENT), period(EVENT), t(EVENT, k), duration(MODE) with their arguments as text. Throw
/// ExpressionError, InvalidInput.
///@{
std::unique_ptr<Reduction> count_of_events(const Model& model, const std::vector<std::string>& arguments);
std::unique_ptr<Reduction> period_of_events(const Model& model, const std::vector<std::string>& arguments);
std::unique_ptr<Reduction> time_of_event(const Model& model, const std::vector<std::string>& arguments);
std::unique_ptr<Reduction> duration_of_mode(const Model& model, const std::vector<std::string>& arguments);
///@}
/// value(x, EVENT, k) of a signal of variables, after(x, EVENT, k) with `is_after`.
std::unique_ptr<Reduction> value_at_event(const Model& model, const std::vector<std::string>& arguments,
                                          bool is_after);

}  // namespace perp
