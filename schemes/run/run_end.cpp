#include <fmt/format.h>
#include <cmath>

#include <perp/schemes/run/run_end.hpp>

namespace perp {
namespace {

std::string first_order_text(const std::string& from, const std::string& by, const std::string& why,
                             const std::string& message) {
  return fmt::format("first order from t = {} on by {} ({}): {}", from, by, why, message);
}

}  // namespace

std::string refused_start_text(const RunEnd& at, const std::string& why) {
  return fmt::format("no step can be made at t = {:.10g}: {}{}{}", at.t, why,
                     at.residuals.empty() ? "" : "; residuals of the modes: ", at.residuals);
}

std::string stopped_text(const RunEnd& at, bool ends, const std::string& why) {
  return fmt::format("{} t = {:.10g} (step {}{}){} {}", ends ? "no solution after" : "stopped at",
                     at.t, at.steps, at.mode.empty() ? "" : fmt::format(", mode [{}]", at.mode),
                     at.residuals.empty() ? ":" : ";", why);
}

std::string interrupted_text(double t) { return fmt::format("interrupted at t = {:.10g}", t); }

std::string no_value_text(const std::string& resets) {
  return fmt::format("{} fires where what it sets is no number: a divisor that is 0, or a function "
                     "beyond its domain",
                     resets);
}

std::string tell_first_order(const FirstOrder& since, double h, Selector selector, const std::string& without,
                             const std::string& message, Trajectory& run) {
  if (std::isnan(since.since)) return message;
  const std::string from = fmt::format("{:.10g}", since.since);
  const std::string by =
      fmt::format("backward_euler, h = {:g}, selector {}", h, to_string(selector));
  run.provenance["first order from"] = from;
  run.provenance["first order by"] = by;
  run.provenance["first order because"] = since.why;
  return first_order_text(from, by, since.why + without, message);
}

std::string with_first_order(const std::string& message, const Trajectory& run) {
  if (!run.provenance.contains("first order from")) return message;
  return first_order_text(run.provenance.at("first order from"), run.provenance.at("first order by"),
                          run.provenance.at("first order because"), message);
}

std::string accumulation_text(const RunEnd& at, const std::string& resets) {
  return fmt::format("resets accumulate at t = {:.10g} (step {}): {}; a contact law passes such an "
                     "accumulation",
                     at.t, at.steps, resets);
}

}  // namespace perp
