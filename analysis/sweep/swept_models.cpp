// Reads the models of a sweep, called for each of its runs: some of the numbers that it varies may be those of none.
#include <fmt/format.h>
#include <exception>

#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/sweep/swept_models.hpp>
#include <perp/core/base/error.hpp>

namespace perp {

SweptModels::SweptModels(const SweepRequest& request) : request_(request) {
  std::exception_ptr refusal;
  for (const long points = request.points.size(); first_ < points; ++first_) try {
      variables_ = variable_names(first());
      return;
    } catch (const InvalidInput&) {
      if (!refusal) refusal = std::current_exception();
    }
  if (refusal) std::rethrow_exception(refusal);
}

std::optional<Model> SweptModels::at(long point, std::string& refusal) const {
  std::optional<Model> model;
  try {
    model = request_.read(request_.points.overrides(point));
  } catch (const InvalidInput& error) {
    refusal = error.what();
    return std::nullopt;
  }
  const bool has_states = request_.keeps || !request_.section.empty() || request_.follow != Follow::none;
  if (has_states && variable_names(*model) != variables_)
    throw InvalidInput(
        fmt::format("this run has other variables than the first one ({} and {} of them), whose states are kept side by side or handed "
                    "on; expected measures alone where what is varied changes the variables",
                    model->variables.size(), variables_.size()));
  return model;
}

}  // namespace perp
