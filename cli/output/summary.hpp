#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <perp/cli/output/constraint_check.hpp>
#include <perp/cli/output/history.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp::cli {

/// What a run says to people.
struct Summary {
  const Model& model;
  const Trajectory& run;
  std::vector<ModeSpan> modes;
  const ConstraintCheck& constraints;
  Step last;
  std::vector<std::string> files;  ///< what was written
};

void print(std::FILE* stream, const Summary& summary);

/// "(x1, x2) = (1, 2)"; long vectors are cut.
std::string named_values(const std::vector<std::string>& names, const Vector& values);

/// The word of the status; of a run that went on by a scheme of first order with the time from which.
std::string status_text(const Trajectory& run);

/// One line: when, what, of which law, from where to where.
std::string event_text(const Model& model, const Event& event);

}  // namespace perp::cli
