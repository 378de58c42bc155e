#pragma once

#include <string>
#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/models/model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp::cli {

/// A scheme as the command line knows it.
struct SchemeEntry {
  const char* name;
  const char* meaning;
  /// Integrates the model with the options of its [run] table.
  Trajectory (*run)(const Model& model, const IntegrateOptions& options);
  /// Weight θ of the new state in one step (1: backward Euler).
  double (*theta)(const RunOptions& options);
};

const std::vector<SchemeEntry>& schemes();

/// Throws InvalidInput with the nearest known name.
const SchemeEntry& scheme(const std::string& name);

/// The scheme's options as they stand in the model's [run] table.
Theta step_options(const Model& model);

}  // namespace perp::cli
