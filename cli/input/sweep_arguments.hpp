#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/sweep/sweep.hpp>
#include <perp/cli/input/model_options.hpp>

namespace perp::cli {

/// What stands behind `perp sweep`.
struct SweepArguments {
  ModelOptions model;
  std::vector<std::string> vary, random, measures;
  bool zip = false, keep = false, quiet = false, resume = false, partial = false;
  std::optional<long> runs;
  std::optional<long> seed;
  std::optional<long> skip;
  std::optional<double> time_limit;
  std::string sampling, after, section, follow, output, plot, plot_type, plot_variable, colour, slice, merge, early_end, times;
  int threads = 0;

  /// Does the table go to a file, not to standard output?
  [[nodiscard]] bool has_file() const { return !output.empty() && output != "-"; }
};

/// What the arguments ask for, but for `read`, `progress` and `stop`. Throws InvalidInput.
SweepRequest request_of(const SweepArguments& arguments, const Model& model);

}  // namespace perp::cli
