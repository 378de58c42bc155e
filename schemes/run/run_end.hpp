#pragma once

#include <string>

#include <perp/core/trajectory.hpp>
#include <perp/lcp/selector.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// Where a run stands that goes no further.
struct RunEnd {
  double t = 0;
  long steps = 0;
  std::string mode{};       ///< empty: the system has no laws
  std::string residuals{};  ///< of the modes; empty: not asked for
};

/// "no step can be made at t = 0: ..."
std::string refused_start_text(const RunEnd& at, const std::string& why);

/// "no solution after t = 1 (step 7, mode [...]): ..." where the solution `ends`, else "stopped at t".
std::string stopped_text(const RunEnd& at, bool ends, const std::string& why);

/// "interrupted at t = 1"
std::string interrupted_text(double t);

/// "a reset has no value here: ..."
std::string no_value_text(const std::string& resets);

/// Writes since when, by what and why a run is of first order into its provenance; returns its message with
/// "first order from t = 1 on by ..." before it, or as it is. `without`: what the run lacks then.
std::string tell_first_order(const FirstOrder& since, double h, Selector selector, const std::string& without,
                             const std::string& message, Trajectory& run);

/// The message with "first order from t = 1 on by ..." before it, where the provenance says so; else as it is.
std::string with_first_order(const std::string& message, const Trajectory& run);

/// "resets accumulate at t = 2 (step 9): ..."
std::string accumulation_text(const RunEnd& at, const std::string& resets);

}  // namespace perp
