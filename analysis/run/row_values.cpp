#include <fmt/format.h>
#include <cmath>

#include <perp/analysis/run/row_values.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {
namespace {

/// "variable 'x' is inf" of the first number that is not finite; empty: all are.
std::string first_fault(const Vector& values, const std::vector<std::string>& names,
                        const char* kind) {
  for (Eigen::Index j = 0; j < values.size(); ++j)
    if (!std::isfinite(values[j]))
      return fmt::format("{} '{}' is {}", kind, names[static_cast<std::size_t>(j)],
                         std::isnan(values[j]) ? "not a number" : fmt::format("{}", values[j]));
  return {};
}

}  // namespace

bool RowValues::take(const Step& step) {
  std::string fault = first_fault(step.x, columns_.x, "variable");
  if (fault.empty()) fault = first_fault(step.lambda, columns_.lambda, "multiplier");
  if (fault.empty()) fault = first_fault(step.w, columns_.w, "argument");
  if (fault.empty() && !columns_.outputs.empty()) {
    outputs_ = model_.at(step.t, step.x, step.lambda);
    fault = first_fault(outputs_, columns_.outputs, "output");
  }
  if (fault.empty()) return true;
  fault_ = fmt::format("stopped at t = {:.10g}: {} there, which is no result", step.t, fault);
  return false;
}

void end_by_fault(const std::string& fault, Trajectory& run) {
  if (fault.empty()) return;
  run.status = Status::not_solved;
  run.message = fault;
  if (!run.t.empty()) log_end(run.status, run.t.back(), run.x.back(), fault, run.events);
}

}  // namespace perp
