#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/measures/measures.hpp>
#include <perp/analysis/run/kept_run.hpp>

namespace perp {

/// A run with its rows and the numbers that were asked for.
struct KeptMeasures {
  KeptRun kept;
  std::vector<Measure> measures{};
  std::optional<bool> happened{};  ///< did the event come up to which it was to go? None: there is none
};

/// `keep_run` with measures and the start of their window, as `Measures` reads them; up to the event `until` (UntilEvent) where
/// that is not empty. Throws InvalidInput.
KeptMeasures keep_measured_run(const Model& model, const KeepOptions& options, const std::vector<std::string>& measures,
                               const std::string& after, const std::string& until = "");

}  // namespace perp
